// Writes pictures of the `parts` scene as the model will see them: rendered, then packed by the
// runtime's own packer. Used by train_parts.py.
//
//   export_parts OUT FRAMES FIRST_SEED SIDE [FRAME_SIZE]...
//
// Frames come from one scene per seed, 100 pictures each, sizes taken in turn (640x480 by default).
// OUT.pixels: uint8 [FRAMES, 3, SIDE, SIDE], red first; OUT.labels: uint8 [FRAMES].

#include "actors/pack.hpp"
#include "cameras/parts_scene.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace hyperframes;

int main(int argc, char** argv) try {
  if (argc < 5) {
    std::cerr << "usage: export_parts OUT FRAMES FIRST_SEED SIDE [WIDTHxHEIGHT]...\n";
    return 2;
  }
  const std::string out = argv[1];
  const auto frames = std::stoul(argv[2]);
  const auto first_seed = std::stoull(argv[3]);
  pack_spec spec;
  spec.width = spec.height = static_cast<std::uint32_t>(std::stoul(argv[4]));
  spec.type = data_type::uint8;
  spec.scale = 1;
  std::vector<pixel_size> sizes;
  for (int i = 5; i < argc; ++i) {
    const std::string text = argv[i];
    const auto x = text.find('x');
    sizes.push_back(
      {static_cast<std::uint32_t>(std::stoul(text.substr(0, x))),
       static_cast<std::uint32_t>(std::stoul(text.substr(x + 1)))});
  }
  if (sizes.empty())
    sizes.push_back({640, 480});

  constexpr unsigned long pictures_of_a_scene = 100;
  std::ofstream pixels(out + ".pixels", std::ios::binary);
  std::ofstream labels(out + ".labels", std::ios::binary);
  std::vector<std::byte> slot(spec.slot_bytes());
  packer pack(spec);
  for (unsigned long n = 0; n < frames;) {
    const auto scene_number = n / pictures_of_a_scene;
    const auto size = sizes[scene_number % sizes.size()];
    parts_scene scene(size, first_seed + scene_number);
    const auto format = video_format::packed(pixel_format::bgr24, size.width, size.height);
    buffer_pool pool(1, format.size_bytes());
    frame f;
    f.media = make_video_type(format);
    f.buffer = pool.acquire();
    for (unsigned long i = 0; i < pictures_of_a_scene && n < frames; ++i, ++n) {
      const int truth =
        scene.render(i, reinterpret_cast<std::uint8_t*>(f.buffer.data()), format.planes[0].stride);
      pack.pack(f, slot).value();
      pixels.write(reinterpret_cast<const char*>(slot.data()), static_cast<long>(slot.size()));
      labels.put(static_cast<char>(truth));
    }
  }
  if (!pixels.flush() || !labels.flush()) {
    std::cerr << "export_parts: could not write " << out << ".pixels and .labels\n";
    return 1;
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "export_parts: " << e.what() << '\n';
  return 1;
}

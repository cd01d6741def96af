#include "graphs/hyperframes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <unistd.h>

using namespace hyperframes;

namespace {

/// A folder for one test, and a film in it by name only.
struct scratch {
  std::filesystem::path path = std::filesystem::temp_directory_path()
                               / ("hyperframes-paths-" + std::to_string(::getpid()));
  scratch() { std::filesystem::create_directories(path); }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string film() const {
    const auto file = path / "film.avi";
    std::filesystem::copy_file("/usr/share/doc/opencv-doc/examples/data/tree.avi", file,
                               std::filesystem::copy_options::overwrite_existing);
    return file.string();
  }
};

std::string graph_of(const std::string& film, const std::string& first, const std::string& second) {
  return "hyperframes: 1\nstreams:\n  - { id: cam, camera: { type: video, path: \"" + film
         + "\" } }\nstages:\n  capture: { type: capture }\n  a: { type: jsonl, from: capture, path: \""
         + first + "\" }\n" + (second.empty() ? "" : "  b: { type: jsonl, from: capture, path: \"" + second + "\" }\n");
}

std::string faults_of(const std::string& text, const graph_options& options = {}) {
  try {
    graph::from_text(text, "g.yaml", options);
  } catch (const graph_error& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("a sink must not write over what the graph reads, nor over another sink's file") {
  const scratch folder;
  const auto film = folder.film();
  CHECK(faults_of(graph_of(film, film, "")).find(
          "a.path names '" + film + "', which is the file that camera.path of the stream 'cam' reads and would be overwritten")
        != std::string::npos);
  const auto out = (folder.path / "out.jsonl").string();
  const auto twice = faults_of(graph_of(film, out, out));
  CHECK_MESSAGE(twice.find("b.path names '" + out + "', which a.path writes too: give each a file of its own")
                  != std::string::npos, twice);
  CHECK(std::filesystem::file_size(film) > 0);
}

TEST_CASE("a file named with --set or in the environment is found from the working folder") {
  const scratch folder;
  const auto film = std::filesystem::relative(folder.film()).string();
  const auto text = graph_of("${FILM:-none.avi}", "out.jsonl", "");
  CHECK(faults_of(text, {.overrides = {}, .environment = {{"FILM", film}}}) == "");
  CHECK(faults_of(text, {.overrides = {{"streams.0.camera.path", film}}, .environment = {}}) == "");
  CHECK(faults_of(text).find("there is no such file") != std::string::npos);
}

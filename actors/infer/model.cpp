#include "actors/infer/model.hpp"

#include "actors/infer/backends.hpp"

namespace hyperframes {

namespace {

struct backend {
  const char* name;
  expected<model_ptr> (*load)(const model_settings&);
};

/// Every backend, the one that `auto` takes first.
constexpr backend backends[] = {
#ifdef HYPERFRAMES_WITH_ONNXRUNTIME
  {"onnxruntime", load_onnxruntime},
#endif
  {"opencv", load_opencv},
  {"hog", load_hog},
  {"cascade", load_cascade},
  {"simulated", load_simulated},
};

} // namespace

const std::vector<std::string>& model_backends() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& b : backends)
      result.emplace_back(b.name);
    return result;
  }();
  return names;
}

expected<model_ptr> load_model(const settings& infer_settings, const std::string& folder) {
  const auto s = read_model_settings(infer_settings, folder);
  if (!s)
    return make_error(errc::model_failed, s.error().where, s.error().message);
  for (const auto& b : backends)
    if (s->backend == b.name)
      return b.load(*s);
  return make_error(
    errc::model_failed, "model", "backend '" + s->backend + "' is not in this build");
}

} // namespace hyperframes

#pragma once

#include "actors/infer/model.hpp"
#include "actors/infer/model_settings.hpp"

/// One function per backend; `load_model` finds them in its table.
namespace hyperframes {

expected<model_ptr> load_onnxruntime(const model_settings& s); ///< only with ONNX Runtime
expected<model_ptr> load_opencv(const model_settings& s);
expected<model_ptr> load_hog(const model_settings& s);
expected<model_ptr> load_cascade(const model_settings& s);
expected<model_ptr> load_simulated(const model_settings& s);

} // namespace hyperframes

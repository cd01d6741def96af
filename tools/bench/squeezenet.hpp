#pragma once

#include <string>

namespace hyperframes::bench {

/// Writes SqueezeNet 1.1 (Iandola et al., 2016: arXiv:1602.07360) as ONNX: `data` [N,3,224,224]
/// float32 to [N,1000]. Its weights are drawn, always the same ones: what it says of a picture
/// means nothing, and how long it takes does not depend on them. 5 MB. Throws `failure` where the
/// file cannot be written.
void write_squeezenet(const std::string& path);

} // namespace hyperframes::bench

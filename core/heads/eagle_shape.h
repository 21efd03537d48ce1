// What the two ways of running an EAGLE head or Hydra's prefix layer (eagle_model.h, eagle_torch.h)
// share beside its weights: the layers as executors know them, what the model says of itself, the
// widths that its rows may read.
#pragma once

#include <cstddef>

#include "core/formats/config.h"
#include "core/formats/draft_head/head_file.h"
#include "core/model/model.h"

namespace triescope {

formats::ModelConfig eagle_layers(const formats::HeadConfig& head, const ModelInfo& target);

// dtype and device: where the layers run.
ModelInfo eagle_info(const formats::HeadFile& file, const formats::ModelConfig& layers, DType dtype,
                     const std::string& device);

// The rows' width of input features: a drafted state's, or that of the target's states. fc_inputs:
// of the head's fc, 0 = it has none. Error{kInvalidArgument}: another width.
std::size_t check_feature_width(const formats::HeadConfig& head, std::size_t fc_inputs,
                                const ForwardBatch& batch);

}  // namespace triescope

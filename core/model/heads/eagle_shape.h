// Shared by the implementations of heads that are layers (eagle_model.h, eagle_torch.h; the first two functions also
// by block_model.h and block_torch.h), beside the weights: the layers' configuration, the model's description, and the
// check of how wide the rows' input features are.
#pragma once

#include <cstddef>

#include "core/files/config.h"
#include "core/files/draft_head/head_file.h"
#include "core/model/model.h"

namespace triescope {

formats::ModelConfig eagle_layers(const formats::HeadConfig& head, const ModelInfo& target);

// dtype and device are those of the layers.
ModelInfo eagle_info(const formats::HeadFile& file, const formats::ModelConfig& layers, DType dtype,
                     const std::string& device);

// The width of the rows' input features: a drafted state's, or that of the target's states.
// fc_inputs: number of inputs of the head's fc; 0 = it has none. Error{kInvalidArgument}: another
// width.
std::size_t check_feature_width(const formats::HeadConfig& head, std::size_t fc_inputs,
                                const ForwardBatch& batch);

}  // namespace triescope

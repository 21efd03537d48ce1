// The shape that every tensor of a head must have: first by the head's own sizes (a file that
// contradicts itself), then by the target's (a head of another model). Pure.
#pragma once

#include "core/formats/draft_head/head_config.h"
#include "core/formats/draft_head/named_tensors.h"

namespace triescope::formats {

// Errors: kCorruption: a tensor is missing or has another shape than the head's sizes ask for;
// kNotSupported: a tensor that the kind does not have, an element type that is not read;
// kInvalidArgument: the first tensor whose shape is not the target's.
void check_shapes(const HeadConfig& config, const NamedTensors& tensors, const TargetShape& target);

}  // namespace triescope::formats

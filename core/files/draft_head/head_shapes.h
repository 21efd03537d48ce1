// The shape that every tensor of a head must have: first by the head's own sizes (does the file
// contradict itself?), then by the target's (is the head for another model?). Pure.
#pragma once

#include "core/files/draft_head/head_config.h"
#include "core/files/draft_head/named_tensors.h"

namespace triescope::formats {

// Errors: kCorruption: a tensor is missing, or its shape does not match the head's sizes;
// kNotSupported: a tensor that the kind does not have, or an element type that cannot be read;
// kInvalidArgument: the first tensor whose shape does not match the target's.
void check_shapes(const HeadConfig& config, const NamedTensors& tensors, const TargetShape& target);

}  // namespace triescope::formats

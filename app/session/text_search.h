// A text in a run: in what it decoded and in its drafts, across tokens too. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::app {

// The nodes at which `query` ends, in the order in which they came into the tree. A match lies in
// the node's own token, or begins in earlier tokens of its path or in the prompt. ASCII case is
// ignored. A token is also found as panels write it ("·the"). An empty query matches nothing.
std::vector<std::int32_t> nodes_with(const capture::Capture& capture, const std::string& query);

}  // namespace triescope::app

// The map from a head's own vocabulary to the target's. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace triescope::formats {

// d2t for a file that has the target's ids themselves (vLLM's token_map).
std::vector<std::int64_t> offsets_of_ids(std::span<const std::int64_t> ids);

// Every i + offsets[i] must be a token of 0 ... vocab - 1 (vocab 0: unknown), each at most once,
// and one that `mask` allows (t2d; empty: none). Error{kCorruption} names the first that is not,
// and begins with `who`.
void check_vocabulary_map(std::span<const std::int64_t> offsets, std::span<const std::int64_t> mask,
                          int vocab, const std::string& who);

}  // namespace triescope::formats

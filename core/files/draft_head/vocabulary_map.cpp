#include "core/files/draft_head/vocabulary_map.h"

#include <limits>
#include <unordered_set>

#include "core/base/error.h"

namespace triescope::formats {

std::vector<std::int64_t> offsets_of_ids(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    // The arithmetic is unsigned, because a damaged file may hold any number; check_vocabulary_map
    // finds it.
    const std::uint64_t offset = static_cast<std::uint64_t>(ids[i]) - i;
    offsets.push_back(static_cast<std::int64_t>(offset));
  }
  return offsets;
}

void check_vocabulary_map(std::span<const std::int64_t> offsets, std::span<const std::int64_t> mask,
                          int vocab, const std::string& who) {
  const std::int64_t limit = vocab > 0 ? vocab : std::numeric_limits<std::int32_t>::max();
  std::unordered_set<std::int64_t> seen;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto draft = static_cast<std::int64_t>(i);
    const std::string entry = who + ": d2t[" + std::to_string(i) + "]: ";
    if (offsets[i] < -draft || offsets[i] >= limit - draft) {
      throw Error(ErrorCode::kCorruption,
                  entry + "expected an offset that leads to a token of 0 to " +
                      std::to_string(limit - 1) + ", found " + std::to_string(offsets[i]) +
                      "; a d2t of absolute ids is not read, subtract each entry's index");
    }
    const std::int64_t token = draft + offsets[i];
    if (!seen.insert(token).second) {
      throw Error(ErrorCode::kCorruption, entry + "expected each token once, found token " +
                                              std::to_string(token) + " again; " +
                                              "a d2t of absolute ids is not read");
    }
    if (!mask.empty() && (token >= static_cast<std::int64_t>(mask.size()) ||
                          mask[static_cast<std::size_t>(token)] == 0)) {
      throw Error(ErrorCode::kCorruption,
                  entry + "expected a token that t2d allows, found token " + std::to_string(token));
    }
  }
}

}  // namespace triescope::formats

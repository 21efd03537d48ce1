#include "core/files/draft_head/named_tensors.h"

#include "core/base/error.h"
#include "core/files/shape_text.h"

namespace triescope::formats {
namespace {

constexpr std::int64_t kMaxExtent = 1 << 24;

}  // namespace

bool NamedTensors::has_prefix(std::string_view prefix) const {
  const auto found = names_.lower_bound(std::string(prefix));
  return found != names_.end() && found->first.starts_with(prefix);
}

const SafeTensor& NamedTensors::at(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) {
    throw Error(ErrorCode::kCorruption, path_ + ": expected a tensor " + name +
                                            ", found none; the file is not complete, fetch it "
                                            "again or open the folder it belongs to");
  }
  return stored_[found->second];
}

int NamedTensors::extent(const std::string& name, std::size_t rank, std::size_t dimension) const {
  const SafeTensor& tensor = at(name);
  if (tensor.shape.size() != rank || tensor.shape[dimension] < 1 ||
      tensor.shape[dimension] > kMaxExtent) {
    throw Error(ErrorCode::kCorruption, path_ + ": " + name + ": expected " + std::to_string(rank) +
                                            " dimensions from 1 to 2^24, found " +
                                            shape_text(tensor.shape));
  }
  return static_cast<int>(tensor.shape[dimension]);
}

}  // namespace triescope::formats

// The stored tensors of a head under HeadFile's names. Borrows the stored tensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/files/safetensors.h"

namespace triescope::formats {

class NamedTensors {
 public:
  // `path` is for messages.
  NamedTensors(std::map<std::string, std::size_t> names, std::span<const SafeTensor> stored,
               std::string path)
      : names_(std::move(names)), stored_(stored), path_(std::move(path)) {}

  const std::map<std::string, std::size_t>& names() const { return names_; }
  const std::string& path() const { return path_; }
  // All tensors of the file, a model's own among them.
  std::span<const SafeTensor> stored() const { return stored_; }
  bool has(const std::string& name) const { return names_.contains(name); }
  bool has_prefix(std::string_view prefix) const;
  // Error{kCorruption}: absent.
  const SafeTensor& at(const std::string& name) const;
  // A dimension that a configuration limits as well: 1 to 2^24. Error{kCorruption}: the tensor is
  // absent or does not have `rank` dimensions.
  int extent(const std::string& name, std::size_t rank, std::size_t dimension) const;
  void erase(const std::string& name) { names_.erase(name); }

 private:
  std::map<std::string, std::size_t> names_;
  std::span<const SafeTensor> stored_;
  std::string path_;
};

}  // namespace triescope::formats

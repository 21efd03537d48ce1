// The weights that a folder's files hold quantised, by the names that they have in a model that is
// not. Immutable once made: several threads may read.
#pragma once

#include <set>
#include <string_view>
#include <unordered_map>

#include "core/files/quantised/quantisation.h"
#include "core/files/quantised/quantised_tensor.h"

namespace triescope::formats {

class QuantisedTensors {
 public:
  // Finds them all. Errors: kCorruption where a weight lacks a part, its parts do not fit together,
  // or the file holds no quantised weight at all.
  QuantisedTensors(std::shared_ptr<const SafeTensors> file, const Quantisation& how);

  const QuantisedTensor* find(std::string_view name) const;  // nullptr: not quantised, or absent
  std::span<const std::unique_ptr<QuantisedTensor>> tensors() const { return tensors_; }
  // Whether the file's tensor is a part of a weight, or a scale of activations. Those are for
  // kernels that compute in 8 bits; here activations are fp32.
  bool has_part(std::string_view stored) const;

 private:
  void add(const std::string& name, std::string dtype, std::unique_ptr<QuantisedTensor> tensor);
  void find_parts(const SafeTensor& tensor, const Quantisation& how);
  void add_scaled(const SafeTensor& weight, const std::string& name, const SafeTensor& scale,
                  const Quantisation& how);
  const SafeTensor* beside(const std::string& name, const char* ending) const;
  const SafeTensor& needed(const std::string& name, const char* ending) const;

  std::shared_ptr<const SafeTensors> file_;
  std::vector<std::unique_ptr<QuantisedTensor>> tensors_;
  std::unordered_map<std::string_view, const QuantisedTensor*> by_name_;
  std::set<std::string_view> parts_;
};

}  // namespace triescope::formats

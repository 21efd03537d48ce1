// ExpertNotes: which experts the rows of one forward chose, kept for those rows whose logits were asked
// for. An executor owns one, begins it with every forward and adds what each layer chose. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/files/config.h"
#include "core/kernels/router.h"
#include "core/model/model.h"

namespace triescope {

class ExpertNotes {
 public:
  void begin(const formats::ModelConfig& config, const ForwardBatch& batch);
  // What rows [first, first + chosen.size() / used) of the batch chose in a layer, by ascending index.
  void add(std::int32_t layer, std::size_t first, std::span<const kernels::ChosenExpert> chosen);
  // Valid until the next begin().
  ForwardExperts view() const { return {layers_, used_, chosen_}; }

 private:
  int used_ = 0;
  std::vector<std::int32_t> layers_, rows_;
  std::vector<kernels::ChosenExpert> chosen_;  // [layers, rows, used]
};

}  // namespace triescope

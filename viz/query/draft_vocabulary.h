// The tokens that a draft head can propose, where it has a vocabulary of its own and the capture
// knows it: what is outside was never in reach. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "core/capture/records.h"

namespace triescope::viz {

class DraftVocabulary {
 public:
  // Reads the run's model_json, "draft": "vocabulary" (core/session/model_json.h). Without it, every
  // token is in reach.
  explicit DraftVocabulary(const capture::RunInfo& run);

  bool has(std::int32_t token) const;
  std::int32_t size() const { return size_; }  // 0 = not known to be limited

 private:
  std::string bits_;
  std::int32_t size_ = 0;
};

}  // namespace triescope::viz

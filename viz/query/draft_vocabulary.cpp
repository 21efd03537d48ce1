#include "viz/query/draft_vocabulary.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "core/base/base64.h"

namespace triescope::viz {

DraftVocabulary::DraftVocabulary(const capture::RunInfo& run) {
  const auto model = nlohmann::json::parse(run.model_json, nullptr, false);
  if (!model.is_object() || !model.contains("draft") || !model["draft"].is_object()) return;
  const auto& draft = model["draft"];
  if (!draft.contains("vocabulary") || !draft["vocabulary"].is_string()) return;
  bits_ = from_base64(draft["vocabulary"].get_ref<const std::string&>()).value_or("");
  for (const char byte : bits_) size_ += std::popcount(static_cast<unsigned char>(byte));
}

bool DraftVocabulary::has(std::int32_t token) const {
  if (size_ == 0) return true;
  const auto at = static_cast<std::size_t>(token);
  return token >= 0 && at / 8 < bits_.size() &&
         (static_cast<unsigned char>(bits_[at / 8]) >> (at % 8) & 1u) != 0;
}

}  // namespace triescope::viz

#include "core/files/draft_head/mtp_names.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "core/files/draft_head/detect.h"
#include "core/files/draft_head/indexed_name.h"

namespace triescope::formats {
namespace {

constexpr const char* kQwenFront = "mtp.";
constexpr const char* kMimoFront = "model.mtp_layers.";
// What stands beside the block, in each of the forms, and HeadFile's name for it.
constexpr std::array<std::pair<std::string_view, const char*>, 12> kBeside = {{
    {"fc.weight", "fc.weight"},
    {"fc.bias", "fc.bias"},
    {"pre_fc_norm_embedding.weight", "embedding_norm.weight"},
    {"pre_fc_norm_hidden.weight", "hidden_norm.weight"},
    {"norm.weight", "norm.weight"},
    {"eh_proj.weight", "fc.weight"},
    {"enorm.weight", "embedding_norm.weight"},
    {"hnorm.weight", "hidden_norm.weight"},
    {"shared_head.norm.weight", "norm.weight"},
    {"input_proj.weight", "fc.weight"},
    {"token_layernorm.weight", "embedding_norm.weight"},
    {"hidden_layernorm.weight", "hidden_norm.weight"},
}};

}  // namespace

MtpNames::MtpNames(std::span<const SafeTensor> stored) {
  std::set<int> numbers;  // of the layers
  for (const SafeTensor& tensor : stored) {
    const std::string bare = bare_name(tensor.name);
    const IndexedName own = indexed_name(bare, "layers.");
    if (bare.starts_with(kQwenFront)) {
      form_ = Form::kQwen;
      if (const int at = indexed_name(bare, "mtp.layers.").index; at >= 0) numbers.insert(at);
    } else if (const IndexedName mimo = indexed_name(bare, kMimoFront); mimo.index >= 0) {
      form_ = Form::kMimo;
      numbers.insert(mimo.index);
    } else if (own.index >= 0 && own.rest == "eh_proj.weight") {
      form_ = Form::kDeepSeek;
      numbers.insert(own.index);
    }
  }
  layers_ = static_cast<int>(numbers.size());
  const std::string first = std::to_string(numbers.empty() ? 0 : *numbers.begin()) + ".";
  block_ = (form_ == Form::kQwen   ? "mtp.layers."
            : form_ == Form::kMimo ? kMimoFront
                                   : "layers.") +
           first;
}

std::optional<std::string> MtpNames::name_of(const std::string& bare) const {
  if (form_ == Form::kNone) return std::nullopt;
  const bool in_block = bare.starts_with(block_);
  const bool beside = form_ == Form::kQwen && !in_block && bare.starts_with(kQwenFront) &&
                      !bare.starts_with("mtp.layers.");
  if (!in_block && !beside) return std::nullopt;
  const std::string rest =
      bare.substr(in_block ? block_.size() : std::string_view(kQwenFront).size());
  if (rest == "embed_tokens.weight" || rest == "shared_head.head.weight") return std::nullopt;
  if (beside || form_ != Form::kQwen)
    for (const auto& [stored, own] : kBeside)
      if (rest == stored) return own;
  if (form_ == Form::kMimo && rest == "final_layernorm.weight") return "norm.weight";
  return in_block ? "layers.0." + rest : rest;
}

}  // namespace triescope::formats

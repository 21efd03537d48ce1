#include "core/files/draft_head/detect.h"

#include <string_view>
#include <unordered_map>

#include "core/files/draft_head/indexed_name.h"

namespace triescope::formats {
namespace {

class StoredNames {
 public:
  explicit StoredNames(std::span<const SafeTensor> stored) {
    for (const SafeTensor& tensor : stored) shapes_.emplace(bare_name(tensor.name), &tensor.shape);
  }
  bool has(const std::string& name) const { return shapes_.contains(name); }
  bool has_part(std::string_view part) const {
    for (const auto& [name, shape] : shapes_)
      if (name.find(part) != std::string::npos) return true;
    return false;
  }
  bool has_prefix(std::string_view prefix) const {
    for (const auto& [name, shape] : shapes_)
      if (name.starts_with(prefix)) return true;
    return false;
  }
  // Dimension `at` of a matrix; -1: no such matrix.
  std::int64_t extent(const std::string& name, std::size_t at) const {
    const auto found = shapes_.find(name);
    return found == shapes_.end() || found->second->size() != 2 ? -1 : (*found->second)[at];
  }
  // "{n}.0.linear.weight"
  bool has_residual_block() const {
    for (const auto& [name, shape] : shapes_) {
      const IndexedName at = indexed_name(name, "");
      if (at.index >= 0 && at.rest == "0.linear.weight") return true;
    }
    return false;
  }

 private:
  std::unordered_map<std::string, const std::vector<std::int64_t>*> shapes_;
};

Detected refused(std::string what) { return {HeadLayout::kRefused, std::move(what)}; }

}  // namespace

std::string bare_name(const std::string& stored) {
  std::string name = stored;
  if (name.starts_with("module.")) name.erase(0, 7);
  for (int i = 0; i < 2 && name.starts_with("model."); ++i) {
    // MiMo's MTP layers have the names that they have in the model.
    if (name.starts_with("model.mtp")) break;
    name.erase(0, 6);
  }
  return name;
}

// The order of the tests matters: P-EAGLE has all of EAGLE-3's names, and DFlash has a layer with q
// of width d.
Detected detect_head(std::span<const SafeTensor> stored) {
  const StoredNames names(stored);
  const bool whole_model = names.has("embed_tokens.weight") &&
                           names.has_prefix("layers.1.self_attn.") && !names.has_prefix("fc.");
  Detected found{HeadLayout::kUnknown, "", whole_model};
  const std::string first = names.has_prefix("midlayer.") ? "midlayer." : "layers.0.";
  const std::int64_t width = names.extent(first + "self_attn.q_proj.weight", 1);
  const std::int64_t hidden = names.extent(first + "self_attn.o_proj.weight", 0);
  if (names.has("mask_embeddings")) {
    found.layout = HeadLayout::kSpace;
  } else if (names.has("mask_hidden")) {
    found = refused("P-EAGLE (all positions drafted in one pass)");
  } else if (names.has_part("markov_w")) {
    found = refused("DSpark (a block drafted in one pass, with a Markov head)");
  } else if (names.has(first + "hidden_norm.weight") && width > 0 && width == 2 * hidden) {
    found.layout = HeadLayout::kEagle3;
    if (names.has_part(".experts.")) found = refused("EAGLE-3 with a mixture of experts");
  } else if ((names.has("hidden_norm.weight") || names.has("encoder.output_norm_enc.weight")) &&
             width > 0 && width == hidden) {
    found.layout = HeadLayout::kDFlash;
  } else if (names.has("fusion_fc.weight") ||
             (names.extent("fc.weight", 1) == 2 * names.extent("fc.weight", 0) &&
              names.extent("fc.weight", 0) == hidden)) {
    found.layout = HeadLayout::kEagle;
  } else if (names.has_prefix("hydra_mlp.")) {
    found.layout = HeadLayout::kHydra;
  } else if (names.has_prefix("hydra_")) {
    found = refused("Hydra with another architecture than mlp and prefix-mlp");
  } else if (names.has_prefix("medusa_head.") || (names.has_residual_block() && !whole_model)) {
    found.layout = HeadLayout::kMedusa;
  } else if (names.has_part("blocks.0.layers.0.weight")) {
    found.layout = HeadLayout::kMedusaVllm;
  } else if (names.has_prefix("mtp.") || names.has_part("eh_proj") ||
             names.has_part("mtp_layers")) {
    found.layout = HeadLayout::kMtp;
  }
  found.whole_model = whole_model;
  return found;
}

}  // namespace triescope::formats

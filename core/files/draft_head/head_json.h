// HeadJson: a draft head's config.json in any of its forms: flat (EAGLE, SpecForge, Medusa, Hydra),
// nested in "transformer_layer_config" (speculators) or in "model" (vLLM's first EAGLE). It counts
// only where names and shapes cannot tell. Immutable.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/draft_head/head_config.h"
#include "core/files/family.h"

namespace triescope::formats {

class HeadJson {
 public:
  // `text`: "" = the file does not exist. `path` is for messages. Error{kCorruption}.
  HeadJson(std::string_view text, std::string path);

  bool is_there() const { return is_there_; }
  // Whether it has speculators' form, whose layer ids and flags have one meaning.
  bool is_speculators() const;
  // The outermost object, and the one that describes the transformer layer.
  JsonFields fields() const { return JsonFields(root_, path_); }
  JsonFields layer() const { return JsonFields(layer_, path_); }

  // `notes` are those of ModelConfig::notes.
  RopeConfig rope(int head_dim, int context, std::vector<std::string>& notes) const;
  // The target's states as the file lists them; empty: it has none. `from`: the key.
  std::vector<int> feature_layers(std::string& from) const;
  std::string trained_for() const;
  // One sentence for each setting that is unknown and could matter.
  std::vector<std::string> unknown_settings() const;

 private:
  nlohmann::json root_, layer_;
  std::string path_;
  bool is_there_ = false;
};

}  // namespace triescope::formats

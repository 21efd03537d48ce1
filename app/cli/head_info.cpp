#include "app/cli/head_info.h"

#include "core/files/draft_head/head_file.h"

namespace triescope::app {

nlohmann::json head_json(const std::string& path) {
  using namespace formats;
  const HeadFile head = HeadFile::open(path, TargetShape());
  const HeadConfig& config = head.config();
  const TargetShape target = head.expected_target();
  // A size that the file does not give is null.
  const auto known = [](int value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); };
  nlohmann::json info = {
      {"path", head.path()},
      {"draft_head", to_string(head.kind())},
      {"what", head.describe()},
      {"feature_layers", config.feature_layers},
      {"layer_convention", to_string(config.layer_convention)},
      {"draft_vocab_size", known(config.draft_vocab)},
      {"own_embedding", config.own_embedding},
      {"own_lm_head", config.own_lm_head},
      {"parameters", head.parameters()},
      {"file_bytes", head.file_bytes()},
      {"target",
       {{"name", target.name.empty() ? nlohmann::json() : nlohmann::json(target.name)},
        {"hidden_size", known(target.hidden)},
        {"vocab_size", known(target.vocab)},
        {"min_layers", target.layers}}},
      {"notes", head.notes()}};
  if (config.layers > 0) info["layers"] = config.layers;
  if (config.head_count > 0) {
    info["heads"] = config.head_count;
    info["layers_per_head"] = config.head_layers;
  }
  if (config.mask_count > 0) {
    info["masks"] = config.mask_count;
    info["mask_prefix"] = config.mask_prefix;
  }
  if (!config.stored_layers.empty()) {
    info["stored_layers"] = config.stored_layers;
    info["layers_from"] = config.layers_from;
  }
  return info;
}

}  // namespace triescope::app

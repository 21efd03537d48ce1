#include "core/files/draft_head/describe.h"

#include <array>
#include <cstdio>

#include "core/base/counted.h"
#include "core/files/draft_head/feature_layers.h"

namespace triescope::formats {
namespace {

std::string size_text(std::int64_t bytes) {
  std::array<char, 32> text{};
  const bool is_small = bytes < 1'000'000;
  std::snprintf(text.data(), text.size(), is_small ? "%.1f kB" : "%.1f MB",
                static_cast<double>(bytes) / (is_small ? 1e3 : 1e6));
  return text.data();
}

std::string title(const HeadConfig& config) {
  switch (config.kind) {
    case HeadKind::kMedusa:
      return counted(config.head_count, "Medusa head") + " of " +
             counted(config.head_layers, "layer");
    case HeadKind::kHydra:
      return counted(config.head_count, "Hydra head") + " of " +
             counted(config.head_layers, "layer") +
             (config.prefix_layer ? " behind a prefix layer" : "");
    case HeadKind::kEagle:
      return "An EAGLE-1/2 head";
    case HeadKind::kSpace:
      return counted(config.mask_count, "SPACE mask") +
             (config.mask_prefix > 0
                  ? " with a prefix of " + counted(config.mask_prefix, "position") + " in " +
                        counted(config.prefix_layers, "layer")
                  : "");
    case HeadKind::kMtp:
      return "An MTP layer" + (config.mtp_layers > 1
                                   ? ", the first of " + std::to_string(config.mtp_layers)
                                   : std::string());
    case HeadKind::kDFlash:
      return "A DFlash head of " + counted(config.layers, "layer") + " for blocks of " +
             std::to_string(config.block_size);
    case HeadKind::kEagle3:
      break;
  }
  return "An EAGLE-3 head of " + counted(config.layers, "layer");
}

std::string states(const HeadConfig& config) {
  if (config.feature_layers.empty()) {
    return config.kind == HeadKind::kHydra ? "a state below the target's last layers"
           : config.kind == HeadKind::kMtp
               ? "what leaves the target's last layer"
               : "the states entering layers 2, L/2 and L-3 of a target with L layers";
  }
  if (config.feature_layers == std::vector<int>{-1}) return "the output of the target's final norm";
  std::string text = (config.feature_layers.size() == 1 ? "the state entering layer "
                                                        : "the states entering layers ") +
                     layers_text(config.feature_layers);
  switch (config.layer_convention) {
    case LayerConvention::kAbsent:
      text += " (the file names none: EAGLE's own)";
      break;
    case LayerConvention::kOutput:
      text += " (the file counts outputs: " + layers_text(config.stored_layers) + ")";
      break;
    case LayerConvention::kOverride:
      text +=
          " (as set by you" +
          (config.stored_layers.empty() ? std::string()
                                        : "; the file says " + layers_text(config.stored_layers)) +
          ")";
      break;
    case LayerConvention::kEntering:
    case LayerConvention::kNone:
      break;
  }
  return text;
}

}  // namespace

const char* to_string(HeadKind kind) {
  switch (kind) {
    case HeadKind::kMedusa:
      return "medusa";
    case HeadKind::kHydra:
      return "hydra";
    case HeadKind::kEagle:
      return "eagle";
    case HeadKind::kSpace:
      return "space";
    case HeadKind::kMtp:
      return "mtp";
    case HeadKind::kDFlash:
      return "dflash";
    case HeadKind::kEagle3:
      break;
  }
  return "eagle3";
}

const char* to_string(LayerConvention convention) {
  switch (convention) {
    case LayerConvention::kNone:
      return "none";
    case LayerConvention::kEntering:
      return "entering";
    case LayerConvention::kOutput:
      return "output";
    case LayerConvention::kAbsent:
      return "absent";
    case LayerConvention::kOverride:
      break;
  }
  return "override";
}

TargetShape target_shape(const ModelConfig& config) {
  TargetShape target;
  target.name = config.name;
  target.hidden = config.hidden;
  target.vocab = config.vocab_size;
  target.layers = static_cast<int>(config.layers.size());
  target.heads = config.heads;
  target.kv_heads = config.kv_heads;
  target.head_dim = config.head_dim;
  target.norm_eps = config.norm_eps;
  if (!config.ropes.empty()) target.rope = config.ropes[0];
  return target;
}

std::string describe_head(const HeadConfig& config, std::int64_t parameters, std::int64_t bytes) {
  std::string text = title(config);
  text += config.kind == HeadKind::kSpace ? ", rows of the target's own forward. "
                                          : ", reads " + states(config) + ". ";
  text += config.vocab == 0 ? "Drafts from the target's vocabulary"
          : config.draft_vocab == config.vocab
              ? "Drafts from all " + counted(config.vocab, "token")
              : "Drafts from " + std::to_string(config.draft_vocab) + " of " +
                    counted(config.vocab, "token");
  const bool is_eagle = config.has_layers() && config.kind != HeadKind::kHydra;
  if (config.own_lm_head)
    text += is_eagle ? " with its own output head" : " with output heads of its own";
  if (!config.own_lm_head) text += " with the target's output head";
  if (is_eagle || config.kind == HeadKind::kHydra)
    text += config.own_embedding ? " and its own embedding" : " and the target's embedding";
  text += ". " + std::to_string(parameters) + " parameters, " + size_text(bytes) +
          ". For a target with hidden size " + std::to_string(config.target_hidden);
  if (config.vocab > 0) text += " and vocabulary " + std::to_string(config.vocab);
  if (!config.trained_for.empty()) text += ": " + config.trained_for;
  return text + ".";
}

}  // namespace triescope::formats

// The weights of an EAGLE head, of an MTP layer or of Hydra's prefix layer, named by their use in the forward. A
// Loader decides how matrices, vectors and layers lie in memory: HeadLoader for the CPU kernels,
// TorchHeadLoader for libtorch.
#pragma once

#include <string>
#include <vector>

#include "core/files/draft_head/head_file.h"

namespace triescope {

template <class Loader>
struct EagleWeights {
  explicit EagleWeights(Loader& loader) {
    using formats::HeadKind;
    const formats::HeadConfig& head = loader.file().config();
    const bool is_hydra = head.kind == HeadKind::kHydra, is_mtp = head.kind == HeadKind::kMtp;
    for (int i = 0; i < head.layers; ++i) {
      const std::string number = std::to_string(i) + ".";
      layers.push_back(loader.layer(is_hydra ? "prefix_embeding_layer.layers." + number
                                    : head.kind == HeadKind::kEagle3 && i == 0
                                        ? "midlayer."
                                        : "layers." + number));
    }
    if (head.own_embedding && !is_hydra) embedding = "embed_tokens";
    if (head.own_lm_head && !is_hydra) output = "lm_head";
    if (!is_hydra && head.has_fc) fc = loader.linear("fc");
    embedding_norm =
        loader.vector(is_mtp ? "embedding_norm.weight" : "midlayer.input_layernorm.weight");
    // EAGLE-3's first layer normalises its two inputs one by one. EAGLE has neither this norm nor a
    // final one, even where a file has weights by these names (vLLM writes ones that are not read).
    if (!is_hydra && !is_mtp) layers[0].attention_norm = {};
    feature_norm = loader.vector(is_mtp ? "hidden_norm.weight" : "midlayer.hidden_norm.weight");
    if (head.norm_before_fc) input_norm = loader.vector("input_norm.weight");
    if (head.fc_norm)
      for (std::size_t i = 0; i < head.feature_layers.size(); ++i)
        fc_norms.push_back(loader.vector("fc_norm." + std::to_string(i) + ".weight"));
    if (head.kind != HeadKind::kEagle && head.final_norm)
      final_norm = loader.vector(is_hydra ? "prefix_embeding_layer.norm.weight" : "norm.weight");
  }

  std::vector<typename Loader::Layer> layers;
  typename Loader::Linear fc = nullptr;  // null: the head has none
  typename Loader::Vector embedding_norm = {}, feature_norm = {}, input_norm = {}, final_norm = {};
  std::vector<typename Loader::Vector> fc_norms;
  std::string embedding, output;  // the head's own tensors, without ".weight"; "" = the target's
};

}  // namespace triescope

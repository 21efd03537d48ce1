// The weights of a DFlash head, named by their use in the forward. Loader is as in eagle_weights.h.
#pragma once

#include <string>
#include <vector>

#include "core/files/draft_head/head_file.h"

namespace triescope {

template <class Loader>
struct BlockWeights {
  explicit BlockWeights(Loader& loader) {
    const formats::HeadConfig& head = loader.file().config();
    for (int i = 0; i < head.layers; ++i)
      layers.push_back(loader.layer("layers." + std::to_string(i) + "."));
    if (head.own_embedding) embedding = "embed_tokens";
    if (head.own_lm_head) output = "lm_head";
    fc = loader.linear("fc");
    context_norm = loader.vector("hidden_norm.weight");
    final_norm = loader.vector("norm.weight");
  }

  std::vector<typename Loader::Layer> layers;
  typename Loader::Linear fc = nullptr;
  typename Loader::Vector context_norm = {}, final_norm = {};
  std::string embedding, output;  // the head's own tensors, without ".weight"; "" = the target's
};

}  // namespace triescope

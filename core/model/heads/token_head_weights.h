// The weights of Medusa's and Hydra's heads, named by their use in the forward. Loader is as in
// eagle_weights.h.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/files/draft_head/head_file.h"

namespace triescope {

template <class Loader>
struct TokenHeadWeights {
  typename Loader::Linear first = nullptr, residual = nullptr;  // Hydra's block 1; null for Medusa
  std::vector<typename Loader::Linear> blocks;                  // residual blocks after it
  std::string output;  // the head's own output head, without ".weight"; "" = the target's
};

// One entry for each head.
template <class Loader>
std::vector<TokenHeadWeights<Loader>> medusa_weights(Loader& loader) {
  const formats::HeadConfig& config = loader.file().config();
  std::vector<TokenHeadWeights<Loader>> heads(static_cast<std::size_t>(config.head_count));
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::string name = std::to_string(h) + ".";
    for (int l = 0; l < config.head_layers; ++l)
      heads[h].blocks.push_back(loader.linear(name + std::to_string(l) + ".linear"));
    if (config.own_lm_head) heads[h].output = name + std::to_string(config.head_layers);
  }
  return heads;
}

template <class Loader>
std::vector<TokenHeadWeights<Loader>> hydra_weights(Loader& loader) {
  const formats::HeadConfig& config = loader.file().config();
  std::vector<TokenHeadWeights<Loader>> heads(static_cast<std::size_t>(config.head_count));
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string mlp = "hydra_mlp." + std::to_string(i) + ".";
    heads[i].first = loader.linear(mlp + "1.linear");
    heads[i].residual = loader.linear(mlp + "1.res_connection");
    for (int b = 1; b < config.head_layers; ++b)
      heads[i].blocks.push_back(loader.linear(mlp + std::to_string(2 * b + 1) + ".linear"));
    if (config.own_lm_head) heads[i].output = "hydra_lm_head." + std::to_string(i) + ".1";
  }
  return heads;
}

// Whether all heads, whose output heads are in `output`, share one output matrix.
template <class Head>
bool share_output(const std::vector<Head>& heads) {
  return std::ranges::all_of(
      heads, [&](const Head& head) { return head.output.is_same(heads.front().output); });
}

// The embedding that Hydra's heads read, named like TokenHeadWeights::output.
inline std::string hydra_embedding(const formats::HeadConfig& config) {
  return config.own_embedding ? "input_embed_fn" : "";
}

}  // namespace triescope

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/files/draft_head/detect.h"
#include "core/files/draft_head/indexed_name.h"
#include "core/files/draft_head/mtp_names.h"

namespace triescope::formats {
namespace {

using Renamed = std::optional<std::string>;  // nullopt: not a tensor of the head

bool replace_prefix(std::string& name, std::string_view from, std::string_view to) {
  if (!name.starts_with(from)) return false;
  name.replace(0, from.size(), to);
  return true;
}

// Tensors that any program may store and no forward reads.
bool is_ignored(const std::string& name) {
  return name.ends_with("rotary_emb.inv_freq") || name.starts_with("verifier_") ||
         name == "prefix_embeding_layer.embed_tokens.weight";
}

Renamed eagle_name(std::string name) {
  replace_prefix(name, "fusion_fc.", "fc.") || replace_prefix(name, "transformer.", "layers.0.");
  return name == "token_map" ? "d2t" : name;
}

Renamed eagle3_name(std::string name) {
  replace_prefix(name, "layers.0.", "midlayer.");
  return name == "draft_id_to_target_id" ? "d2t" : name;
}

Renamed medusa_name(std::string name, bool whole_model) {
  const bool marked = replace_prefix(name, "medusa_head.", "");
  return whole_model && !marked ? Renamed() : name;
}

// Output heads keep vLLM's names at first, because the number of blocks is not known yet.
Renamed medusa_vllm_name(std::string name) {
  replace_prefix(name, "medusa_heads.", "");
  if (name == "token_map") return "d2t";
  const IndexedName head = indexed_name(name, "blocks.");
  const IndexedName layer = indexed_name(head.rest, "layers.");
  if (head.index < 0 || layer.index < 0) return name;
  return std::to_string(head.index) + "." + std::to_string(layer.index) + ".linear." + layer.rest;
}

// Arch mlp has its blocks at 0, 1, ...; prefix-mlp has them behind dropouts, at 1, 3, ...
Renamed hydra_name(std::string name, bool has_dropouts) {
  replace_prefix(name, "hydra_head.", "");
  if (has_dropouts) return name;
  const IndexedName head = indexed_name(name, "hydra_mlp.");
  const IndexedName block = indexed_name(head.rest, "");
  if (head.index >= 0 && block.index >= 0) {
    return "hydra_mlp." + std::to_string(head.index) + "." + std::to_string(2 * block.index + 1) +
           "." + block.rest;
  }
  const IndexedName output = indexed_name(name, "hydra_lm_head.");
  if (output.index >= 0)
    return "hydra_lm_head." + std::to_string(output.index) + ".1." + output.rest;
  return name;
}

// transformers' names -> the published ones.
Renamed dflash_name(std::string name) {
  if (name == "encoder.fc.weight") return "fc.weight";
  if (name == "encoder.output_norm_enc.weight") return "hidden_norm.weight";
  return name;
}

using TensorMap = std::map<std::string, std::size_t>;

constexpr int kMaxHeads = 64, kMaxBlocks = 64;

void check_count(int count, int most, const char* what, const std::string& path) {
  if (count > most) {
    throw Error(ErrorCode::kNotSupported, path + ": expected at most " + std::to_string(most) +
                                              " " + what + ", found " + std::to_string(count));
  }
}

// Blocks first, first + step, ... of a head that are not stored share the nearest one before them,
// or the first that exists.
void share_blocks(TensorMap& tensors, const std::string& head, int first, int step, int count) {
  for (const char* part : {"weight", "bias"}) {
    const auto name_of = [&](int i) {
      return head + std::to_string(first + i * step) + ".linear." + part;
    };
    std::optional<std::size_t> stored;
    for (int i = count; i-- > 0;)
      if (const auto found = tensors.find(name_of(i)); found != tensors.end())
        stored = found->second;
    if (!stored) continue;
    for (int i = 0; i < count; ++i) stored = tensors.emplace(name_of(i), *stored).first->second;
  }
}

// Number of consecutive stored blocks "{head}{l}.linear.".
int blocks_of(const TensorMap& tensors, const std::string& head) {
  int blocks = 0;
  for (const auto& [name, index] : tensors) {
    const IndexedName block = indexed_name(name, head);
    if (block.index >= 0 && block.rest.starts_with("linear."))
      blocks = std::max(blocks, block.index + 1);
  }
  return blocks;
}

void complete_medusa(TensorMap& tensors, int block_count, const std::string& path) {
  const int heads = index_count(tensors, "");
  check_count(heads, kMaxHeads, "heads", path);
  for (int h = 0; h < heads; ++h) {
    const std::string head = std::to_string(h) + ".";
    int blocks = blocks_of(tensors, head);
    int output = -1;
    for (const auto& [name, index] : tensors) {
      const IndexedName block = indexed_name(name, head);
      if (block.index >= 0 && block.rest == "weight") output = std::max(output, block.index);
    }
    // The output head tells how many blocks there are, else the configuration.
    blocks = output >= 0 ? output : std::max(blocks, block_count);
    check_count(blocks, kMaxBlocks, "layers per head", path);
    share_blocks(tensors, head, 0, 1, blocks);
  }
}

// Renames lm_heads.{h} to {h}.{blocks}; all heads share it if the file has only one.
void complete_medusa_vllm(TensorMap& tensors, const std::string& path) {
  const int heads = index_count(tensors, "");
  check_count(heads, kMaxHeads, "heads", path);
  const int outputs = index_count(tensors, "lm_heads.");
  std::optional<std::size_t> common;
  if (const auto found = tensors.find("lm_head.weight"); found != tensors.end()) {
    common = found->second;
    tensors.erase(found);
  }
  for (int h = 0; h < heads; ++h) {
    const auto own = tensors.find("lm_heads." + std::to_string(h) + ".weight");
    if (own != tensors.end()) {
      if (outputs == 1) common = own->second;
      const std::string head = std::to_string(h) + ".";
      tensors.emplace(head + std::to_string(blocks_of(tensors, head)) + ".weight", own->second);
      tensors.erase("lm_heads." + std::to_string(h) + ".weight");
    } else if (common) {
      const std::string head = std::to_string(h) + ".";
      tensors.emplace(head + std::to_string(blocks_of(tensors, head)) + ".weight", *common);
    }
  }
}

void complete_hydra(TensorMap& tensors, int block_count, const std::string& path) {
  const int heads = index_count(tensors, "hydra_mlp.");
  check_count(heads, kMaxHeads, "heads", path);
  for (int i = 0; i < heads; ++i) {
    const std::string head = "hydra_mlp." + std::to_string(i) + ".";
    const int blocks = std::max(blocks_of(tensors, head) / 2, block_count);
    check_count(blocks, kMaxBlocks, "layers per head", path);
    share_blocks(tensors, head, 3, 2, blocks - 1);  // the first has another width
  }
}

}  // namespace

std::map<std::string, std::size_t> name_tensors(HeadLayout layout,
                                                std::span<const SafeTensor> stored, int block_count,
                                                const std::string& path) {
  bool has_dropouts = false;
  for (const SafeTensor& tensor : stored)
    has_dropouts =
        has_dropouts || tensor.name.find("hydra_mlp.0.1.res_connection.") != std::string::npos;
  const bool whole_model = detect_head(stored).whole_model;
  const MtpNames mtp(stored);
  TensorMap tensors;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string bare = bare_name(stored[i].name);
    if (is_ignored(bare)) continue;
    Renamed name;
    switch (layout) {
      case HeadLayout::kUnknown:
      case HeadLayout::kRefused:
        break;
      case HeadLayout::kEagle:
        name = eagle_name(bare);
        break;
      case HeadLayout::kEagle3:
        name = eagle3_name(bare);
        break;
      case HeadLayout::kMedusa:
        name = medusa_name(bare, whole_model);
        break;
      case HeadLayout::kMedusaVllm:
        name = medusa_vllm_name(bare);
        break;
      case HeadLayout::kHydra:
        name = hydra_name(bare, has_dropouts);
        break;
      case HeadLayout::kSpace:
        name = bare;
        break;
      case HeadLayout::kMtp:
        name = mtp.name_of(bare);
        break;
      case HeadLayout::kDFlash:
        name = dflash_name(bare);
        break;
      case HeadLayout::kSpaceModel:
        if (bare == "embed_tokens.weight") name = bare;
        break;
    }
    if (!name) continue;
    if (!tensors.emplace(*name, i).second) {
      throw Error(ErrorCode::kCorruption, path + ": tensor '" + stored[i].name.substr(0, 200) +
                                              "': expected one tensor '" + *name +
                                              "', found two under different names");
    }
  }
  if (layout == HeadLayout::kMedusa) complete_medusa(tensors, block_count, path);
  if (layout == HeadLayout::kMedusaVllm) complete_medusa_vllm(tensors, path);
  if (layout == HeadLayout::kHydra) complete_hydra(tensors, block_count, path);
  return tensors;
}

}  // namespace triescope::formats

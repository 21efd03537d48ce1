// HeadFile: a published draft head, opened whatever its layout: its kind (by tensor names and
// shapes, and by its config.json only where these cannot tell), its configuration, and its tensors
// under one set of names. Every shape is compared with the target's when the file is opened.
// Immutable once opened: any number of threads may read. Nothing is mapped and nothing executed
// (docs/security.md).
//
// The names, whatever the file calls them ({i} from 0):
//
//   EAGLE-1/2  embed_tokens.weight [V, d] (own)      fc.weight [d, 2d], fc.bias [d]
//              layers.0.self_attn.{q,k,v,o}_proj.weight|bias
//              layers.0.mlp.{gate,up,down}_proj.weight
//              layers.0.post_attention_layernorm.weight [d]
//              lm_head.weight [Vd, d] (own), d2t [Vd]
//   EAGLE-3    fc.weight [d, 3 dt]                   norm.weight [d], lm_head.weight [Vd, d] (own)
//              midlayer.{input_layernorm,hidden_norm,post_attention_layernorm}.weight [d]
//              midlayer.self_attn.{q,k,v}_proj.weight [.., 2d], .o_proj.weight [d, ..], |bias
//              midlayer.self_attn.{q,k}_norm.weight [hd]
//              midlayer.mlp.{gate,up,down}_proj.weight
//              layers.{1..}.… the same with width d, input_layernorm and no hidden_norm
//              embed_tokens.weight [V, d] (own), d2t [Vd], t2d [V]
//              input_norm.weight [3 dt] (norm_before_fc), fc_norm.{0,1,2}.weight [dt] (fc_norm)
//   Medusa     {h}.{l}.linear.weight [d, d]|bias [d] (bias may be absent), l < head_layers
//              {h}.{head_layers}.weight [Vd, d] (own), d2t [Vd]
//   Hydra      input_embed_fn.weight [V, d] (own)
//              prefix_embeding_layer.layers.0.…  (with input_layernorm) and .norm.weight
//              hydra_mlp.{i}.{2b + 1}.linear.weight|bias, b < head_layers; the first also has
//              hydra_mlp.{i}.1.res_connection.weight|bias, both [d, (i + 2) d]
//              hydra_lm_head.{i}.1.weight [V, d]|bias [V] (own)
//   MTP        fc.weight [d, 2d]                     norm.weight, embedding_norm.weight,
//              layers.0.… with input_layernorm       hidden_norm.weight [d]
//   DFlash     fc.weight [d, states dt]              hidden_norm.weight [d], norm.weight [d]
//              layers.{0..}.… with input_layernorm, q_norm and k_norm
//              embed_tokens.weight [V, d], lm_head.weight [Vd, d] (own), d2t [Vd]
//   SPACE      mask_embeddings [masks, d]            prefix_keys, prefix_values
//                                                    [layers, kv_heads, prefix, head_dim] (own)
//              of a model whose embedding holds the masks (config.json: "space_mask_ids"):
//              embed_tokens.weight [V, d]
//
// A linear weight is [out, in], row-major. d2t is an offset: the target's id is i + d2t[i].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/draft_head/head_config.h"
#include "core/files/draft_head/head_reading.h"

namespace triescope::formats {

class StoredTensors;  // stored_tensors.h

enum class ElementType : std::uint8_t { kF32, kF16, kBf16, kI64, kBool };

struct HeadTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // all of them, row-major
  // Tensors with the same number are one: a block that several names share needs to be loaded once.
  std::size_t source = 0;

  std::int64_t elements() const;
  // The values widened to fp32. Error{kNotSupported}: integers or booleans.
  std::vector<float> floats() const;
  // The values of an i64 or boolean tensor. Error{kNotSupported}: another type.
  std::vector<std::int64_t> integers() const;

  std::shared_ptr<const std::vector<std::byte>> memory;  // owns what `bytes` points to
};

class HeadFile {
 public:
  // `path`: a folder, or a .safetensors, .bin, .pt or .pth file (a config.json beside it is read).
  // `reading`: what is read in another way than the file says. Errors: kNotFound, kIoError, kCorruption (the file contradicts
  // itself), kNotSupported (a kind that cannot be decoded, a model instead of a head, a pickle that
  // holds more than tensors), kInvalidArgument (the head is for another target, or `reading` does
  // not fit).
  static HeadFile open(const std::string& path, const TargetShape& target,
                       const HeadReading& reading = {});

  // The same for tensors that are already open and the text of a config.json ("" = none). `path` is
  // for messages.
  static HeadFile open(const std::string& path, StoredTensors tensors,
                       const std::string& config_text, const TargetShape& target,
                       const HeadReading& reading = {});

  HeadFile(HeadFile&&) noexcept;
  HeadFile& operator=(HeadFile&&) noexcept;
  ~HeadFile();

  const std::string& path() const;
  HeadKind kind() const { return config().kind; }
  const HeadConfig& config() const;
  bool has(std::string_view name) const;
  // Reads from the file at each call. Error{kNotFound}: absent.
  HeadTensor tensor(std::string_view name) const;
  // The shape and type of tensor(name), without reading it. Error{kNotFound}: absent.
  const std::vector<std::int64_t>& shape(std::string_view name) const;
  ElementType type(std::string_view name) const;
  std::size_t source(std::string_view name) const;
  std::vector<std::string> names() const;  // all names, sorted

  std::int64_t file_bytes() const;
  std::int64_t parameters() const;  // values in all tensors; shared ones count once
  // The target that the head asks for: its hidden size, vocabulary, and the fewest layers.
  TargetShape expected_target() const;
  // For the user: settings of the config.json that are unknown, or that the weights contradict.
  const std::vector<std::string>& notes() const;
  // One paragraph: the kind, the layers it reads, the draft vocabulary, the size, the target.
  std::string describe() const;

 private:
  struct Impl;
  explicit HeadFile(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

// Whether the names of the tensors at `path` are those of a draft head (of a kind that open()
// refuses, too). False: a model, or nothing known. Errors: those of open() for files that cannot be
// read.
bool is_draft_head(const std::string& path);
// Whether the path is that of a model that brings a draft head in its own files: MTP layers, or SPACE's masks
// by its config.json. Errors: the same.
bool brings_draft_head(const std::string& path);

}  // namespace triescope::formats

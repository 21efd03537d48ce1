// The names that MTP layers have, in the three ways that models store them -> HeadFile's:
//
//   Qwen, Mellum     mtp.{fc, pre_fc_norm_embedding, pre_fc_norm_hidden, norm}, mtp.layers.0.…
//   DeepSeek, GLM    layers.L.{eh_proj, enorm, hnorm, shared_head.norm}, layers.L.… of the block
//   MiMo             model.mtp_layers.0.{input_proj, token_layernorm, hidden_layernorm,
//                    final_layernorm}, model.mtp_layers.0.… of the block
//
// Copies of the target's embedding and output head (DeepSeek's shared_head.head, embed_tokens) are left out, and so
// are layers after the first. Pure. Source: huggingface/transformers, conversion_mapping.py ("MtpModel");
// XiaomiMiMo/MiMo-7B-RL, modeling_mimo.py.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/files/safetensors.h"

namespace triescope::formats {

class MtpNames {
 public:
  explicit MtpNames(std::span<const SafeTensor> stored);
  // HeadFile's name of a tensor called `bare` (bare_name()); none: it is not one of the first layer's.
  std::optional<std::string> name_of(const std::string& bare) const;
  bool is_mimo() const { return form_ == Form::kMimo; }
  int layers() const { return layers_; }  // in the file

 private:
  enum class Form { kNone, kQwen, kDeepSeek, kMimo };
  Form form_ = Form::kNone;
  std::string block_;  // in front of the first layer's tensors
  int layers_ = 0;
};

}  // namespace triescope::formats

// RunContext: everything that a method may know about its run. Borrows prompt, draft model and
// head.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/row_costs.h"
#include "core/method/settings.h"

namespace triescope {

class Model;
class Tokenizer;
struct DraftHead;

struct RunContext {
  std::span<const std::int32_t> prompt;  // ids
  int max_new_tokens = 0;
  std::vector<std::int32_t> eos_token_ids;
  int vocab_size = 0;
  // Ids from here on are no token's, neither the model's nor the tokenizer's: for probes that carry none.
  std::int32_t first_unused_token = 0;
  Settings settings;
  std::uint64_t seed = 0;
  RowCosts row_costs;  // ModelInfo::row_costs; the pending token's row is one of them
  // Turns UTF-8 text into ids without special tokens, for methods that read the user's texts; may
  // be null.
  std::function<std::vector<std::int32_t>(std::string_view)> encode = {};
  // vocabulary_hash() of the target's tokenizer, for files of token ids; may be null.
  std::function<std::uint64_t()> vocabulary_hash = {};
  // The target itself, for methods that draft with a part of it; null in tests without a model.
  Model* target = nullptr;
  // A second model, where MethodInfo::needs asks for one: with the target's vocabulary, or with another one
  // where MethodInfo::any_vocabulary says so. Then both tokenizers are there.
  Model* draft_model = nullptr;
  const Tokenizer* tokenizer = nullptr;
  const Tokenizer* draft_tokenizer = nullptr;
  // the same for a head that was trained for the target, one of MethodInfo::heads
  DraftHead* draft_head = nullptr;
  bool record_rows = false;  // whether the inputs and slots of a draft model or head are recorded

  bool is_eos(std::int32_t token) const {
    return std::ranges::find(eos_token_ids, token) != eos_token_ids.end();
  }
  // Drafts a step where the user gave no number: as published, or fewer where the model's device
  // cannot check that many at little more than the price of one row.
  int default_drafts(int published) const {
    return std::clamp(row_costs.cheap_rows - 1, 1, published);
  }
};

}  // namespace triescope

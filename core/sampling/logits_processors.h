// Logits processors: rules that change a row of scores before anything is chosen from it, whatever
// the method. Kept in the order and with the semantics of transformers 5.17.0
// (generation/logits_process.py, _get_logits_processor):
//   repetition_penalty, no_repeat_ngram_size, bad_words_ids, min_length, min_new_tokens.
// Beam search passes log-probabilities (log-softmax first, as transformers does); all other methods
// pass raw logits.
//
// Settings read (absent = off):
//   repetition_penalty    number > 0, 1 = off: score < 0 ? score * r : score / r for each distinct
//                         token of the context
//   no_repeat_ngram_size  integer, 0 = off: no n-gram of the context (prompt included) comes twice
//   bad_words_ids         "12 13; 44" (words separated by ';', ids by spaces or commas),
//                         [[12,13],[44]] or [44]; "" = off. A word that is one EOS id is ignored,
//                         as in transformers
//   min_length            integer, 0 = off: no EOS before that many tokens, prompt included;
//                         as in transformers, means nothing where min_new_tokens is given
//   min_new_tokens        integer, 0 = off: no EOS before that many generated tokens
//
// Immutable once made, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/method/run_context.h"

namespace triescope {

class LogitsProcessors {
 public:
  LogitsProcessors() = default;  // no processors
  // Error{kInvalidArgument}: bad_words_ids that are not words of ids, or an id outside the
  // vocabulary.
  explicit LogitsProcessors(const RunContext& run);
  LogitsProcessors(const Settings& settings, std::span<const std::int32_t> eos_token_ids,
                   int vocab_size);

  // False: apply() would change nothing, so callers may skip copying the row.
  bool any() const;
  // Changes `scores` [vocab] in place; removed tokens become -infinity. `context_tokens` is prompt
  // + generated tokens of this row's path, the last `generated` of which are generated. REQUIRES:
  // scores.size() == vocab_size.
  void apply(std::span<const std::int32_t> context_tokens, int generated,
             std::span<float> scores) const;

 private:
  float repetition_penalty_ = 1;
  int no_repeat_ngram_size_ = 0;
  int min_length_ = 0;
  int min_new_tokens_ = 0;
  std::vector<std::vector<std::int32_t>> bad_words_;
  std::vector<std::int32_t> eos_token_ids_;
};

// The five parameters above, for a method's MethodInfo.
std::vector<Parameter> logits_processor_parameters();

}  // namespace triescope

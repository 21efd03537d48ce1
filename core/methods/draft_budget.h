// How many of the drafts that a look-up found are worth their rows in the next forward.
//
// Where the user gave a number, it is that number. Otherwise it is as many as have paid. Looking up
// costs next to nothing, so every answer is compared with the text that came, whether it was sent
// or not; the share that came true is known by length of the match and by place in the answer. Of
// the first n drafts about s(n) come true, at the price c(n) of n further rows (RowCosts). The
// choice is the n with the largest (1 + s(n)) / (1 + c(n)), or 0 where that is below 1, plain
// decoding's. Before anything is known this gives RunContext::default_drafts, less those whose rows
// are dear. The choice depends on the text alone and not on the clock, so a run can be repeated.
// Oliaro et al., "SuffixDecoding", 2024, had the idea of drafting as long as past matches allow.
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/lookup/ngram_trie.h"
#include "core/method/run_context.h"

namespace triescope {

class DraftBudget {
 public:
  // `parameter` names the setting with the number of drafts a step; 0 stands for the choice above,
  // with at most `published` drafts.
  DraftBudget(const RunContext& run, std::string_view parameter, int published);

  // How many drafts to look for.
  int most() const { return most_; }
  // Cuts `answer`, found for `text` (whose last token is the pending one), to the drafts that are
  // worth it. Must be called at every step, even where nothing was found.
  void limit(std::span<const std::int32_t> text, NgramTrie::Answer& answer);

 private:
  // How often the draft at each place came true; older answers count less.
  struct Record {
    std::vector<double> true_drafts, drafts;  // [most]
  };
  // An answer that cannot be judged yet, because its text has not come.
  struct Pending {
    std::size_t begin = 0;  // its first token's place in the text
    std::size_t bucket = 0;
    std::vector<NgramTrie::Continuation> nodes;
  };
  static constexpr std::size_t kBuckets = 5;  // matches of 1, 2, 3, 4 to 7, 8 or more tokens

  static std::size_t bucket_of(int matched_tokens);
  // Compares pending answers with the text, and adds those that are decided to their record.
  void observe(std::span<const std::int32_t> text);
  double share_true(const Record& record, std::size_t place) const;
  std::size_t best_count(const Record& record, std::size_t found) const;

  bool adaptive_;
  int most_;
  std::size_t first_;  // number of places expected to come true before anything is known
  RowCosts row_costs_;
  std::array<Record, kBuckets> records_;
  std::vector<Pending> pending_;
};

}  // namespace triescope

// How many of the drafts that a look-up found are worth their rows in the next forward.
//
// Where the user named a number, that many. Otherwise as many as have paid: looking up costs next to
// nothing, so that what was found is compared with the text that came, sent or not, and the share
// that came true is known by length of the match and by place in the answer. Of the first n drafts
// about s(n) come true at the price c(n) of n further rows (RowCosts); n is where
// (1 + s(n)) / (1 + c(n)) is largest, and 0 where that is below plain decoding's 1. Before anything is
// known that gives RunContext::default_drafts, less those whose rows are dear. Depends on the text
// alone, not on the clock: a run can be repeated.
// The idea of drafting as long as past matches allow: Oliaro et al., "SuffixDecoding", 2024. Not
// thread-safe.
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
  // The setting `parameter`, a number of drafts a step; 0 stands for the choice above, of at most
  // `published` drafts.
  DraftBudget(const RunContext& run, std::string_view parameter, int published);

  // Drafts to look for.
  int most() const { return most_; }
  // Cuts `answer`, found for `text` (whose last token is the pending one), to the drafts that are
  // worth it. To be called at every step, also where nothing was found.
  void limit(std::span<const std::int32_t> text, NgramTrie::Answer& answer);

 private:
  // How often the draft at each place came true, older answers counting less.
  struct Record {
    std::vector<double> true_drafts, drafts;  // [most]
  };
  // An answer whose text has not come yet.
  struct Pending {
    std::size_t begin = 0;  // its first token's place in the text
    std::size_t bucket = 0;
    std::vector<NgramTrie::Continuation> nodes;
  };
  static constexpr std::size_t kBuckets = 5;  // matches of 1, 2, 3, 4 to 7, 8 or more tokens

  static std::size_t bucket_of(int matched_tokens);
  // Compares what is pending with the text; what has been decided goes into its record.
  void observe(std::span<const std::int32_t> text);
  double share_true(const Record& record, std::size_t place) const;
  std::size_t best_count(const Record& record, std::size_t found) const;

  bool adaptive_;
  int most_;
  std::size_t first_;  // places expected to come true before anything is known
  RowCosts row_costs_;
  std::array<Record, kBuckets> records_;
  std::vector<Pending> pending_;
};

}  // namespace triescope

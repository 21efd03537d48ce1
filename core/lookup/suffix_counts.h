// SuffixCounts: a growing text as a suffix tree with counts, for drafts whose number follows the evidence.
//
// A node of that tree is a string of at most kDepth tokens, its count the places where the string occurs,
// and a child's count divided by its parent's is how likely the child is to follow. The tree is never built:
// a node is the list of the places where its string ends, and its children are what stands behind those. So
// a token costs one entry, and a question as much as the last token has places.
//
// Source: Oliaro et al., "SuffixDecoding: Extreme Speculative Decoding for Emerging AI Applications", 2024;
// snowflakedb/ArcticInference, csrc/suffix_cache/suffix_tree.cc (budget, score, both modes, and that the
// place where the text ends now counts as one from which nothing followed). Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/lookup/ngram_trie.h"

namespace triescope {

class SuffixCounts {
 public:
  static constexpr int kDepth = 64;
  // Ends a sequence of tokens; nothing follows it, and no string goes across it. No token has this id.
  static constexpr std::int32_t kEnd = -2;

  void append(std::span<const std::int32_t> tokens);
  std::size_t tokens() const { return text_.size(); }

  struct Question {
    int max_nodes = 0;           // at most this many drafts
    int max_depth = 0;           // at most this deep
    double factor = 1;           // and at most this many for each token that matched
    double least_product = 0.1;  // no draft whose counts, divided along its path, multiply to less
    bool tree = false;  // several continuations; else the most frequent one, then the latest
    std::span<const std::int32_t> last_tokens = {};  // nothing is drafted below these (EOS)
  };
  struct Found {
    double score =
        0;  // the sum of the drafts' products: how many of them are expected to come true
    NgramTrie::Answer answer;
  };
  // What follows the ending of `context` whose continuation scores highest, of 1 to kDepth tokens; of equal
  // scores the longer ending's.
  Found best(std::span<const std::int32_t> context, const Question& question) const;

 private:
  using Places = std::vector<std::int32_t>;  // where a string ends: the index of its last token
  struct Child {
    std::int32_t token = 0;
    Places places;
  };
  // The places behind these, by token: most first, then the latest.
  std::vector<Child> children(std::span<const std::int32_t> places) const;
  Found follow(std::span<const std::int32_t> places, int matched, const Question& question) const;

  Places text_;
  std::unordered_map<std::int32_t, Places> places_of_;  // by token
};

}  // namespace triescope

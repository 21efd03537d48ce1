// A datastore of tokens that is searched by suffix: it gives what followed the last tokens of a
// context anywhere in it, as a tree with frequencies. Built once, immutable, safe from any thread.
//
// Suffixes are sorted by their first kSortedTokens tokens only (sort_suffixes.h), which is all that a key and
// its continuation can reach. A continuation tree is never
// built: a node is a range of the sorted suffixes, its frequency is the range's length, and its
// children are found by binary search. Memory: 8 bytes a token. Source: He et al., "REST:
// Retrieval-Based Speculative Decoding", 2024.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/lookup/ngram_trie.h"

namespace triescope {

class SuffixArray {
 public:
  static constexpr int kSortedTokens = 32;

  // `end_token` (or -1) separates documents: nothing is drafted across it.
  explicit SuffixArray(std::vector<std::int32_t> tokens, std::int32_t end_token = -1);
  // Over tokens and an order that lie elsewhere and outlive it, and that nobody has checked: a place outside
  // the text, and a token that is not below `vocab_size`, are the end of a document.
  SuffixArray(std::span<const std::int32_t> tokens, std::span<const std::int32_t> order,
              std::int32_t end_token, std::int32_t vocab_size);
  SuffixArray(SuffixArray&&) = default;  // vectors keep their memory
  SuffixArray& operator=(SuffixArray&&) = default;

  // Finds the longest suffix of `context` (max_key tokens down to min_key) that occurs in the
  // datastore with something after it. Returns the max_nodes most frequent nodes of what follows,
  // at most max_depth deep, nothing below a token of `last_tokens`. Among equally frequent nodes
  // the one with the smaller token comes first.
  NgramTrie::Answer continuations(std::span<const std::int32_t> context, int min_key, int max_key,
                                  int max_nodes, int max_depth,
                                  std::span<const std::int32_t> last_tokens = {}) const;

  // The tokens around place `at`, of its document alone: at most `before` in front of it, `after` from it on.
  std::span<const std::int32_t> around(std::size_t at, std::size_t before, std::size_t after) const;

  std::size_t size() const { return tokens_.size(); }
  // The first entry of the order that is less than the one before it; size() = all are in order.
  std::size_t first_out_of_order() const;

 private:
  // Token at `offset` of the i-th sorted suffix; -1 past the end of its document.
  std::int32_t token_at(std::size_t i, int offset) const {
    const std::int32_t place = order_[i];
    if (place < 0) return -1;
    return token_in_document(static_cast<std::size_t>(place) + static_cast<std::size_t>(offset));
  }
  // Token `at`; -1 between documents and past the end.
  std::int32_t token_in_document(std::size_t at) const {
    if (at >= tokens_.size()) return -1;
    const std::int32_t token = tokens_[at];
    return token == end_token_ || token < 0 || token >= vocab_size_ ? -1 : token;
  }
  // [low, high) are equal up to `offset`. Returns the part whose token there is `token`.
  std::pair<std::size_t, std::size_t> narrow(std::size_t low, std::size_t high, int offset,
                                             std::int32_t token) const;

  std::vector<std::int32_t> own_tokens_, own_order_;  // of one that was built here
  std::span<const std::int32_t> tokens_, order_;
  std::int32_t end_token_;
  std::int32_t vocab_size_ = std::numeric_limits<std::int32_t>::max();
};

}  // namespace triescope

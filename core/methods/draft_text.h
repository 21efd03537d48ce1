// Helpers for drafters that look things up in the text so far. They keep the text as one sequence
// of tokens, up to date with the tree, and hang what was found. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/lookup/ngram_trie.h"
#include "core/method/drafter.h"

namespace triescope {

class DraftText {
 public:
  // Extends the text to the frontier node (whose own token is the last) and returns the tokens that
  // came since the previous call, at first the whole prompt. REQUIRES: the text only grows.
  std::span<const std::int32_t> update(const DraftContext& context);
  // Prompt, then generated tokens.
  std::span<const std::int32_t> tokens() const { return tokens_; }
  std::size_t prompt_tokens() const { return prompt_tokens_; }

 private:
  std::vector<std::int32_t> tokens_;
  std::size_t prompt_tokens_ = 0;
  bool started_ = false;
};

// Hangs `tokens` as a chain below `parent`, and shares nodes that are there. Stops after an EOS
// token and at context.room levels below the frontier. New nodes are appended to `out`. Returns the
// last node of the chain.
NodeId hang_chain(DraftContext& context, NodeId parent, std::span<const std::int32_t> tokens,
                  capture::Source source, std::vector<NodeId>& out);
// `tokens` as an answer: a chain that ends where hang_chain() would end it. `matched_tokens` is how
// many of the text's last tokens preceded it where it was found.
NgramTrie::Answer chain_answer(const DraftContext& context, int matched_tokens,
                               std::span<const std::int32_t> tokens);
// Hangs a tree of continuations below the frontier's best node, and notes in a recorded run how long the match was
// and how often each draft stood behind it. Returns the node of each continuation. REQUIRES: no node deeper than
// context.room, none below an EOS token.
std::vector<NodeId> hang_answer(DraftContext& context, const NgramTrie::Answer& answer,
                                Drafts& drafts);
// Notes a list of tokens that drafts come from, named "tokens: " and `title`. A token without a node gets node -1.
struct ListedToken {
  std::int32_t token = 0;
  NodeId node = {};
};
void note_list(Drafts& drafts, const std::string& title, std::span<const ListedToken> tokens);

}  // namespace triescope

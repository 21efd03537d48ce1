// The n-gram trie: every window of n tokens of a text, and how often it occurs. For the last tokens
// of a context it gives the tree of what followed them before, which are drafts for speculative
// decoding.
//
// A window is read as a key of l <= prefix_length tokens and the continuation after it. All keys
// share one trie: the node l levels down is the key, and the subtree below it holds its
// continuations. append() extends the open windows by one token, so a token costs n look-ups, and
// the tail of the text (windows not yet n long) is there at once.
//
// Pruning keeps the max_nodes most frequent nodes of the subtree; the latest occurrence decides
// ties. A node is never more frequent or seen later than its parent, so the kept nodes are closed
// under ancestors. (Nodes are counted, not paths: a cut at a common depth would leave 7 disjoint
// continuations 4 tokens each of 32.)
//
// Not thread-safe. Memory: 20 bytes a node and 24 a table entry, at most n nodes a token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace triescope {

class NgramTrie {
 public:
  // n: tokens in a window; prefix_length: the longest key. index_tail = false leaves out windows
  // shorter than n at the end of the text. REQUIRES: 1 <= prefix_length < n.
  NgramTrie(int n, int prefix_length, bool index_tail = true);

  void append(std::int32_t token);
  void append(std::span<const std::int32_t> tokens) {
    for (const std::int32_t token : tokens) append(token);
  }

  struct Continuation {
    std::int32_t token;
    std::int32_t parent;     // index in the answer; -1 = follows the context itself
    std::int32_t depth;      // 1 = directly after the context
    std::int32_t frequency;  // number of windows that go through it; 0 = not counted
    // Where in the searched text the context's suffix begins that one of them follows; -1 = not told.
    std::int32_t place = -1;
  };
  struct Answer {
    int matched_tokens = 0;           // length of the context's suffix that was found; 0 = none
    std::vector<Continuation> nodes;  // parents first, most frequent first
  };
  // Finds the longest suffix of `context` (prefix_length tokens down to 1) that something followed,
  // and returns what followed it: at most max_nodes nodes, at most max_depth deep, nothing below a
  // token of `last_tokens` (EOS).
  Answer continuations(std::span<const std::int32_t> context, int max_nodes, int max_depth,
                       std::span<const std::int32_t> last_tokens = {}) const;

  std::size_t tokens() const { return text_.size(); }
  std::size_t nodes() const { return nodes_.size() - 1; }  // without the root

 private:
  struct Node {
    std::int32_t token = -1;
    std::int32_t frequency = 0;
    std::int32_t last_seen = -1;  // where the latest window through it begins
    std::int32_t first_child = -1;
    std::int32_t next_sibling = -1;
  };
  // Open addressing over (parent, token) -> child. Node 0 is nobody's child, so 0 marks an empty
  // entry.
  struct Entry {
    std::int32_t parent = 0, token = 0, child = 0;
  };

  std::size_t slot_of(std::int32_t parent, std::int32_t token) const;
  std::int32_t find_child(std::int32_t parent, std::int32_t token) const;  // -1 = none
  std::int32_t visit_child(std::int32_t parent, std::int32_t token, std::int32_t window);
  void grow();

  int n_;
  int prefix_length_;
  bool index_tail_;
  std::vector<std::int32_t> text_;
  std::vector<Node> nodes_;
  std::vector<Entry> table_;  // size: a power of two
  // the node that each open window has reached, oldest window first
  std::vector<std::int32_t> open_;
};

}  // namespace triescope

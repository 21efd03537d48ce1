// The suffix automaton of a growing text: after each token it knows the longest suffix that
// occurred before, of any length, and where it last ended. What followed there is a draft.
//
// append() is O(1) amortised for the automaton itself, plus one step for each suffix link from the
// new state to the start (the latest places are kept exact), a handful in real text. At most 2
// states and 3 transitions a token. Source: Blumer et al., "The smallest automaton recognizing the
// subwords of a text", 1985; as a drafter: Hu et al., "SAM Decoding", 2024. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace triescope {

class SuffixAutomaton {
 public:
  SuffixAutomaton();

  void append(std::int32_t token);
  void append(std::span<const std::int32_t> tokens) {
    for (const std::int32_t token : tokens) append(token);
  }

  struct Match {
    // Number of tokens of the longest suffix that occurred before (it may overlap itself); 0 =
    // none.
    std::int32_t length = 0;
    // Its latest earlier occurrence is text[end - length, end); text[end] follows.
    std::int32_t end = 0;
  };
  Match match() const { return match_; }

  std::size_t tokens() const { return static_cast<std::size_t>(size_); }
  std::size_t states() const { return states_.size(); }

 private:
  struct State {
    std::int32_t length = 0;       // length of its longest string
    std::int32_t link = -1;        // state of the longest suffix with more occurrences
    std::int32_t latest_end = 0;   // where its strings last ended
    std::int32_t first_edge = -1;  // into edges_
  };
  struct Edge {
    std::int32_t from, token, to, next;  // next: the next edge of the same state
  };

  // Index into edges_; -1 = none.
  std::int32_t find_edge(std::int32_t state, std::int32_t token) const;
  void add_edge(std::int32_t from, std::int32_t token, std::int32_t to);
  std::size_t slot_of(std::int32_t state, std::int32_t token) const;

  std::vector<State> states_;
  std::vector<Edge> edges_;
  // Open addressing: an index into edges_; -1 = empty. The size is a power of two.
  std::vector<std::int32_t> table_;
  std::int32_t last_ = 0;
  std::int32_t size_ = 0;
  Match match_;
};

}  // namespace triescope

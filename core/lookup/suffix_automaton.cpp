#include "core/lookup/suffix_automaton.h"

namespace triescope {

SuffixAutomaton::SuffixAutomaton() : states_(1), table_(1024, -1) {}

std::size_t SuffixAutomaton::slot_of(std::int32_t state, std::int32_t token) const {
  std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(state)) << 32) |
                      static_cast<std::uint32_t>(token);
  key *= 0x9E3779B97F4A7C15ULL;
  key ^= key >> 32;
  std::size_t at = key & (table_.size() - 1);
  for (; table_[at] >= 0; at = (at + 1) & (table_.size() - 1)) {
    const Edge& edge = edges_[static_cast<std::size_t>(table_[at])];
    if (edge.from == state && edge.token == token) break;
  }
  return at;
}

std::int32_t SuffixAutomaton::find_edge(std::int32_t state, std::int32_t token) const {
  return table_[slot_of(state, token)];
}

void SuffixAutomaton::add_edge(std::int32_t from, std::int32_t token, std::int32_t to) {
  if ((edges_.size() + 1) * 2 > table_.size()) {
    table_.assign(table_.size() * 2, -1);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      table_[slot_of(edges_[i].from, edges_[i].token)] = static_cast<std::int32_t>(i);
  }
  const auto index = static_cast<std::int32_t>(edges_.size());
  table_[slot_of(from, token)] = index;
  State& state = states_[static_cast<std::size_t>(from)];
  edges_.push_back({from, token, to, state.first_edge});
  state.first_edge = index;
}

void SuffixAutomaton::append(std::int32_t token) {
  const auto at = [this](std::int32_t state) -> State& {
    return states_[static_cast<std::size_t>(state)];
  };
  const auto new_state = [this](const State& state) {
    states_.push_back(state);
    return static_cast<std::int32_t>(states_.size()) - 1;
  };
  ++size_;
  const std::int32_t current =
      new_state({.length = size_, .link = 0, .latest_end = size_, .first_edge = -1});
  std::int32_t p = last_;
  std::int32_t edge = -1;
  for (; p >= 0 && (edge = find_edge(p, token)) < 0; p = at(p).link) add_edge(p, token, current);
  if (p >= 0) {
    const std::int32_t q = edges_[static_cast<std::size_t>(edge)].to;
    if (at(q).length == at(p).length + 1) {
      at(current).link = q;
    } else {
      // q's shorter strings get a state of their own: they now end here too, while the longer ones
      // do not.
      const std::int32_t clone = new_state({.length = at(p).length + 1,
                                            .link = at(q).link,
                                            .latest_end = at(q).latest_end,
                                            .first_edge = -1});
      for (std::int32_t e = at(q).first_edge; e >= 0;
           e = edges_[static_cast<std::size_t>(e)].next) {
        const Edge copied = edges_[static_cast<std::size_t>(e)];
        add_edge(clone, copied.token, copied.to);
      }
      for (; p >= 0; p = at(p).link) {
        const std::int32_t e = find_edge(p, token);
        if (e < 0 || edges_[static_cast<std::size_t>(e)].to != q) break;
        edges_[static_cast<std::size_t>(e)].to = clone;
      }
      at(q).link = clone;
      at(current).link = clone;
    }
  }
  last_ = current;
  const State& longest = at(at(current).link);
  match_ = {longest.length, longest.length > 0 ? longest.latest_end : 0};
  for (std::int32_t s = at(current).link; s > 0; s = at(s).link) at(s).latest_end = size_;
}

}  // namespace triescope

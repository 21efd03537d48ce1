#include "core/text/tokenizer/byte_trie.h"

#include <algorithm>

namespace triescope::tokenizer {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries) : nodes_(1) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // A node of the level that is being built, and the entries below it.
  struct Open {
    std::size_t node, begin, end;
  };
  std::vector<Open> level = {{0, 0, entries.size()}}, below;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    below.clear();
    for (const Open& open : level) {
      std::size_t at = open.begin;
      for (; at < open.end && entries[at].first.size() == depth; ++at)
        if (depth > 0) nodes_[open.node].value = entries[at].second;
      nodes_[open.node].first_child = static_cast<std::int32_t>(nodes_.size());
      while (at < open.end) {
        const char byte = entries[at].first[depth];
        const std::size_t begin = at;
        while (at < open.end && entries[at].first[depth] == byte) ++at;
        below.push_back({nodes_.size(), begin, at});
        ++nodes_[open.node].children;
        nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
      }
    }
    std::swap(level, below);
  }
}

std::int32_t ByteTrie::next(std::int32_t node, unsigned char byte) const {
  const Node& from = nodes_[static_cast<std::size_t>(node)];
  const auto begin = nodes_.begin() + from.first_child, end = begin + from.children;
  const auto found =
      std::lower_bound(begin, end, byte,
                       [](const Node& child, unsigned char wanted) { return child.byte < wanted; });
  return found != end && found->byte == byte ? static_cast<std::int32_t>(found - nodes_.begin())
                                             : kNone;
}

}  // namespace triescope::tokenizer

// Byte strings in a trie, for finding all of them that begin at a place of a text. Immutable once
// built, 12 bytes a node.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace triescope::tokenizer {

class ByteTrie {
 public:
  static constexpr std::int32_t kNone = -1;

  // Strings and their values, which are not negative. An empty string is left out; of two equal
  // ones the last counts.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries);

  std::int32_t root() const { return 0; }
  // The node that `byte` leads to; kNone: no string goes on so.
  std::int32_t next(std::int32_t node, unsigned char byte) const;
  // The value of the string that ends at this node; kNone: none does.
  std::int32_t value(std::int32_t node) const {
    return nodes_[static_cast<std::size_t>(node)].value;
  }

 private:
  struct Node {
    std::int32_t first_child = 0, value = kNone;
    std::uint16_t children = 0;
    unsigned char byte = 0;
  };
  std::vector<Node> nodes_;  // breadth first; the children of a node stand together, by byte
};

}  // namespace triescope::tokenizer

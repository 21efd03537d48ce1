// What the text indices answer, node by node: token, parent, depth, frequency, in their order.
#include <doctest/doctest.h>

#include <ostream>
#include <vector>

#include "core/lookup/ngram_trie.h"
#include "core/lookup/suffix_array.h"
#include "core/lookup/suffix_automaton.h"

namespace triescope {
namespace {

using Tokens = std::vector<std::int32_t>;

struct Row {
  std::int32_t token, parent, depth, frequency;
  bool operator==(const Row&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << "{" << row.token << ", " << row.parent << ", " << row.depth << ", "
               << row.frequency << "}";
  }
};
using Rows = std::vector<Row>;

Rows rows(const NgramTrie::Answer& answer) {
  Rows result;
  for (const auto& node : answer.nodes)
    result.push_back({node.token, node.parent, node.depth, node.frequency});
  return result;
}

// --- n-gram trie ---

const Tokens kText = {1, 2, 3, 1, 2, 4, 1, 2, 3};

NgramTrie trie_of(const Tokens& text, int n, int prefix_length, bool index_tail = true) {
  NgramTrie trie(n, prefix_length, index_tail);
  trie.append(text);
  return trie;
}

TEST_CASE("answers: an n-gram trie answers most frequent first, then what was seen last") {
  const NgramTrie trie = trie_of(kText, 4, 2);
  const auto answer = trie.continuations(Tokens{1, 2}, 100, 100);
  CHECK(answer.matched_tokens == 2);
  // 1 2 3 twice (the second time at the very end), 1 2 4 1 once, after the 1 2 3 1 at the
  // beginning.
  CHECK(rows(answer) == Rows{{3, -1, 1, 2}, {4, -1, 1, 1}, {1, 1, 2, 1}, {1, 0, 2, 1}});
}

TEST_CASE("an n-gram trie: what was first seen earlier and is seen again last comes first") {
  CHECK(rows(trie_of({1, 5, 1, 6, 1, 6, 1, 5}, 2, 1).continuations(Tokens{1}, 100, 100)) ==
        Rows{{5, -1, 1, 2}, {6, -1, 1, 2}});
}

TEST_CASE("an n-gram trie: of a near answer and a far one the later window's comes first") {
  // Both 2 come at the end; the near one's window, 1 2, begins after the far one's, 1 1 2.
  CHECK(
      rows(trie_of({1, 1, 3, 1, 1, 2}, 4, 1).continuations(Tokens{1}, 100, 2)) ==
      Rows{{1, -1, 1, 2}, {2, -1, 1, 1}, {2, 0, 2, 1}, {3, -1, 1, 1}, {1, 3, 2, 1}, {3, 0, 2, 1}});
}

TEST_CASE("answers: an n-gram trie's room cuts the least frequent, its depth what is too far") {
  const NgramTrie trie = trie_of(kText, 4, 2);
  const Tokens context = {1, 2};
  CHECK(rows(trie.continuations(context, 3, 100)) ==
        Rows{{3, -1, 1, 2}, {4, -1, 1, 1}, {1, 1, 2, 1}});
  CHECK(rows(trie.continuations(context, 1, 100)) == Rows{{3, -1, 1, 2}});
  CHECK(rows(trie.continuations(context, 100, 1)) == Rows{{3, -1, 1, 2}, {4, -1, 1, 1}});
  CHECK(rows(trie.continuations(context, 0, 100)).empty());
  CHECK(rows(trie.continuations(context, 100, 0)).empty());
  CHECK(trie.continuations(context, 0, 100).matched_tokens == 0);
}

TEST_CASE("answers: an n-gram trie drafts nothing below an EOS, and the EOS itself") {
  const NgramTrie trie = trie_of(kText, 4, 2);
  CHECK(rows(trie.continuations(Tokens{1, 2}, 100, 100, Tokens{3})) ==
        Rows{{3, -1, 1, 2}, {4, -1, 1, 1}, {1, 1, 2, 1}});
  CHECK(rows(trie.continuations(Tokens{1, 2}, 100, 100, Tokens{9, 4})) ==
        Rows{{3, -1, 1, 2}, {4, -1, 1, 1}, {1, 0, 2, 1}});
}

TEST_CASE("answers: an n-gram trie without the tail holds whole windows alone") {
  const NgramTrie trie = trie_of(kText, 4, 2, false);
  CHECK(rows(trie.continuations(Tokens{1, 2}, 100, 100)) ==
        Rows{{4, -1, 1, 1}, {1, 0, 2, 1}, {3, -1, 1, 1}, {1, 2, 2, 1}});
  CHECK(trie_of({1, 2, 3}, 4, 2, false).nodes() == 0);
  CHECK(trie_of({1, 2, 3, 4}, 4, 2, false).nodes() == 4);
}

TEST_CASE("answers: an n-gram trie falls back to the longest key that something followed") {
  const NgramTrie trie = trie_of(kText, 4, 2);
  const auto shorter = trie.continuations(Tokens{9, 2}, 100, 100);
  CHECK(shorter.matched_tokens == 1);
  CHECK(rows(shorter) ==
        Rows{{3, -1, 1, 2}, {4, -1, 1, 1}, {1, 1, 2, 1}, {2, 2, 3, 1}, {1, 0, 2, 1}, {2, 4, 3, 1}});
  // Of a longer context the last prefix_length tokens count; nothing longer is a key.
  CHECK(trie.continuations(Tokens{9, 1, 2}, 100, 100).matched_tokens == 2);
  // The key 1 2 stands at the end alone: the 2 before it is the hit.
  const auto last = trie_of({5, 2, 9, 1, 2}, 4, 2).continuations(Tokens{1, 2}, 1, 100);
  CHECK(last.matched_tokens == 1);
  CHECK(rows(last) == Rows{{9, -1, 1, 1}});
  CHECK(trie.continuations(Tokens{7}, 100, 100).matched_tokens == 0);
  CHECK(trie.continuations(Tokens{}, 100, 100).matched_tokens == 0);
  CHECK(trie_of({1, 2}, 4, 2).continuations(Tokens{1, 2}, 100, 100).matched_tokens == 0);
}

TEST_CASE("answers: an n-gram trie has one node for each different beginning of a window") {
  const NgramTrie trie = trie_of({1, 2, 1, 2}, 3, 1);
  CHECK(trie.nodes() == 6);  // 1, 12, 121, 2, 21, 212
  CHECK(trie.tokens() == 4);
}

TEST_CASE("answers: an n-gram trie finds everything again after its table has grown") {
  Tokens text;
  for (std::int32_t i = 0; i < 3000; ++i) text.push_back(i);
  const NgramTrie trie = trie_of(text, 3, 1);
  CHECK(trie.nodes() == 3000 + 2999 + 2998);
  for (std::int32_t i = 0; i + 2 < 3000; ++i)
    REQUIRE(rows(trie.continuations(Tokens{i}, 9, 9)) == Rows{{i + 1, -1, 1, 1}, {i + 2, 0, 2, 1}});
}

// --- suffix array ---

TEST_CASE("answers: a datastore's answers never cross the end of a document") {
  const Tokens text = {1, 2, 3, 0, 1, 2, 4, 0, 5, 1, 2, 3};
  const SuffixArray store(text, 0);
  CHECK(store.size() == 12);
  const auto answer = store.continuations(Tokens{1, 2}, 1, 4, 100, 100);
  CHECK(answer.matched_tokens == 2);
  CHECK(rows(answer) == Rows{{3, -1, 1, 2}, {4, -1, 1, 1}});
  // 3 stands at ends alone: no shorter key helps.
  CHECK(store.continuations(Tokens{2, 3}, 1, 4, 100, 100).matched_tokens == 0);
  CHECK(store.continuations(Tokens{2, 3}, 1, 4, 100, 100).nodes.empty());
  // Nor does a key reach over an end.
  CHECK(store.continuations(Tokens{0, 5}, 2, 4, 100, 100).nodes.empty());
  // Without a separator 0 is a token like any other.
  CHECK(rows(SuffixArray(text).continuations(Tokens{3}, 1, 4, 100, 3)) ==
        Rows{{0, -1, 1, 1}, {1, 0, 2, 1}, {2, 1, 3, 1}});
}

TEST_CASE("answers: the separator sorts before every token, whatever its id") {
  // 1 3 twice, 1 2 once and 1 at ends between them.
  const SuffixArray store({1, 9, 1, 3, 9, 1, 2, 9, 1, 9, 1, 3, 9, 1}, 9);
  const auto answer = store.continuations(Tokens{1}, 1, 4, 100, 100);
  CHECK(rows(answer) == Rows{{3, -1, 1, 2}, {2, -1, 1, 1}});
}

TEST_CASE("answers: a datastore takes the longest key within its bounds") {
  const SuffixArray store({1, 2, 3, 7, 0, 9, 2, 3, 8}, 0);
  const auto matched = [&](const Tokens& context, int min_key, int max_key) {
    return store.continuations(context, min_key, max_key, 100, 1);
  };
  const Rows seven = {{7, -1, 1, 1}}, both = {{7, -1, 1, 1}, {8, -1, 1, 1}};
  CHECK(matched({1, 2, 3}, 1, 3).matched_tokens == 3);
  CHECK(rows(matched({1, 2, 3}, 1, 3)) == seven);
  CHECK(matched({1, 2, 3}, 1, 2).matched_tokens == 2);
  CHECK(rows(matched({1, 2, 3}, 1, 2)) == both);
  CHECK(matched({4, 2, 3}, 2, 3).matched_tokens == 2);
  CHECK(rows(matched({4, 2, 3}, 2, 3)) == both);
  CHECK(matched({4, 2, 3}, 3, 3).matched_tokens == 0);
  CHECK(matched({4, 4, 3}, 1, 3).matched_tokens == 1);
  CHECK(rows(matched({4, 4, 3}, 1, 3)) == both);
  CHECK(matched({4, 4, 3}, 2, 3).nodes.empty());
  CHECK(matched({3}, 1, 3).matched_tokens == 1);
  CHECK(matched({3}, 2, 3).matched_tokens == 0);
}

TEST_CASE(
    "answers: a datastore's equally frequent answers come by token, each with what follows it") {
  const SuffixArray store({1, 5, 1, 3, 1, 4, 1, 4});
  const Tokens one = {1};
  const Rows all = {{4, -1, 1, 2}, {3, -1, 1, 1}, {1, 1, 2, 1},
                    {1, 0, 2, 1},  {5, -1, 1, 1}, {1, 4, 2, 1}};
  CHECK(rows(store.continuations(one, 1, 4, 100, 2)) == all);
  CHECK(rows(store.continuations(one, 1, 4, 3, 2)) == Rows(all.begin(), all.begin() + 3));
  CHECK(rows(store.continuations(one, 1, 4, 100, 1)) ==
        Rows{{4, -1, 1, 2}, {3, -1, 1, 1}, {5, -1, 1, 1}});
  CHECK(rows(store.continuations(one, 1, 4, 100, 2, Tokens{3, 5})) ==
        Rows{{4, -1, 1, 2}, {3, -1, 1, 1}, {1, 0, 2, 1}, {5, -1, 1, 1}});
  CHECK(store.continuations(one, 1, 4, 0, 2).nodes.empty());
  CHECK(store.continuations(one, 1, 4, 100, 0).nodes.empty());
}

TEST_CASE("answers: a datastore reaches kSortedTokens tokens, key and answer together") {
  const SuffixArray store(Tokens(500, 7));
  const auto some = store.continuations(Tokens(20, 7), 1, 20, 100, 100);
  CHECK(some.matched_tokens == 20);
  Rows chain;
  for (std::int32_t depth = 1; depth <= SuffixArray::kSortedTokens - 20; ++depth)
    chain.push_back({7, depth - 2, depth, 500 - 20 - depth + 1});
  CHECK(rows(some) == chain);
  const auto longest = store.continuations(Tokens(40, 7), 1, 40, 100, 100);
  CHECK(longest.matched_tokens == SuffixArray::kSortedTokens - 1);
  CHECK(rows(longest) == Rows{{7, -1, 1, 500 - 31}});
}

// --- suffix automaton ---

TEST_CASE(
    "answers: a suffix automaton says after each token how long the earlier suffix is and where it ended") {
  const Tokens text = {1, 2, 1, 2, 1, 3, 1, 2};
  const std::vector<std::pair<int, int>> expected = {{0, 0}, {0, 0}, {1, 1}, {2, 2},
                                                     {3, 3}, {0, 0}, {1, 5}, {2, 4}};
  SuffixAutomaton automaton;
  for (std::size_t i = 0; i < text.size(); ++i) {
    automaton.append(text[i]);
    CAPTURE(i);
    CHECK(automaton.match().length == expected[i].first);
    CHECK(automaton.match().end == expected[i].second);
    CHECK(automaton.tokens() == i + 1);
  }
}

TEST_CASE("answers: a suffix automaton has the known numbers of states, and its table grows") {
  const auto states = [](const Tokens& text) {
    SuffixAutomaton automaton;
    automaton.append(text);
    return automaton.states();
  };
  CHECK(states({1, 1, 1, 1}) == 5);  // one chain
  CHECK(states({1, 2, 2, 2}) == 7);  // the most there can be: 2n - 1
  Tokens text;
  for (std::int32_t i = 0; i < 2000; ++i) text.push_back(i);
  SuffixAutomaton automaton;
  automaton.append(text);
  CHECK(automaton.states() == 2001);
  for (std::int32_t i = 0; i < 2000; i += 501) {
    automaton.append(i);
    CHECK(automaton.match().length == 1);
    CHECK(automaton.match().end == i + 1);
  }
}

}  // namespace
}  // namespace triescope

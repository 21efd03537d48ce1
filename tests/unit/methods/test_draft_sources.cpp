// What drafters note of where their drafts come from, in a run whose rows are recorded.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/capture/metric_names.h"
#include "core/lookup/suffix_array.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"
#include "tests/support/paths.h"

namespace triescope::test::test_draft_sources {
namespace {

using capture::MetricRow;

// A list of tokens and of the nodes that stand for them.
struct Listed {
  Tokens tokens;
  std::vector<std::int32_t> nodes;
};
std::map<std::string, Listed> lists_of(const Drafts& drafts) {
  std::map<std::string, Listed> lists;
  for (const MetricRow& row : drafts.figures) {
    if (!row.name.starts_with(capture::kTokenList)) continue;
    Listed& list = lists[row.name.substr(capture::kTokenList.size())];
    list.tokens.push_back(static_cast<std::int32_t>(row.value));
    list.nodes.push_back(row.node);
  }
  return lists;
}
double figure(const Drafts& drafts, std::string_view name, NodeId node) {
  double value = -1;
  for (const MetricRow& row : drafts.figures)
    if (row.name == name && row.node == node.value) value = row.value;
  return value;
}

Tokens letters(std::string_view text) {
  Tokens ids;
  for (const char c : text)
    if (c >= 'a' && c <= 'z') ids.push_back(c - 'a');
  return ids;
}

struct RestRig {
  RestRig(std::string_view content, std::string_view text, nlohmann::json settings, bool records)
      : path((dir.path() / "store.txt").string()) {
    std::ofstream(path, std::ios::binary) << content;
    settings["datastore"] = path;
    rig = std::make_unique<DraftRig>(rest_method(), letters(text), settings,
                                     DraftRig::Options{.vocab = 26, .encode = letters});
    rig->run.record_rows = records;
    rig->draft();
  }
  TempDir dir;
  std::string path;
  std::unique_ptr<DraftRig> rig;
};

TEST_CASE(
    "draft sources: rest tells a line of its datastore, with the match and the drafts in it") {
  // The second document has the longest match, "abc", at its token 13 (ten letters and a separator before it).
  const RestRig rest("abdabdabda\n<|endoftext|>\nxyabcdefghijklmnop\n<|endoftext|>\nzz", "qqabc",
                     {{"num_draft", 3}}, true);
  const Drafts& drafts = rest.rig->drafts;
  REQUIRE(drafts.sent.size() == 3);
  const auto lists = lists_of(drafts);
  REQUIRE(lists.size() == 1);
  const Listed& line = lists.at("datastore");
  CHECK(line.tokens == letters("xyabcdefghijklmn"));
  // "ab" is the prompt's, which has no nodes; c is the pending token.
  std::vector<std::int32_t> nodes(line.tokens.size(), -1);
  nodes[4] = rest.rig->pending.value;
  for (std::size_t i = 0; i < 3; ++i) nodes[5 + i] = drafts.sent[i].value;
  CHECK(line.nodes == nodes);
  CHECK(figure(drafts, capture::kMatchedTokens, drafts.sent[0]) == 3);
  CHECK(figure(drafts, capture::kFoundAt, drafts.sent[0]) == 13);
  CHECK(figure(drafts, capture::kPlaces, drafts.sent[0]) == 1);
}

TEST_CASE(
    "draft sources: rest counts the places behind the match, and its line is the commonest's") {
  const RestRig rest("abcabcabd", "ab", {{"num_draft", 2}}, true);
  const Drafts& drafts = rest.rig->drafts;
  REQUIRE(drafts.sent.size() == 2);  // c, then its a
  CHECK(figure(drafts, capture::kPlaces, drafts.sent[0]) == 2);
  CHECK(figure(drafts, capture::kPlaces, drafts.sent[1]) == 2);
  CHECK(lists_of(drafts).at("datastore").tokens == letters("abcabcabd"));
}

TEST_CASE("draft sources: nothing is noted in a run whose rows are not recorded") {
  CHECK(RestRig("abcabcabd", "ab", {}, false).rig->drafts.figures.empty());
  DraftRig rig(lookahead_method(), {1, 2, 3, 1}, nlohmann::json::object());
  rig.draft();
  CHECK(rig.drafts.figures.empty());
}

TEST_CASE("draft sources: a search in the text tells how many tokens matched and how often") {
  for (const auto& [method, counts] :
       {std::pair(ngram_trie_method(), true), std::pair(prompt_lookup_method(), false),
        std::pair(suffix_automaton_method(), false)}) {
    CAPTURE(method.name);
    DraftRig rig(method, {1, 2, 3, 9, 1, 2, 3, 8, 2, 3}, nlohmann::json::object());
    rig.run.record_rows = true;
    rig.draft();
    REQUIRE_FALSE(rig.drafts.sent.empty());
    CHECK(figure(rig.drafts, capture::kMatchedTokens, rig.drafts.sent[0]) == 2);
    CHECK((figure(rig.drafts, capture::kPlaces, rig.drafts.sent[0]) == 1) == counts);
    CHECK(lists_of(rig.drafts).empty());
  }
}

TEST_CASE("draft sources: lookahead tells its window and the pool's n-grams with their nodes") {
  DraftRig rig(lookahead_method(), {1, 2, 3, 4, 1, 2, 5, 6, 1},
               {{"ngram_size", 3}, {"window_size", 2}, {"guess_set_size", 4}}, {.vocab = 50});
  rig.run.record_rows = true;
  rig.draft();
  const auto lists = lists_of(rig.drafts);
  REQUIRE(lists.size() == 4);
  CHECK(lists.at("pool 1").tokens == Tokens{1, 2, 5});
  CHECK(lists.at("pool 2").tokens == Tokens{1, 2, 3});
  CHECK(lists.at("pool 1").nodes[0] == rig.pending.value);
  for (const auto& [title, list] : lists)
    for (std::size_t i = 0; i < list.tokens.size(); ++i) {
      CAPTURE(title);
      CAPTURE(i);
      REQUIRE(list.nodes[i] > 0);
      CHECK(rig.tree[NodeId(list.nodes[i])].token.value == list.tokens[i]);
    }
  // Both n-grams go through one node, and a column's rows hang below each other.
  CHECK(lists.at("pool 1").nodes[1] == lists.at("pool 2").nodes[1]);
  for (std::size_t column = 0; column < 2; ++column)
    CHECK(rig.tree[NodeId(lists.at("window 2").nodes[column])].parent.value ==
          lists.at("window 1").nodes[column]);
  CHECK(rig.tree[NodeId(lists.at("window 1").nodes[1])].parent.value ==
        lists.at("window 1").nodes[0]);
}

TEST_CASE("draft sources: a column of the window that has no room has no nodes") {
  DraftRig rig(lookahead_method(), {1, 2, 3, 4},
               {{"ngram_size", 3}, {"window_size", 3}, {"pool_from_prompt", false}}, {.vocab = 50});
  rig.run.record_rows = true;
  rig.draft(3);  // column j ends at level j + 2
  const auto lists = lists_of(rig.drafts);
  for (const char* const row : {"window 1", "window 2"}) {
    CHECK(lists.at(row).nodes[1] > 0);
    CHECK(lists.at(row).nodes[2] == -1);
    CHECK(lists.at(row).tokens.size() == 3);
  }
}

TEST_CASE("draft sources: a suffix array finds the tokens, and a document's around them alone") {
  const Tokens text = {5, 6, -2, 1, 2, 3, 4, -2, 2, 3};
  const SuffixArray store(text, -2);
  const auto found = [&](const Tokens& context) {
    std::vector<std::pair<std::int32_t, std::int32_t>> places;  // continuation, place
    for (const auto& node : store.continuations(context, 1, 8, 4, 2).nodes)
      places.emplace_back(node.token, node.place);
    return places;
  };
  using Places = std::vector<std::pair<std::int32_t, std::int32_t>>;
  CHECK(found({1}) == Places{{2, 3}, {3, 3}});
  CHECK(found({2, 3}) == Places{{4, 4}});
  CHECK(found({6}).empty());
  CHECK(found({7}).empty());
  const auto around = [&](std::size_t at, std::size_t before, std::size_t after) {
    const auto part = store.around(at, before, after);
    return Tokens(part.begin(), part.end());
  };
  CHECK(around(5, 1, 1) == Tokens{2, 3});
  CHECK(around(5, 9, 9) == Tokens{1, 2, 3, 4});
  CHECK(around(0, 9, 9) == Tokens{5, 6});
  CHECK(around(9, 0, 9) == Tokens{3});
  CHECK(around(99, 3, 3).empty());
}

}  // namespace
}  // namespace triescope::test::test_draft_sources

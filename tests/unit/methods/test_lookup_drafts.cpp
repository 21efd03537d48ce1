// The drafters that look things up in the text so far (n-gram trie, prompt lookup, suffix
// automaton, suffix decoding): exact drafts for texts made by hand, step by step.
#include <doctest/doctest.h>

#include "core/base/count_up.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"

namespace triescope::test_lookup_drafts {
namespace {

using test::DraftRig;
using test::Tokens;
using Paths = std::vector<Tokens>;

Paths trie(const Tokens& text, const nlohmann::json& settings, int room = 1000,
           DraftRig::Options options = {}) {
  DraftRig rig(ngram_trie_method(), text, settings, std::move(options));
  Paths paths = rig.draft(room);
  for (const NodeId node : rig.drafts.sent) CHECK(rig.tree[node].source == capture::Source::kDraft);
  return paths;
}

TEST_CASE(
    "lookup drafts: ngram_trie drafts what followed the longest key, most frequent first, then seen last") {
  const nlohmann::json four = {{"ngram_size", 4}, {"prefix_length", 2}};
  // A window of four: two tokens of key, two of continuation.
  CHECK(trie({1, 2, 3, 1, 2}, four) == Paths{{3}, {3, 1}});
  // "9 1" is new, "1" was followed by 2 twice; of 9 and 3 after it, 9 was seen last.
  const Tokens text = {1, 2, 3, 1, 2, 9, 1};
  CHECK(trie(text, four) == Paths{{2}, {2, 9}, {2, 9, 1}, {2, 3}, {2, 3, 1}});
  nlohmann::json settings = four;
  settings["num_draft"] = 2;
  CHECK(trie(text, settings) == Paths{{2}, {2, 9}});
  settings["num_draft"] = 4;
  CHECK(trie(text, settings) == Paths{{2}, {2, 9}, {2, 9, 1}, {2, 3}});
  CHECK(trie(text, four, 1000, {.cheap_rows = 4}) == Paths{{2}, {2, 9}, {2, 9, 1}});
  CHECK(trie(text, four, 2) == Paths{{2}, {2, 9}, {2, 3}});
  CHECK(trie(text, four, 0).empty());
  CHECK(trie(text, four, 1000, {.eos = {9}}) == Paths{{2}, {2, 9}, {2, 3}, {2, 3, 1}});
  CHECK(trie(text, four, 1000, {.eos = {2}}) == Paths{{2}});
  // Keys of one token only.
  CHECK(trie({1, 2, 3, 4, 2, 5, 1, 2}, {{"ngram_size", 2}, {"prefix_length", 1}}) ==
        Paths{{5}, {3}});
}

TEST_CASE("ngram_trie: index_tail says whether windows cut short by the end of the text count") {
  nlohmann::json settings = {{"ngram_size", 4}, {"prefix_length", 2}};
  CHECK(trie({5, 6, 5}, settings) == Paths{{6}, {6, 5}});
  settings["index_tail"] = false;
  CHECK(trie({5, 6, 5}, settings).empty());
  CHECK(trie({5, 6, 7, 5}, settings) == Paths{{6}, {6, 7}, {6, 7, 5}});
}

TEST_CASE("ngram_trie: index_generated off drafts from the prompt alone, whatever was written") {
  nlohmann::json settings = {{"ngram_size", 4}, {"prefix_length", 2}, {"index_generated", false}};
  DraftRig rig(ngram_trie_method(), {1, 2, 3, 1, 2}, settings);  // the last 2 is generated
  CHECK(rig.draft() == Paths{{3}, {3, 1}});
  rig.write({9, 1});
  CHECK(rig.draft() == Paths{{2}, {2, 3}, {2, 3, 1}});
  rig.write({9, 1});
  CHECK(rig.draft() == Paths{{2}, {2, 3}, {2, 3, 1}});
  rig.write({9});
  CHECK(rig.draft().empty());  // the prompt has no 9
}

// However the text came about, in whatever pieces, drafts are those of the text: every generated
// token enters the index once and in its order.
TEST_CASE(
    "lookup drafters: a text written step by step drafts as the same text as a prompt would") {
  for (const MethodInfo& method : {ngram_trie_method(), prompt_lookup_method(),
                                   suffix_automaton_method(), suffix_decoding_method()}) {
    CAPTURE(method.name);
    nlohmann::json settings = nlohmann::json::object();
    if (method.name == "ngram_trie") settings = {{"ngram_size", 5}, {"num_draft", 6}};
    if (method.name == "suffix_decoding") settings = {{"max_spec_factor", 4}};
    int drafted = 0, came_true = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Rng rng(seed);
      const auto token = [&] { return static_cast<std::int32_t>(rng.next() % 3); };
      Tokens text = {token(), token()};
      DraftRig rig(method, text, settings);
      for (int step = 0; step < 30; ++step) {
        CAPTURE(step);
        const Paths paths = rig.draft(8);
        CHECK(paths == DraftRig(method, text, settings).draft(8));
        drafted += static_cast<int>(paths.size());
        // Sometimes a whole draft comes true, and one more token always does.
        Tokens more;
        if (!paths.empty() && rng.next() % 2 == 0) {
          more = paths.back();
          ++came_true;
        }
        more.push_back(token());
        rig.write(more);
        text.insert(text.end(), more.begin(), more.end());
      }
    }
    CHECK(drafted > 200);
    CHECK(came_true > 20);
  }
}

TEST_CASE(
    "lookup drafts: lookup drafters share nodes that the tree holds already, and do not send them again") {
  for (const MethodInfo& method : {ngram_trie_method(), prompt_lookup_method(),
                                   suffix_automaton_method(), suffix_decoding_method()}) {
    CAPTURE(method.name);
    DraftRig rig(method, {1, 2, 3, 4, 1, 2}, {});
    const NodeId three = rig.tree.hang(rig.pending, TokenId(3), capture::Source::kDraft, 0).node;
    CHECK(rig.draft(2) == Paths{{3, 4}});
    CHECK(rig.tree[rig.drafts.sent.at(0)].parent == three);
    CHECK(rig.tree[three].source == capture::Source::kDraft);
    CHECK(rig.drafts.withdrawn.empty());
    CHECK(rig.drafts.proposals.empty());
    CHECK(rig.drafts.candidates.empty());
  }
}

TEST_CASE(
    "lookup drafts: suffix_automaton drafts what followed the longest suffix, where it stood last") {
  const auto drafts = [](const Tokens& text, const nlohmann::json& settings, int room = 1000,
                         DraftRig::Options options = {}) {
    return DraftRig(suffix_automaton_method(), text, settings, std::move(options)).draft(room);
  };
  const Tokens text = {1, 2, 3, 4, 1, 2};
  CHECK(drafts(text, {}) == Paths{{3}, {3, 4}, {3, 4, 1}, {3, 4, 1, 2}});
  CHECK(drafts(text, {{"num_draft", 3}}) == Paths{{3}, {3, 4}, {3, 4, 1}});
  CHECK(drafts(text, {{"num_draft", 1}}) == Paths{{3}});
  CHECK(drafts(text, {}, 2) == Paths{{3}, {3, 4}});
  CHECK(drafts(text, {}, 0).empty());
  CHECK(drafts(text, {}, 1000, {.eos = {4}}) == Paths{{3}, {3, 4}});
  CHECK(drafts(text, {{"min_match_tokens", 2}}) == Paths{{3}, {3, 4}, {3, 4, 1}, {3, 4, 1, 2}});
  CHECK(drafts(text, {{"min_match_tokens", 3}}).empty());
  // Of two places the latest; a single matching token is too short unless it is allowed.
  CHECK(drafts({1, 2, 7, 1, 2, 8, 1, 2}, {{"num_draft", 2}}) == Paths{{8}, {8, 1}});
  CHECK(drafts({1, 5, 1}, {}).empty());
  CHECK(drafts({1, 5, 1}, {{"min_match_tokens", 1}}) == Paths{{5}, {5, 1}});
  CHECK(drafts({1, 2, 3}, {{"min_match_tokens", 1}}).empty());
  // By default 16 drafts, fewer where rows are dear; more than one row is not asked for.
  Tokens long_text = count_up(40, 1);
  long_text.insert(long_text.end(), {1, 2});
  CHECK(drafts(long_text, {}).size() == 16);
  CHECK(drafts(long_text, {}, 1000, {.cheap_rows = 12}).size() == 11);
  CHECK(drafts(long_text, {}, 1000, {.cheap_rows = 5}).size() == 4);
  CHECK(drafts(long_text, {}, 1000, {.cheap_rows = 1}).size() == 1);
  CHECK(drafts(long_text, {{"num_draft", 20}}, 1000, {.cheap_rows = 5}).size() == 20);
}

TEST_CASE("lookup drafts: prompt_lookup copies from generated text too, up to the room") {
  DraftRig rig(prompt_lookup_method(), {1, 2, 3}, {{"prompt_lookup_num_tokens", 2}});
  CHECK(rig.draft().empty());
  rig.write({7, 8, 1});
  CHECK(rig.draft() == Paths{{2}, {2, 3}});
  rig.write({7});  // 7 was followed by 8 1
  CHECK(rig.draft() == Paths{{8}, {8, 1}});
  rig.write({8});
  CHECK(rig.draft(1) == Paths{{1}});
  CHECK(rig.drafts.sent.size() == 1);
}

}  // namespace
}  // namespace triescope::test_lookup_drafts

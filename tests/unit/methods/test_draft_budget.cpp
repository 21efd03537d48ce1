// How many drafts look-ups send where the user named no number: by what came true before.
#include "core/methods/draft_budget.h"

#include <doctest/doctest.h>

#include "core/base/count_up.h"
#include "core/kernels/linear.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"

namespace triescope::test_draft_budget {
namespace {

using test::DraftRig;
using test::Tokens;

// `count` different answers after a 1, none of which comes twice: how many drafts each 1 had.
std::vector<std::size_t> drafts_where_none_comes_true(DraftRig& rig, int count) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < count; ++i) {
    sizes.push_back(rig.draft().size());  // the pending token is a 1
    rig.write({10 + i});
    CHECK(rig.draft().empty());  // a token that was not there before
    rig.write({1});
  }
  return sizes;
}

DraftRig::Options rows(int cheap_rows) { return {.cheap_rows = cheap_rows}; }

TEST_CASE("draft budget: drafts that do not come true are sent no more where rows cost something") {
  DraftRig dear(prompt_lookup_method(), {1, 2, 3, 4, 5, 6, 7, 1}, {}, rows(5));
  const auto sizes = drafts_where_none_comes_true(dear, 12);
  CHECK(sizes.front() == 4);
  CHECK(sizes.back() == 0);
  // A row on a GPU costs so little that a rare hit pays.
  DraftRig cheap(prompt_lookup_method(), {1, 2, 3, 4, 5, 6, 7, 1}, {}, rows(33));
  CHECK(drafts_where_none_comes_true(cheap, 12).back() > 0);
  // Who names a number gets it.
  DraftRig told(prompt_lookup_method(), {1, 2, 3, 4, 5, 6, 7, 1}, {{"prompt_lookup_num_tokens", 2}},
                rows(5));
  for (const std::size_t size : drafts_where_none_comes_true(told, 12)) CHECK(size == 2);
}

TEST_CASE(
    "draft budget: drafts that were not sent are watched, and sent again once they come true") {
  DraftRig rig(prompt_lookup_method(), {1, 2, 3, 1}, {{"max_matching_ngram_size", 1}}, rows(5));
  CHECK(drafts_where_none_comes_true(rig, 12).back() == 0);
  std::vector<std::size_t> sizes;  // 1 2 1 2 ...
  for (int i = 0; i < 20; ++i) {
    sizes.push_back(rig.draft().size());
    rig.write({i % 2 == 0 ? 2 : 1});
  }
  CHECK(sizes.at(0) == 0);
  CHECK(sizes.back() > 1);
}

TEST_CASE(
    "draft budget: where everything comes true drafts grow beyond the default, up to the published number") {
  Tokens text = count_up(30, 1);
  for (const auto& [method, published] :
       {std::pair(prompt_lookup_method(), 10), std::pair(suffix_automaton_method(), 16)}) {
    CAPTURE(method.name);
    Tokens start = text;
    start.insert(start.end(), {1, 2, 3});
    DraftRig rig(method, start, {}, rows(5));
    std::vector<std::size_t> sizes;
    for (int i = 3; i < 60; ++i) {
      sizes.push_back(rig.draft().size());
      rig.write({text[static_cast<std::size_t>(i) % text.size()]});
    }
    CHECK(sizes.front() == 4);
    CHECK(sizes.back() == static_cast<std::size_t>(published));
  }
}

TEST_CASE("draft budget: matches of one token are judged apart from longer ones") {
  DraftRig rig(prompt_lookup_method(), {50, 51, 52, 53, 54, 55, 1, 2, 1}, {}, rows(5));
  CHECK(drafts_where_none_comes_true(rig, 12).back() == 0);
  rig.write({50, 51, 52});
  CHECK(rig.draft().size() == 4);
}

TEST_CASE("draft budget: of a tree the leading nodes are kept, parents with their children") {
  test::LoopConfig config{.prompt = {1}, .cheap_rows = 5};
  const auto method = ngram_trie_method();
  const RunContext run = test::run_context(config, method);
  DraftBudget budget(run, "num_draft", 32);
  CHECK(budget.most() == 32);
  // 5 and 7 may follow; below 5 comes 6.
  const NgramTrie::Answer answer{2, {{5, -1, 1, 9}, {6, 0, 2, 8}, {7, -1, 1, 3}}};
  Tokens text = {1};
  for (int i = 0; i < 30; ++i) {  // 5 8, always: the first node comes true, the others never do
    NgramTrie::Answer found = answer;
    budget.limit(text, found);
    if (i == 29) CHECK(found.nodes.size() == 1);
    text.insert(text.end(), {5, 8});
  }
  for (int i = 0; i < 60; ++i) {  // 7 8: only the last node comes true, so all three are sent
    NgramTrie::Answer found = answer;
    budget.limit(text, found);
    if (i == 59) CHECK(found.nodes.size() == 3);
    text.insert(text.end(), {7, 8});
  }
}

// How many of sixteen drafts are sent once `share` of 1000 answers came true to the last draft, the
// others not at all.
std::size_t sent_where(double share, const RowCosts& costs) {
  RunContext run = test::run_context({.prompt = {1}}, prompt_lookup_method());
  run.row_costs = costs;
  DraftBudget budget(run, "prompt_lookup_num_tokens", 16);
  Tokens text = {1};
  std::size_t sent = 0;
  double due = 0;
  for (int i = 0; i < 1000; ++i) {
    NgramTrie::Answer answer{2, {}};
    for (int k = 0; k < 16; ++k) answer.nodes.push_back({20 + k, k - 1, k + 1, 1});
    budget.limit(text, answer);
    sent = answer.nodes.size();
    due += share;
    const bool comes = due >= 1;
    if (comes) due -= 1;
    for (int k = 0; k < 16; ++k) text.push_back(comes ? 20 + k : 9);
  }
  return sent;
}

TEST_CASE("draft budget: a draft is sent where it comes true more often than its row costs") {
  const RowCosts even{5, 0.3, 0.3, 0.3};
  CHECK(sent_where(0.2, even) == 0);
  CHECK(sent_where(0.5, even) == 16);
  // Beyond the cheap rows it has to pay the dearer ones.
  const RowCosts stepped{12, 0.08, 0.08, 0.5};
  CHECK(sent_where(0.01, stepped) == 0);
  CHECK(sent_where(0.25, stepped) == 11);
  CHECK(sent_where(0.9, stepped) == 11);  // 0.9 for 0.5 is less than 10.9 for 1.88
  CHECK(sent_where(0.25, {12, 0.08, 0.08, 0.08}) == 16);
  // The second row of quantised weights costs less than those after it.
  const RowCosts blocks{5, 0.2, 0.33, 0.33};
  CHECK(sent_where(0.15, blocks) == 0);
  CHECK(sent_where(0.3, blocks) == 1);
  CHECK(sent_where(0.5, blocks) == 16);
}

TEST_CASE("draft budget: a run begins with the drafts whose rows are cheap") {
  const auto first = [](const RowCosts& costs, int published) {
    RunContext run = test::run_context({.prompt = {1}}, prompt_lookup_method());
    run.row_costs = costs;
    NgramTrie::Answer answer{2, {}};
    for (int k = 0; k < published; ++k) answer.nodes.push_back({20 + k, k - 1, k + 1, 1});
    DraftBudget(run, "prompt_lookup_num_tokens", published).limit(Tokens{1}, answer);
    return answer.nodes.size();
  };
  CHECK(first(kernels::PackedLinear::row_costs(0.6), 32) == 1);
  CHECK(first(kernels::PackedLinear::row_costs(2), 32) == 7);
  CHECK(first(kernels::PackedLinear::row_costs(4), 32) == 11);
  CHECK(first(kernels::PackedLinear::row_costs(4), 10) == 10);
  CHECK(first({}, 32) == 32);  // a GPU
}

TEST_CASE("draft budget: an answer counts once its text has come, no sooner") {
  test::LoopConfig config{.prompt = {1}, .cheap_rows = 5};
  const auto method = prompt_lookup_method();
  const RunContext run = test::run_context(config, method);
  const auto chain = [](int match) {
    NgramTrie::Answer answer{match, {}};
    for (int i = 0; i < 10; ++i) answer.nodes.push_back({20 + i, i - 1, i + 1, 1});
    return answer;
  };
  DraftBudget budget(run, "prompt_lookup_num_tokens", 10);
  Tokens text = {1};
  // The same ten tokens are expected again and again and do come, one a step: nothing is decided
  // before the tenth, so the first choice stands.
  for (int i = 0; i < 10; ++i) {
    NgramTrie::Answer found = chain(1);
    found.nodes.erase(found.nodes.begin(), found.nodes.begin() + i);
    for (auto& node : found.nodes) {
      node.depth -= i;
      node.parent = std::max(node.parent - i, -1);
    }
    budget.limit(text, found);
    CHECK(found.nodes.size() == std::min<std::size_t>(4, static_cast<std::size_t>(10 - i)));
    text.push_back(20 + i);
  }
  NgramTrie::Answer found = chain(1);
  budget.limit(text, found);
  CHECK(found.nodes.size() > 4);
}

}  // namespace
TEST_CASE("row costs: a row of a mixture also pays for the experts that no row before it chose") {
  RowCosts costs{5, 0.2, 0.3, 0.5};
  CHECK(costs.of(0) == 1);
  CHECK(costs.of(1) == 0.2);
  CHECK(costs.of(4) == 0.3);
  CHECK(costs.of(5) == 0.5);
  costs.of_experts = 0.6;
  costs.chosen = 0.25;
  CHECK(costs.of(0) == 1);
  CHECK(costs.of(1) == doctest::Approx(0.2 + 0.6 * 0.75));
  CHECK(costs.of(4) == doctest::Approx(0.3 + 0.6 * 0.75 * 0.75 * 0.75 * 0.75));
  costs.chosen = 1;  // every row goes through all experts, which are read once
  CHECK(costs.of(1) == 0.2);
}

}  // namespace triescope::test_draft_budget

// Counts of a growing text against the suffix tree they stand for, which is built here node by node.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/rng.h"
#include "core/lookup/suffix_counts.h"

namespace triescope::test_suffix_counts {
namespace {

using Tokens = std::vector<std::int32_t>;
using Question = SuffixCounts::Question;

// The trie of all strings of up to kDepth tokens, with their counts; index 0 is the root.
struct Trie {
  struct Node {
    std::map<std::int32_t, int> children;
    int count = 0;
    int last = 0;  // where the latest of them ends
  };
  explicit Trie(const Tokens& text) {
    for (std::size_t start = 0; start < text.size(); ++start) {
      int at = 0;
      for (std::size_t i = start; i < text.size() && i < start + SuffixCounts::kDepth; ++i) {
        if (text[i] == SuffixCounts::kEnd) break;
        const auto [child, is_new] =
            nodes[static_cast<std::size_t>(at)].children.emplace(text[i], nodes.size());
        const int next = child->second;
        if (is_new) nodes.emplace_back();
        at = next;
        ++nodes[static_cast<std::size_t>(at)].count;
        nodes[static_cast<std::size_t>(at)].last = static_cast<int>(i);
      }
    }
  }
  // -1 = none
  int find(const Tokens& string) const {
    int at = 0;
    for (const std::int32_t token : string) {
      const auto& children = nodes[static_cast<std::size_t>(at)].children;
      const auto child = children.find(token);
      if (child == children.end()) return -1;
      at = child->second;
    }
    return at;
  }
  std::vector<Node> nodes = std::vector<Node>(1);
};

struct Draft {
  std::int32_t token, parent, frequency;
  double product;
};

// speculate_path() and speculate_tree() of the source over that trie, with the ties that the header names.
std::vector<Draft> follow(const Trie& trie, int from, int matched, const Question& q) {
  std::vector<Draft> drafts;
  const int budget = std::min(q.max_nodes, static_cast<int>(matched * q.factor + 1e-6));
  struct Open {
    double product;
    int node, parent, depth;
    std::int32_t token;
  };
  std::vector<Open> open;
  const auto push = [&](int node, double product, int parent, int depth) {
    if (depth > q.max_depth || depth + matched > SuffixCounts::kDepth) return;
    const Trie::Node& of = trie.nodes[static_cast<std::size_t>(node)];
    std::vector<std::pair<std::int32_t, int>> children(of.children.begin(), of.children.end());
    const auto at = [&](int n) -> const Trie::Node& {
      return trie.nodes[static_cast<std::size_t>(n)];
    };
    std::ranges::sort(children, [&](const auto& a, const auto& b) {
      return std::pair(at(a.second).count, at(a.second).last) >
             std::pair(at(b.second).count, at(b.second).last);
    });
    if (!q.tree && children.size() > 1) children.resize(1);
    for (const auto& [token, child] : children) {
      const double p = product * at(child).count / of.count;
      if (p >= q.least_product) open.push_back({p, child, parent, depth, token});
    }
  };
  push(from, 1, -1, 1);
  while (!open.empty() && static_cast<int>(drafts.size()) < budget) {
    const auto best = std::ranges::max_element(
        open, [](const Open& a, const Open& b) { return a.product < b.product; });
    const Open next = *best;
    open.erase(best);
    const int index = static_cast<int>(drafts.size());
    drafts.push_back({next.token, next.parent,
                      trie.nodes[static_cast<std::size_t>(next.node)].count, next.product});
    if (std::ranges::find(q.last_tokens, next.token) == q.last_tokens.end())
      push(next.node, next.product, index, next.depth + 1);
  }
  return drafts;
}

void check_same(const SuffixCounts& counts, const Trie& trie, const Tokens& context,
                const Question& q) {
  std::vector<Draft> expected;
  double score = 0;
  int matched = 0;
  for (int m = std::min(SuffixCounts::kDepth, static_cast<int>(context.size())); m >= 1; --m) {
    const int node = trie.find(Tokens(context.end() - m, context.end()));
    if (node < 0) continue;
    auto drafts = follow(trie, node, m, q);
    double sum = 0;
    for (const Draft& draft : drafts) sum += draft.product;
    if (sum > score) {
      score = sum;
      expected = std::move(drafts);
      matched = m;
    }
  }
  const auto found = counts.best(context, q);
  CHECK(found.score == score);
  if (!expected.empty()) CHECK(found.answer.matched_tokens == matched);
  REQUIRE(found.answer.nodes.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(found.answer.nodes[i].token == expected[i].token);
    CHECK(found.answer.nodes[i].parent == expected[i].parent);
    CHECK(found.answer.nodes[i].frequency == expected[i].frequency);
  }
}

TEST_CASE("suffix counts: they answer as the suffix tree with counts does, in both modes") {
  Rng rng(11);
  const Tokens eos = {2};
  int answered = 0;
  for (int round = 0; round < 60; ++round) {
    const int alphabet = round % 2 == 0 ? 3 : 8;
    const auto token = [&] {
      return static_cast<std::int32_t>(rng.next() % static_cast<std::uint64_t>(alphabet));
    };
    Tokens text;
    SuffixCounts counts;
    for (int piece = 0; piece < 12; ++piece) {
      Tokens more;
      // Sometimes a copy of what stands there already: long matches.
      if (text.size() > 40 && rng.next() % 2 == 0) {
        const std::size_t begin = rng.next() % (text.size() - 30);
        more.assign(text.begin() + static_cast<long>(begin),
                    text.begin() + static_cast<long>(begin) + 30);
      }
      for (int i = 0; i < 8; ++i) more.push_back(token());
      if (rng.next() % 6 == 0) more.push_back(SuffixCounts::kEnd);
      counts.append(more);
      text.insert(text.end(), more.begin(), more.end());
      const Trie trie(text);
      Tokens other = {token(), token(), token(), token()};
      for (const Tokens& context : {text, other}) {
        if (context.back() == SuffixCounts::kEnd) continue;
        for (const bool as_tree : {false, true})
          for (const auto& [most, factor, least] :
               {std::tuple{32, 1.0, 0.1}, {5, 2.5, 0.0}, {100, 0.5, 0.3}}) {
            Question q{.max_nodes = most,
                       .max_depth = 40,
                       .factor = factor,
                       .least_product = least,
                       .tree = as_tree,
                       .last_tokens = {}};
            if (round % 3 == 0) q.last_tokens = eos;
            if (round % 5 == 0) q.max_depth = 3;
            check_same(counts, trie, context, q);
            answered += !counts.best(context, q).answer.nodes.empty();
          }
      }
    }
  }
  CHECK(answered > 1000);
}

TEST_CASE("suffix counts: no text, an unknown token and no room give no drafts") {
  SuffixCounts counts;
  const Question q{.max_nodes = 8, .max_depth = 8};
  CHECK(counts.best(Tokens{1, 2}, q).answer.nodes.empty());
  counts.append(Tokens{1, 2, 3, 1, 2});
  CHECK(counts.best(Tokens{9}, q).answer.nodes.empty());
  CHECK(counts.best(Tokens{}, q).answer.nodes.empty());
  CHECK(counts.best(Tokens{1, 2}, {.max_nodes = 8, .max_depth = 0}).answer.nodes.empty());
  CHECK(counts.best(Tokens{1, 2}, {.max_nodes = 0, .max_depth = 8}).answer.nodes.empty());
  CHECK(counts.best(Tokens{1, 2}, q).answer.nodes.size() == 2);
}

}  // namespace
}  // namespace triescope::test_suffix_counts

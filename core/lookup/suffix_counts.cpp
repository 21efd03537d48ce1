#include "core/lookup/suffix_counts.h"

#include <algorithm>
#include <queue>

namespace triescope {

void SuffixCounts::append(std::span<const std::int32_t> tokens) {
  for (const std::int32_t token : tokens) {
    if (token != kEnd) places_of_[token].push_back(static_cast<std::int32_t>(text_.size()));
    text_.push_back(token);
  }
}

std::vector<SuffixCounts::Child> SuffixCounts::children(
    std::span<const std::int32_t> places) const {
  std::unordered_map<std::int32_t, std::size_t> index;
  std::vector<Child> found;
  for (const std::int32_t place : places) {
    const auto next = static_cast<std::size_t>(place) + 1;
    if (next >= text_.size() || text_[next] == kEnd) continue;
    const auto [at, is_new] = index.emplace(text_[next], found.size());
    if (is_new) found.push_back({.token = text_[next], .places = {}});
    found[at->second].places.push_back(place + 1);
  }
  std::ranges::sort(found, [](const Child& a, const Child& b) {
    if (a.places.size() != b.places.size()) return a.places.size() > b.places.size();
    return std::ranges::max(a.places) > std::ranges::max(b.places);
  });
  return found;
}

SuffixCounts::Found SuffixCounts::follow(std::span<const std::int32_t> places, int matched,
                                         const Question& question) const {
  struct Open {
    double product;
    std::int32_t parent, depth;
    std::size_t order;
    Child child;
    bool operator<(const Open& o) const {  // of equal products the one that was found first
      return product != o.product ? product < o.product : order > o.order;
    }
  };
  Found found;
  found.answer.matched_tokens = matched;
  const auto budget =
      static_cast<std::size_t>(std::clamp(static_cast<double>(matched) * question.factor + 1e-6,
                                          0.0, static_cast<double>(question.max_nodes)));
  const int deepest = std::min(question.max_depth, kDepth - matched);
  std::priority_queue<Open> open;
  std::size_t order = 0;
  const auto go_on = [&](std::span<const std::int32_t> from, double product, std::int32_t parent,
                         std::int32_t depth) {
    if (depth > deepest || found.answer.nodes.size() >= budget) return;
    for (Child& child : children(from)) {
      const double chance =
          product * static_cast<double>(child.places.size()) / static_cast<double>(from.size());
      if (chance < question.least_product) break;  // the others are rarer
      open.push({chance, parent, depth, order++, std::move(child)});
      if (!question.tree) break;
    }
  };
  go_on(places, 1, -1, 1);
  while (!open.empty() && found.answer.nodes.size() < budget) {
    const Open next = open.top();
    open.pop();
    const auto index = static_cast<std::int32_t>(found.answer.nodes.size());
    found.answer.nodes.push_back({next.child.token, next.parent, next.depth,
                                  static_cast<std::int32_t>(next.child.places.size())});
    found.score += next.product;
    if (std::ranges::find(question.last_tokens, next.child.token) == question.last_tokens.end())
      go_on(next.child.places, next.product, index, next.depth + 1);
  }
  return found;
}

SuffixCounts::Found SuffixCounts::best(std::span<const std::int32_t> context,
                                       const Question& question) const {
  Found best;
  if (context.empty() || question.max_nodes <= 0 || question.max_depth <= 0) return best;
  const auto known = places_of_.find(context.back());
  if (known == places_of_.end()) return best;
  // By how many tokens before each place are those before the context's end.
  std::vector<std::vector<std::int32_t>> by_length(kDepth + 1);
  for (const std::int32_t place : known->second) {
    const int longest = std::min({kDepth, static_cast<int>(context.size()), place + 1});
    int length = 1;
    while (length < longest && text_[static_cast<std::size_t>(place - length)] ==
                                   context[context.size() - 1 - static_cast<std::size_t>(length)])
      ++length;
    by_length[static_cast<std::size_t>(length)].push_back(place);
  }
  Places places;  // those of the last `length` tokens, and so of every longer ending
  for (int length = kDepth; length >= 1; --length) {
    const auto& more = by_length[static_cast<std::size_t>(length)];
    places.insert(places.end(), more.begin(), more.end());
    if (places.empty()) continue;
    Found found = follow(places, length, question);
    if (found.score > best.score) best = std::move(found);
  }
  return best;
}

}  // namespace triescope

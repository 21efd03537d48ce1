#include "core/methods/draft_budget.h"

#include <algorithm>

namespace triescope {
namespace {

// The shares assumed before anything is known: as if two answers had been seen, of which this share
// came true at each of the first places and beyond them. They make the first choice.
constexpr double kFirstAnswers = 2, kFirstShare = 0.6, kShareBeyond = 0.2;
// The first places are those of default_drafts whose rows cost at most this much. Where rows are
// dearer, one wrong start costs more than a right one brings.
constexpr double kCheapEnough = 0.25;
// Each answer counts this much of the next one, so about the last twenty decide.
constexpr double kFade = 0.95;

}  // namespace

DraftBudget::DraftBudget(const RunContext& run, std::string_view parameter, int published)
    : row_costs_(run.row_costs) {
  const int told = run.settings.integer(parameter);
  adaptive_ = told == 0;
  most_ = adaptive_ ? published : told;
  int first = 1;
  while (first < run.default_drafts(published) && row_costs_.of(first + 1) <= kCheapEnough) ++first;
  first_ = static_cast<std::size_t>(first);
  for (Record& record : records_) {
    record.true_drafts.assign(static_cast<std::size_t>(most_), 0.0);
    record.drafts.assign(static_cast<std::size_t>(most_), 0.0);
  }
}

void DraftBudget::limit(std::span<const std::int32_t> text, NgramTrie::Answer& answer) {
  if (!adaptive_) return;
  observe(text);
  if (answer.nodes.empty()) return;
  const std::size_t bucket = bucket_of(answer.matched_tokens);
  pending_.push_back({text.size(), bucket, answer.nodes});
  answer.nodes.resize(best_count(records_[bucket], answer.nodes.size()));
}

std::size_t DraftBudget::bucket_of(int matched_tokens) {
  if (matched_tokens <= 3) return static_cast<std::size_t>(std::max(matched_tokens, 1) - 1);
  return matched_tokens < 8 ? 3 : 4;
}

void DraftBudget::observe(std::span<const std::int32_t> text) {
  std::erase_if(pending_, [&](const Pending& answer) {
    std::vector<bool> came(answer.nodes.size());
    std::int32_t last = -1, depth = 0;                       // the deepest node that came true
    for (std::size_t i = 0; i < answer.nodes.size(); ++i) {  // parents first
      const NgramTrie::Continuation& node = answer.nodes[i];
      const std::size_t at = answer.begin + static_cast<std::size_t>(node.depth) - 1;
      if (node.parent != last || at >= text.size() || text[at] != node.token) continue;
      came[i] = true;
      last = static_cast<std::int32_t>(i);
      depth = node.depth;
    }
    // It is undecided while the text ends where a draft goes on.
    const bool goes_on =
        std::ranges::any_of(answer.nodes, [&](const auto& node) { return node.parent == last; });
    if (goes_on && answer.begin + static_cast<std::size_t>(depth) >= text.size()) return false;
    Record& record = records_[answer.bucket];
    for (std::size_t i = 0; i < record.drafts.size(); ++i) {
      record.drafts[i] *= kFade;
      record.true_drafts[i] *= kFade;
      if (i >= came.size()) continue;
      record.drafts[i] += 1;
      if (came[i]) record.true_drafts[i] += 1;
    }
    return true;
  });
}

double DraftBudget::share_true(const Record& record, std::size_t place) const {
  const double first = place < first_ ? kFirstShare : kShareBeyond;
  return (record.true_drafts[place] + kFirstAnswers * first) /
         (record.drafts[place] + kFirstAnswers);
}

std::size_t DraftBudget::best_count(const Record& record, std::size_t found) const {
  std::size_t best = 0;
  double tokens = 1, cost = 1, best_rate = 1;
  for (std::size_t n = 0; n < found; ++n) {
    tokens += share_true(record, n);
    cost += row_costs_.of(static_cast<int>(n) + 1);
    if (tokens / cost > best_rate) {
      best_rate = tokens / cost;
      best = n + 1;
    }
  }
  return best;
}

}  // namespace triescope

#include "viz/query/judged_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/capture/run_fields.h"
#include "viz/query/draft_levels.h"
#include "viz/query/leaves.h"

namespace triescope::viz {
namespace {

using capture::CandidateRow;

bool is_set(const capture::RunFields& settings, const char* name, double off) {
  return settings.number(name, off) != off;
}

// Bounds that a row's recorded tokens set to its distribution once the warper top-k has cut it: to its
// whole p, and to its entropy H. The p of the tokens that were not recorded is at most that
// of the last one that was; H is least where none of them is kept, and largest where they are all
// equal.
struct RowBounds {
  double listed = 0, kept = 1;  // p of the recorded tokens, of all that may be kept
  double least_h = 0, most_h = 0;
};
RowBounds bounds_of(std::span<const CandidateRow> row, double tokens) {
  RowBounds bounds;
  double sum = 0;  // −Σ p log p
  for (const CandidateRow& one : row) {
    const double p = std::exp(static_cast<double>(one.logprob));
    bounds.listed += p;
    sum -= p * static_cast<double>(one.logprob);
  }
  const double others = std::max(0.0, tokens - static_cast<double>(row.size()));
  const double last = std::exp(static_cast<double>(row.back().logprob));
  const double rest = std::min(std::max(0.0, 1 - bounds.listed), others * last);
  bounds.kept = bounds.listed + rest;
  bounds.least_h = std::log(bounds.listed) + sum / bounds.listed;
  bounds.most_h = std::log(bounds.kept) +
                  (sum + (rest > 0 ? rest * std::log(others / rest) : 0.0)) / bounds.kept;
  return bounds;
}

}  // namespace

JudgedText::JudgedText(const capture::Capture& capture, capture::Tick cursor)
    : capture_(capture), drawn_(viz::has_drawn_drafts(capture)) {
  std::int32_t above = 0;
  for (const std::int32_t node : text_at(capture, cursor)) {
    next_[above] = node;
    above = node;
  }
  next_[above] = -1;
  const capture::RunFields model(capture.run().model_json), settings(capture.run().settings_json);
  if (settings.boolean("ignore_eos") != true) eos_ = model.integers("eos_token_ids");
  vocab_ = static_cast<std::int32_t>(model.integer("vocab_size", vocab_));
  has_processors_ = is_set(settings, "repetition_penalty", 1) ||
                    is_set(settings, "no_repeat_ngram_size", 0) ||
                    is_set(settings, "min_length", 0) || is_set(settings, "min_new_tokens", 0) ||
                    !settings.is_blank("bad_words_ids");
  only_top_k_ = !has_processors_ && !is_set(settings, "temperature", 1) &&
                !is_set(settings, "top_p", 1) && !is_set(settings, "min_p", 0) &&
                !is_set(settings, "typical_p", 1) && !is_set(settings, "top_h", 0) &&
                !is_set(settings, "epsilon_cutoff", 0) && !is_set(settings, "eta_cutoff", 0);
  top_k_ = static_cast<std::int32_t>(settings.integer("top_k", top_k_));
}

float JudgedText::logprob(std::int32_t node, capture::Tick cursor) const {
  return capture_.node_at(node, cursor).row.logprob;
}
bool JudgedText::has(std::int32_t node) const { return next_.contains(node); }
std::int32_t JudgedText::next(std::int32_t node) const {
  const auto found = next_.find(node);
  return found == next_.end() ? -1 : found->second;
}
bool JudgedText::ends(std::int32_t node) const {
  if (node <= 0) return false;
  const std::int32_t most = capture_.run().max_new_tokens;
  return std::ranges::find(eos_, token(node)) != eos_.end() ||
         (most > 0 && row(node).depth >= most);
}

std::span<const CandidateRow> JudgedText::above(std::int32_t node, std::int32_t step) const {
  const auto rows = capture_.candidates(node, capture::make_tick(step, capture::Phase::kCommit));
  return rows.empty() || rows.front().rank != 0 ? std::span<const CandidateRow>() : rows;
}

std::int32_t JudgedText::argmax(std::int32_t node, std::int32_t step) const {
  if (has_processors_) return -1;
  const auto rows = above(node, step);
  return rows.empty() ? -1 : rows.front().token;
}

Passes JudgedText::in_top_k(std::int32_t draft, std::int32_t step, int k) const {
  for (const capture::VerdictRow& verdict : capture_.verdicts(step))
    if (verdict.node == draft && verdict.rank >= 0 &&
        (carries(verdict.reason, "rank") || verdict.reason == capture::Reason::kIsArgmax))
      return verdict.rank < k ? Passes::kYes : Passes::kNo;
  if (has_processors_) return Passes::kUnknown;
  const auto rows = above(row(draft).parent, step);
  for (const CandidateRow& one : rows)
    if (one.token == token(draft)) return one.rank < k ? Passes::kYes : Passes::kNo;
  return rows.size() >= static_cast<std::size_t>(k) ? Passes::kNo : Passes::kUnknown;
}

Passes JudgedText::is_typical(std::int32_t draft, std::int32_t step, double epsilon,
                              double delta) const {
  const auto rows = above(row(draft).parent, step);
  const float log_p = logprob(draft, capture::make_tick(step, capture::Phase::kCommit));
  if (!only_top_k_ || rows.empty() || std::isnan(log_p) || vocab_ == 0) return Passes::kUnknown;
  // top_k 0 keeps them all.
  const double tokens = top_k_ > 0 ? std::min(top_k_, vocab_) : vocab_;
  const auto shown = rows.first(std::min(rows.size(), static_cast<std::size_t>(tokens)));
  const RowBounds bounds = bounds_of(shown, tokens);
  const bool is_kept = std::ranges::any_of(
      shown, [&](const CandidateRow& one) { return one.token == token(draft); });
  const double p = std::exp(static_cast<double>(log_p));
  const double least = std::min(epsilon, delta * std::exp(-bounds.most_h)),
               most = std::min(epsilon, delta * std::exp(-bounds.least_h));
  if (is_kept && p / bounds.kept > most) return Passes::kYes;
  return p / bounds.listed <= least ? Passes::kNo : Passes::kUnknown;
}

}  // namespace triescope::viz

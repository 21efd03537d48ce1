#include "core/doctor/model/recorded_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/count_up.h"

namespace triescope::doctor {

std::vector<Cell> cells_of(const RunView& run, std::int32_t node) {
  std::vector<Cell> cells;
  const auto add = [&](std::int32_t token) {
    cells.push_back({.token = token, .position = static_cast<std::int32_t>(cells.size())});
  };
  for (const std::int32_t token : run.capture.run().prompt_tokens) add(token);
  if (node > 0)
    for (const std::int32_t one : run.capture.path_to(node)) add(run.at(one).token);
  return cells;
}

std::vector<float> log_softmax(std::span<const float> logits, double temperature) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const float logit : logits) most = std::max(most, logit / temperature);
  for (const float logit : logits) sum += std::exp(logit / temperature - most);
  const double log_sum = most + std::log(sum);
  std::vector<float> out;
  out.reserve(logits.size());
  for (const float logit : logits) out.push_back(static_cast<float>(logit / temperature - log_sum));
  return out;
}

double distance(const RecordedRow& row, std::span<const float> logprobs) {
  double most = 0;
  for (const capture::CandidateRow& candidate : row.best) {
    if (std::isnan(candidate.logprob)) continue;
    if (candidate.token < 0 || static_cast<std::size_t>(candidate.token) >= logprobs.size())
      return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(static_cast<double>(candidate.logprob) -
                                   logprobs[static_cast<std::size_t>(candidate.token)]));
  }
  return most;
}

std::vector<float> RowOracle::logits(std::span<const Cell> cells, std::int32_t prompt) {
  std::size_t shared = 0;
  while (shared < known_.size() && shared + 1 < cells.size() && known_[shared] == cells[shared])
    ++shared;
  if (!kv_) kv_ = model_.make_kv(static_cast<int>(cells.size()) + 64);
  kv_->reserve(static_cast<int>(cells.size()));
  known_.assign(cells.begin(), cells.end());
  for (const Piece piece :
       pieces_of(cells.size() - shared, static_cast<std::size_t>(model_.info().prefill_rows)))
    run(shared + piece.first, piece.count, prompt);
  return last_;
}

void RowOracle::run(std::size_t first, std::size_t count, std::int32_t prompt) {
  std::vector<std::int32_t> tokens, positions, own, offsets,
      slots = count_up(count, static_cast<std::int32_t>(first)), prefix = count_up(first);
  const std::span<const Cell> rows = std::span(known_).subspan(first, count);
  const bool is_causal =
      std::ranges::none_of(rows, [](const Cell& cell) { return cell.sees.has_value(); });
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(rows[i].token);
    positions.push_back(rows[i].position);
    if (is_causal) continue;
    if (offsets.empty()) offsets.push_back(0);
    if (rows[i].sees) {
      own.insert(own.end(), rows[i].sees->begin(), rows[i].sees->end());
    } else {
      for (std::size_t j = 0; j < first + i; ++j) own.push_back(static_cast<std::int32_t>(j));
    }
    own.push_back(static_cast<std::int32_t>(first + i));
    offsets.push_back(static_cast<std::int32_t>(own.size()));
  }
  if (!is_causal) prefix.clear();
  const std::vector<std::int32_t> wanted = {static_cast<std::int32_t>(count) - 1};
  const ForwardOutput output =
      model_.forward({.tokens = tokens,
                      .positions = positions,
                      .slots = slots,
                      .prefix_slots = prefix,
                      .own_slots = own,
                      .own_offsets = offsets,
                      .logit_rows = wanted,
                      .text_length = static_cast<std::int32_t>(first) < prompt ? prompt : 0},
                     *kv_);
  const auto whole = output.row(0).whole();
  last_.assign(whole.begin(), whole.end());
}

}  // namespace triescope::doctor

#include "core/model/logits_row.h"

#include <algorithm>

#include "core/kernels/row_ops.h"

namespace triescope {

std::span<const std::pair<float, std::int32_t>> LogitsRow::known_best() const {
  return rows_ ? rows_->best(row_) : std::span<const std::pair<float, std::int32_t>>();
}

float LogitsRow::log_sum_exp() const {
  return rows_ ? rows_->log_sum_exp(row_) : kernels::log_sum_exp(on_host_);
}

std::int32_t LogitsRow::argmax() const {
  return rows_ ? known_best().front().second : kernels::argmax(on_host_);
}

std::vector<std::pair<float, std::int32_t>> LogitsRow::top_k(std::size_t k) const {
  k = std::min(k, size());
  const auto known = known_best();
  if (known.size() >= k && rows_) return {known.begin(), known.begin() + std::ptrdiff_t(k)};
  return kernels::top_k(whole(), k);
}

std::int32_t LogitsRow::rank(std::int32_t token) const {
  const auto known = known_best();
  const auto found = std::ranges::find(known, token, &std::pair<float, std::int32_t>::second);
  if (found != known.end()) return static_cast<std::int32_t>(found - known.begin());
  const std::span<const float> row = whole();
  const auto at = static_cast<std::size_t>(token);
  const float logit = row[at];
  std::int32_t before = 0;
  for (std::size_t i = 0; i < at; ++i) before += row[i] >= logit;
  for (std::size_t i = at + 1; i < row.size(); ++i) before += row[i] > logit;
  return before;
}

float LogitsRow::operator[](std::size_t token) const {
  if (!rows_) return on_host_[token];
  for (const auto& [logit, known] : known_best())
    if (static_cast<std::size_t>(known) == token) return logit;
  return rows_->logit(row_, static_cast<std::int32_t>(token));
}

}  // namespace triescope

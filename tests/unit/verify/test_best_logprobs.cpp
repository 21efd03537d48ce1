// Beam search's candidates from a row's best tokens: what they settle, and that they are those of the
// whole row.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.h"
#include "core/verify/beam_candidates.h"
#include "tests/support/refusal.h"

namespace triescope::test_best_logprobs {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One row of which the best `known` tokens are known.
class OneRow final : public DeviceLogits {
 public:
  OneRow(std::vector<float> row, std::size_t known)
      : row_(std::move(row)), best_(kernels::top_k(row_, known)) {}
  std::size_t vocab_size() const override { return row_.size(); }
  float log_sum_exp(int) const override { return kernels::log_sum_exp(row_); }
  std::span<const std::pair<float, std::int32_t>> best(int) const override { return best_; }
  float logit(int, std::int32_t token) override { return row_[static_cast<std::size_t>(token)]; }
  std::span<const float> whole(int) override {
    ++fetched;
    return row_;
  }
  int fetched = 0;

 private:
  std::vector<float> row_;
  std::vector<std::pair<float, std::int32_t>> best_;
};

TEST_CASE("best log-probs: rows that were rounded to a few values, with and without an offset") {
  Rng rng(3);
  int settled = 0, open = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<float> row(200);
    const double step = round % 4 == 0 ? 0.5 : 1e-6;  // ties of logits; ties after rounding
    for (float& v : row) v = static_cast<float>(8 + step * static_cast<double>(rng.next() % 60));
    const float offset = round % 3 == 0 ? -1e4f : -3.7f;
    OneRow far(row, 30);
    std::vector<float> logprobs(row.size());
    finite_log_softmax(row, logprobs);
    CandidateHeap whole(20), best(20);
    whole.add_row(2, offset, logprobs);
    const bool known = best.add_best(2, offset, best_logprobs(LogitsRow(far, 0)));
    CHECK(far.fetched == 0);
    if (!known) {
      CHECK(best.best().empty());
      ++open;
      continue;
    }
    ++settled;
    const auto found = best.best(), expected = whole.best();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].token == expected[i].token);
      CHECK(found[i].score == expected[i].score);
      CHECK(found[i].logprob == expected[i].logprob);
      CHECK(found[i].beam == 2);
    }
  }
  CHECK(settled > 50);
  CHECK(open > 50);
}

TEST_CASE("best log-probs: what a list settles") {
  BestLogprobs best{.tokens = {{-1.0f, 4}, {-2.0f, 1}, {-2.0f, 7}, {-3.0f, 0}}};
  CHECK_FALSE(best.settles(0));
  CHECK(best.settles(1));
  CHECK(best.settles(3));
  CHECK_FALSE(best.settles(4));  // the next one may be as good as the last
  CHECK_FALSE(best.settles(5));
  CHECK(best.settles(3, -100.0f));
  CHECK_FALSE(best.settles(3, -1e9f));  // all the same once they are rounded
  best.all = true;
  CHECK(best.settles(4));
  CHECK(best.settles(9, -1e9f));
}

TEST_CASE("best log-probs: a short row is known whole, a row on the host not at all") {
  OneRow far({0.5f, 2, -kInfinity, 1}, 4);
  const BestLogprobs best = best_logprobs(LogitsRow(far, 0));
  CHECK(best.all);
  REQUIRE(best.tokens.size() == 4);
  CHECK(best.tokens[0].second == 1);
  CHECK(best.tokens[3] == std::pair(-kInfinity, 2));
  const std::vector<float> row = {1, 2, 3};
  CHECK(best_logprobs(LogitsRow(row)).tokens.empty());
}

TEST_CASE("best log-probs: a row that is not finite is refused as whole ones are") {
  for (const float bad : {std::nanf(""), kInfinity}) {
    std::vector<float> row = {0, bad, 1};
    OneRow far(row, 2);
    std::vector<float> out(row.size());
    const std::string whole =
        test::refusal(ErrorCode::kCorruption, [&] { finite_log_softmax(row, out); });
    CHECK(test::refusal(ErrorCode::kCorruption, [&] { best_logprobs(LogitsRow(far, 0)); }) ==
          whole);
  }
}

TEST_CASE("a row of logits: the same answers on the host and on a device") {
  Rng rng(9);
  std::vector<float> row(120);
  for (float& v : row) v = static_cast<float>(rng.next() % 40) / 8;
  const LogitsRow host(row);
  OneRow rows(row, 10);
  const LogitsRow far(rows, 0);
  CHECK(far.size() == host.size());
  CHECK(far.argmax() == host.argmax());
  CHECK(far.log_sum_exp() == host.log_sum_exp());
  CHECK(far.top_k(10) == host.top_k(10));
  CHECK(far.top_k(0).empty());
  for (const auto& [logit, token] : host.top_k(10)) {
    CHECK(far.rank(token) == host.rank(token));
    CHECK(far[static_cast<std::size_t>(token)] == logit);
  }
  CHECK(rows.fetched == 0);
  for (std::size_t t = 0; t < row.size(); ++t) {
    CHECK(far.rank(static_cast<std::int32_t>(t)) == host.rank(static_cast<std::int32_t>(t)));
    CHECK(far[t] == row[t]);
  }
  CHECK(rows.fetched == 110);  // a rank beyond the best needs the row, a logit does not
  CHECK(far.top_k(11) == host.top_k(11));
  CHECK(far.top_k(500) == host.top_k(500));
  const std::span<const float> whole = far;
  CHECK(std::ranges::equal(whole, row));
  CHECK(LogitsRow().empty());
}

}  // namespace
}  // namespace triescope::test_best_logprobs

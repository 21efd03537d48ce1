// Where two runs of one prompt part, and why.
#include <doctest/doctest.h>

#include <string>

#include "core/base/error.h"
#include "core/doctor/compare_runs.h"
#include "tests/unit/doctor/made_run.h"

namespace triescope::test::test_compare_runs {
namespace {

using doctor::first_difference;
using doctor::Parting;

void set_dtype(MadeRun& made, const std::string& dtype) {
  made.rows.run->model_json = R"({"eos_token_ids": [9], "dtype": ")" + dtype + "\"}";
}

// The bonus of step 2 becomes another token; its row, b's, has the two `gap` apart, each run its own first.
struct Pair {
  MadeRun left = made_drafts(), right = made_drafts();
};
Pair parted(float gap, const char* left_dtype = "f32", const char* right_dtype = "f32") {
  Pair pair;
  set_dtype(pair.left, left_dtype);
  set_dtype(pair.right, right_dtype);
  const std::int32_t own = pair.right.of_step[2].own, b = pair.right.of_step[2].b;
  pair.right.rows.nodes[static_cast<std::size_t>(own)].token = 5;
  for (CandidateRow& row : pair.right.rows.candidates)
    if (row.node == b) row.token = row.rank == 0 ? 5 : own + 100;
  for (MadeRun* made : {&pair.left, &pair.right})
    for (CandidateRow& row : made->rows.candidates)
      if (row.node == b) row.logprob = row.rank == 0 ? -0.2f : -0.2f - gap;
  return pair;
}
Parting parting(const Pair& pair) {
  const auto found =
      first_difference(*OpenedRun(pair.left.rows).capture, *OpenedRun(pair.right.rows).capture);
  REQUIRE(found);
  // Tokens of the text: 1 at prefill, 2 in step 1, and the third of step 2.
  CHECK(found->token == 5);
  CHECK(found->left.step == 2);
  CHECK(found->left.node == pair.left.of_step[2].b);
  CHECK(found->left.token == pair.left.of_step[2].own + 100);
  CHECK(found->right.token == 5);
  CHECK(found->finding.text.find("part at token 6") != std::string::npos);
  return found->parting;
}

TEST_CASE("doctor of two runs: the same text has no difference") {
  const MadeRun made = made_drafts();
  CHECK_FALSE(first_difference(*OpenedRun(made.rows).capture, *OpenedRun(made.rows).capture));
}

TEST_CASE("doctor of two runs: a tie, arithmetic or a fault, by the margin and the dtypes") {
  CHECK(parting(parted(0.0001f)) == Parting::kTie);
  CHECK(parting(parted(0.1f, "bf16", "bf16")) == Parting::kTie);
  CHECK(parting(parted(0.1f, "f32", "bf16")) == Parting::kArithmetic);
  CHECK(parting(parted(0.1f, "torch.bfloat16", "bfloat16")) == Parting::kTie);
  CHECK(parting(parted(0.1f, "float32", "torch.bfloat16")) == Parting::kArithmetic);
  CHECK(parting(parted(0.1f)) == Parting::kFault);
  CHECK(parting(parted(1.5f, "bf16", "bf16")) == Parting::kFault);
}

TEST_CASE("doctor of two runs: a token that is not the best of its row was drawn") {
  Pair pair = parted(0.5f);
  for (CandidateRow& row : pair.right.rows.candidates)
    if (row.node == pair.right.of_step[2].b)
      row.token = row.token == 5 ? pair.right.of_step[2].own + 100 : 5;
  CHECK(parting(pair) == Parting::kChosen);
}

TEST_CASE("doctor of two runs: a run that stopped at its limit does not contradict a longer one") {
  const MadeRun longer = made_drafts({.steps = 9});
  MadeRun shorter = made_drafts({.steps = 5});
  const OpenedRun a(longer.rows);
  CHECK(first_difference(*a.capture, *OpenedRun(shorter.rows).capture));
  shorter.rows.run->max_new_tokens =
      static_cast<std::int32_t>(shorter.rows.sequences.back().tokens.size());
  CHECK_FALSE(first_difference(*a.capture, *OpenedRun(shorter.rows).capture));
  // A recorder that was not told the limit says that the run was stopped.
  shorter.rows.run->max_new_tokens = 0;
  CHECK(first_difference(*a.capture, *OpenedRun(shorter.rows).capture));
  shorter.rows.sequences.back().finish = "stopped";
  CHECK_FALSE(first_difference(*a.capture, *OpenedRun(shorter.rows).capture));
}

TEST_CASE("doctor of two runs: another prompt is refused") {
  const MadeRun one = made_drafts();
  MadeRun other = made_drafts();
  other.rows.run->prompt_tokens = {1, 3};
  CHECK_THROWS_AS(first_difference(*OpenedRun(one.rows).capture, *OpenedRun(other.rows).capture),
                  Error);
}

}  // namespace
}  // namespace triescope::test::test_compare_runs

// triescope check: its comparisons hold on this machine, and a failing one is reported.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "app/check/check.h"
#include "core/base/error.h"
#include "core/files/random_blocks.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/linear.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_check {
namespace {

// Stands in for a GPU's module, which is looked for once a process.
const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

TEST_CASE("check: every kernel agrees with its reference in every instruction set") {
  const std::vector<CheckComparison> all = check_kernels(2);
  std::multiset<std::string> places;
  for (const CheckComparison& one : all) {
    CAPTURE(one.where);
    CAPTURE(one.what);
    CAPTURE(one.error);
    CHECK(one.difference <= one.allowed);
    CHECK(one.holds());
    places.insert(one.where);
  }
  // 16 types with three numbers of rows, attention, two norms, three activations, rope, log-softmax
  // and top-k.
  for (const kernels::CpuVariant variant : kernels::available_variants())
    CHECK(places.count(kernels::to_string(variant)) == 16 * 3 + 9);
  CHECK(all.size() == kernels::available_variants().size() * (16 * 3 + 9));
  // The comparison can see differences: fp32 sums are not fp64's.
  CHECK(std::ranges::any_of(all, [](const CheckComparison& one) { return one.difference > 0; }));
}

TEST_CASE("check: every CUDA kernel agrees with its reference, and one that does not is seen") {
  REQUIRE(use_stand_in);
  CHECK(cuda_kernels_obstacle() == "no GPU answers");
  CHECK(check_cuda_kernels(0).empty());
  ::setenv("TRIESCOPE_CUDA_STAND_IN_DEVICES", "1", 1);
  CHECK(cuda_kernels_obstacle() == "");
  const std::vector<CheckComparison> all = check_cuda_kernels(0);
  std::multiset<std::string> places;
  for (const CheckComparison& one : all) {
    CAPTURE(one.where);
    CAPTURE(one.what);
    CAPTURE(one.error);
    CAPTURE(one.difference);
    CHECK(one.holds());
    places.insert(one.where);
  }
  // Two norms, an embedding, rotary positions, three activations and attention. For 11 types of
  // blocks: rows, an embedding, and linear layers with three numbers of rows; dense 16-bit weights
  // have the linear layers too. Logits are only f32.
  for (const char* where : {"CUDA, f16", "CUDA, bf16"})
    CHECK(places.count(where) == 8 + 11 * 5 + 3);
  CHECK(places.count("CUDA, f32") == 8 + 11 * 5 + 2);
  const auto failing = [](const char* launcher) {
    ::setenv("TRIESCOPE_CUDA_STAND_IN_WRONG", launcher, 1);
    const std::vector<CheckComparison> found = check_cuda_kernels(0);
    ::unsetenv("TRIESCOPE_CUDA_STAND_IN_WRONG");
    return std::ranges::count_if(found, [](const CheckComparison& one) { return !one.holds(); });
  };
  CHECK(failing("add_norm") == 3 * 2);
  CHECK(failing("embed_norm") == 3 * (1 + 11));
  CHECK(failing("split_qkv") == 3);
  CHECK(failing("gated_activation") == 3 * 3);
  CHECK(failing("tree_attention") == 3);
  CHECK(failing("block_linear 30000") == 3 * 11 * 3 + 2 * 3);
  CHECK(failing("block_rows 30000") == 3 * 11);
  CHECK(failing("row_summary") == 1);
  CHECK(failing("row_summary_values") == 1);
  ::setenv("TRIESCOPE_CUDA_STAND_IN_ERROR", "209 add_norm", 1);
  const std::vector<CheckComparison> refused = check_cuda_kernels(0);
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_ERROR");
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_DEVICES");
  REQUIRE(refused.size() == all.size());
  CHECK(refused[0].what == "add and RMS norm");
  CHECK(refused[0].error == "an error of the stand-in");
  CHECK(refused[2].holds());
}

TEST_CASE("check: CUDA kernels run on the GPU asked for, and one that is not there is seen") {
  REQUIRE(use_stand_in);
  REQUIRE(kernels::cuda_module().available());
  ::setenv("TRIESCOPE_CUDA_STAND_IN_DEVICES", "2", 1);
  const std::vector<CheckComparison> second = check_cuda_kernels(1), none = check_cuda_kernels(2);
  int last = -1;
  CHECK(kernels::cuda_module().use_device(0, &last) == 0);
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_DEVICES");
  CHECK(std::ranges::all_of(second, &CheckComparison::holds));
  CHECK(second.size() > 100);
  CHECK(last == 0);  // as before
  REQUIRE(none.size() == 1);
  CHECK(none[0].what == "kernels on cuda:2");
  CHECK(!none[0].holds());
  CHECK(none[0].error == "an error of the stand-in");
}

TEST_CASE("check: a tiny model's logits are libtorch's, and a row's do not depend on its company") {
  const auto on_cpu = check_tiny_model("cpu", 2);
  REQUIRE(on_cpu.size() == 2);
  for (const CheckComparison& one : on_cpu) {
    CAPTURE(one.what);
    CHECK(one.where == "cpu, f32");
    CHECK(one.holds());
  }
  CHECK(on_cpu[0].difference > 0);
  CHECK(on_cpu[0].difference < 1e-5);
  CHECK(on_cpu[1].allowed == 0);
}

TEST_CASE("check: a device that does not work is a comparison that does not hold") {
  // No machine has so many GPUs, so nothing can be loaded there.
  const auto all = check_tiny_model("cuda:99", 2);
  REQUIRE(all.size() == 8);
  for (std::size_t i = 2; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(all[i].where.starts_with("cuda:99, "));
    CHECK(!all[i].holds());
    CHECK(!all[i].error.empty());
  }
}

TEST_CASE("check: a comparison holds up to what is allowed, and not with an error") {
  CheckComparison one{
      .where = "here", .what = "it", .difference = 0.5, .allowed = 0.5, .error = ""};
  CHECK(one.holds());
  one.difference = 0.51;
  CHECK(!one.holds());
  one.difference = 0;
  one.error = "it could not be loaded";
  CHECK(!one.holds());
  one.error = "";
  one.difference = HUGE_VAL;
  CHECK(!one.holds());
}

TEST_CASE("check: the verdict counts what does not hold and says what to do") {
  CheckReport report;
  report.comparisons = {{"a", "x", 0, 1, ""}, {"a", "y", 2, 1, ""}, {"b", "z", 0, 1, "lost"}};
  CHECK(!report.holds());
  CHECK(report.verdict() ==
        "2 of 3 comparisons do not hold: results on this machine are not to be trusted. Please "
        "report it, with the output of `triescope check --json`.");
  report.comparisons = {{"a", "x", 0, 1, ""}, {"b", "x", 1, 1, ""}};
  CHECK(report.holds());
  CHECK(report.verdict() ==
        "All 2 comparisons hold: triescope computes on this machine what it should.");
  report.advice = {"Take another machine."};
  CHECK(report.verdict().ends_with("what it should. See the advice above."));
}

TEST_CASE("check: a device that is not there is refused with those that are") {
  for (const std::string device : {"cuda:99", "tpu"}) {
    CheckOptions options;
    options.device = device;
    const std::string said =
        test::refusal(ErrorCode::kInvalidArgument, [&] { check_machine(options, {}); });
    CHECK(said.starts_with("--device: expected one of cpu"));
    CHECK(said.find("; found " + device) != std::string::npos);
  }
}

}  // namespace
}  // namespace triescope::app::test_check

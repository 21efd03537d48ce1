// Says whether a model has room.
#include <doctest/doctest.h>

#include <cstdlib>

#include "app/session/memory_check.h"
#include "core/model/device_memory.h"
#include "core/model/memory_need.h"

namespace triescope::app::test_memory_check {
namespace {

// 10⁹ weights, of a shape that takes next to nothing to compute.
ModelInfo billion(const std::string& stored, std::int64_t bytes) {
  ModelInfo info;
  info.name = "Big";
  info.quantisation = stored;
  info.parameters = 1'000'000'000;
  info.file_bytes = bytes;
  return info;
}

TEST_CASE(
    "memory check: a model that fits, and free memory that nobody knows, are not complained of") {
  const ModelInfo info = billion("Q8_0", 1'062'500'000);
  CHECK(why_it_does_not_fit(info, {}, 1'062'500'000) == "");
  CHECK(why_it_does_not_fit(info, {}, -1) == "");
  CHECK(free_memory("cpu") > 0);
  CHECK(free_memory("cuda:999") == -1);
  CHECK(free_memory("tpu") == -1);
  CHECK(kept_in_reserve({}) == 0);
  CHECK(kept_in_reserve({.allocated_bytes = 300, .reserved_bytes = 1000}) == 700);
}

TEST_CASE(
    "memory check: what a GPU has free is told in lists, and asked of the one that is chosen") {
  const std::vector<DeviceInfo> devices = {{"cpu", "a CPU", 64'000'000'000},
                                           {"cuda:0", "a GPU", 24'000'000'000},
                                           {"cuda:1", "another", 0}};
  ::setenv("TRIESCOPE_CUDA_STAND_IN_FREE", "9000000000", 1);
  CHECK(free_memory("cuda:0") == 9'000'000'000);
  const auto chosen = device_memory_texts(devices, "cuda:0"),
             other = device_memory_texts(devices, "cpu");
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_FREE");
  REQUIRE(chosen.size() == 3);
  CHECK(chosen[0].ends_with(" free"));
  CHECK(chosen[1] == "9.00 GB free");
  CHECK(chosen[2] == "");
  CHECK(other[1] == "24.0 GB");
  CHECK(device_memory_texts(devices, "cuda:0")[1] == "24.0 GB");  // no device says
}

TEST_CASE("a model that does not fit: what it needs, what there is, what would fit") {
  const ModelInfo info = billion("F32", 4'000'000'000);
  CHECK(
      why_it_does_not_fit(info, {}, 3'999'999'999) ==
      "Big: needs 4.00 GB (4.00 GB of weights, 0 B to compute), and 4.00 GB are free on cpu; close "
      "other programs, or take dtype bf16 (2.00 GB), or a Q8_0 file of it (1.06 GB), or a Q4_K "
      "file of it (562 MB)");
  CHECK(
      why_it_does_not_fit(info, {}, 1'000'000'000) ==
      "Big: needs 4.00 GB (4.00 GB of weights, 0 B to compute), and 1.00 GB are free on cpu; close "
      "other programs, or take a Q4_K file of it (562 MB)");
  CHECK(
      why_it_does_not_fit(info, {.dtype = DType::kBF16}, 500'000'000) ==
      "Big: needs 2.00 GB (2.00 GB of weights, 0 B to compute), and 500 MB are free on cpu; close "
      "other programs, or take a smaller model");
  // bf16 changes nothing for quantised blocks.
  CHECK(
      why_it_does_not_fit(billion("Q8_0", 1'062'500'000), {}, 1'000'000'000) ==
      "Big: needs 1.06 GB (1.06 GB of weights, 0 B to compute), and 1.00 GB are free on cpu; close "
      "other programs, or take a Q4_K file of it (562 MB)");
  // On a GPU a quantised file takes less if there are kernels that compute from its blocks.
  const std::string files = keeps_blocks({.device = "cuda:0"})
                                ? ", or a Q8_0 file of it (1.06 GB), or a Q4_K file of it (562 MB)"
                                : "";
  CHECK(why_it_does_not_fit(info, {.device = "cuda:0"}, 3'000'000'000) ==
        "Big: needs 4.00 GB (4.00 GB of weights, 0 B to compute), and 3.00 GB are free on cuda:0; "
        "close other programs, or take dtype bf16 (2.00 GB)" +
            files);
}

// A run of 100 prompt tokens and 20 new ones.
RunRequest run_of(const std::string& method,
                  const nlohmann::json& settings = nlohmann::json::object()) {
  RunRequest request;
  request.method = method;
  request.settings = settings;
  request.max_new_tokens = 20;
  return request;
}

TEST_CASE(
    "memory check: a run fills its prompt once, all that its beams may write, and room for drafts") {
  CHECK(most_slots(run_of("greedy"), 100) == 120);
  CHECK(most_slots(run_of("beam", {{"num_beams", 5}}), 100) == 200);
  CHECK(most_slots(run_of("beam", {{"num_beams", 5}, {"kv", "batch"}}), 100) == 600);
  CHECK(most_slots(run_of("batch_beam", {{"num_beams", 5}}), 100) == 600);
  CHECK(most_slots(run_of("prompt_lookup"), 100) == 184);
}

TEST_CASE(
    "memory check: keys and values that may not fit: how much, what is free, what takes less") {
  ModelInfo info;
  info.layers = 10;
  info.kv_heads = 2;
  info.head_dim = 25;  // 2 × 10 × 2 × 25 values of 4 bytes a token: 4 kB
  const RunRequest beams = run_of("beam", {{"num_beams", 5}});
  CHECK(why_kv_may_not_fit(info, {}, beams, 100, 800'000) == "");
  CHECK(why_kv_may_not_fit(info, {}, beams, 100, -1) == "");
  CHECK(
      why_kv_may_not_fit(info, {}, beams, 100, 799'999) ==
      "keys and values of this run may take 800 KB (200 tokens of 4.00 KB), and 800 KB are free on "
      "cpu; the run stops where they run out. Less is taken by a shorter prompt, fewer new "
      "tokens or beams, or K and V in bf16");
  CHECK(
      why_kv_may_not_fit(info, {.kv_dtype = DType::kBF16}, run_of("greedy"), 100, 200'000) ==
      "keys and values of this run may take 240 KB (120 tokens of 2.00 KB), and 200 KB are free on "
      "cpu; the run stops where they run out. Less is taken by a shorter prompt, fewer new tokens");
  CHECK(why_kv_may_not_fit(info, {.device = "cuda"}, run_of("greedy"), 100, 400'000)
            .ends_with(", and 400 KB are free on cuda; the run stops where they run out. Less is "
                       "taken by a shorter prompt, fewer new tokens, or dtype bf16"));
}

}  // namespace
}  // namespace triescope::app::test_memory_check

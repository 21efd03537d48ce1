// Whether a model has room, in words.
#include <doctest/doctest.h>

#include "app/run/memory_check.h"

namespace triescope::app {
namespace {

// 1,000,000,000 weights of a shape that computes with next to nothing.
ModelInfo billion(const std::string& stored, std::int64_t bytes) {
  ModelInfo info;
  info.name = "Big";
  info.quantisation = stored;
  info.parameters = 1'000'000'000;
  info.file_bytes = bytes;
  return info;
}

TEST_CASE("a model that fits, and free memory that nobody knows, are not complained of") {
  const ModelInfo info = billion("Q8_0", 1'062'500'000);
  CHECK(why_it_does_not_fit(info, {}, 1'062'500'000) == "");
  CHECK(why_it_does_not_fit(info, {}, -1) == "");
  CHECK(free_memory("cpu") > 0);
  CHECK(free_memory("cuda:0") == -1);
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
  // bf16 changes nothing for blocks on the CPU, and a file nothing on a GPU.
  CHECK(
      why_it_does_not_fit(billion("Q8_0", 1'062'500'000), {}, 1'000'000'000) ==
      "Big: needs 1.06 GB (1.06 GB of weights, 0 B to compute), and 1.00 GB are free on cpu; close "
      "other programs, or take a Q4_K file of it (562 MB)");
  CHECK(why_it_does_not_fit(info, {.device = "cuda:0"}, 3'000'000'000) ==
        "Big: needs 4.00 GB (4.00 GB of weights, 0 B to compute), and 3.00 GB are free on cuda:0; "
        "close other programs, or take dtype bf16 (2.00 GB)");
}

}  // namespace
}  // namespace triescope::app

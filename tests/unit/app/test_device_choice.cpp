// The dtype of a run where nobody names one.
#include <doctest/doctest.h>

#include "app/cli/commands.h"
#include "app/session/device_choice.h"

namespace triescope::app::test_device_choice {
namespace {

TEST_CASE(
    "device choice: the command line's dtype is f32 on a CPU and bf16 on a GPU, or what it says") {
  RunOptions options;
  CHECK(options.resolve().dtype == DType::kF32);
  for (const char* device : {"cuda", "cuda:1"}) {
    options.request.device = device;
    options.dtype = "";
    CHECK(options.resolve().dtype == DType::kBF16);
    options.dtype = "f32";
    CHECK(options.resolve().dtype == DType::kF32);
    options.dtype = "f16";
    CHECK(options.resolve().dtype == DType::kF16);
  }
  options.request.device = "cpu";
  options.dtype = "bf16";
  CHECK(options.resolve().dtype == DType::kBF16);
}

TEST_CASE(
    "device choice: in the window another kind of device brings its dtype along, another GPU does not") {
  RunRequest request;
  request.dtype = DType::kBF16;
  choose_device(request, "cpu");
  CHECK(request.dtype == DType::kBF16);
  choose_device(request, "cuda:0");
  CHECK(request.device == "cuda:0");
  CHECK(request.dtype == DType::kBF16);
  request.dtype = DType::kF32;
  choose_device(request, "cuda:1");
  CHECK(request.device == "cuda:1");
  CHECK(request.dtype == DType::kF32);
  choose_device(request, "cpu");
  CHECK(request.dtype == DType::kF32);
  choose_device(request, "cuda:0");
  CHECK(request.dtype == DType::kBF16);
}

TEST_CASE("device choice: a draft model is where its target is, or where the request says") {
  RunRequest request;
  const LoadOptions on_gpu = {.device = "cuda:0", .dtype = DType::kF16, .threads = 3};
  CHECK(draft_options(request, on_gpu).device == "cuda:0");
  for (const char* same : {"cuda:0", "cuda"}) {
    request.draft_device = same;
    CHECK(draft_options(request, on_gpu).device == "cuda:0");
  }
  request.draft_device = "cuda:1";
  CHECK(draft_options(request, on_gpu).device == "cuda:1");
  CHECK(draft_options(request, on_gpu).dtype == DType::kF16);
  request.draft_device = "cpu";
  const LoadOptions on_cpu = draft_options(request, on_gpu);
  CHECK(on_cpu.device == "cpu");
  CHECK(on_cpu.dtype == DType::kF32);  // f16 is for GPUs
  CHECK(on_cpu.threads == 3);
  request.draft_device = "cuda:0";
  const LoadOptions to_gpu = draft_options(request, {.kv_dtype = DType::kBF16});
  CHECK(to_gpu.dtype == DType::kBF16);
  CHECK(!to_gpu.kv_dtype);
}

}  // namespace
}  // namespace triescope::app::test_device_choice

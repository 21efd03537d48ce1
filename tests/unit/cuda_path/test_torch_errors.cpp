// What a user reads where libtorch, CUDA or the memory gives up.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/kernels/aten.h"
#include "core/model/torch/torch_runtime.h"
#include "core/model/transformer.h"
#include "tests/support/refusal.h"
#include "tests/unit/cuda_path/little_allocator.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_torch_errors {
namespace {

const at::Device kGpu(at::kCUDA, 0);

std::string said(ErrorCode code, const std::string& text) {
  return refusal(code, [&] { with_torch_errors(kGpu, [&] { TORCH_CHECK(false, text); }); });
}

TEST_CASE("torch errors: CUDA's own say what to do where something can be done") {
  CHECK(said(ErrorCode::kCuda, "CUDA error: an illegal memory access was encountered\nmore") ==
        "libtorch on cuda:0: CUDA error: an illegal memory access was encountered; every further "
        "call on a GPU fails now: start triescope again, and report this with the output of "
        "`triescope check --json`");
  CHECK(said(ErrorCode::kCuda, "CUDA driver version is insufficient for CUDA runtime version")
            .ends_with("; install NVIDIA driver R580 or newer, which serves CUDA 13.0"));
  CHECK(said(ErrorCode::kCuda, "CUDA error: GPU is lost")
            .find("; the driver has lost the GPU: see `nvidia-smi`") != std::string::npos);
  CHECK(said(ErrorCode::kCuda, "CUDA error: invalid argument") ==
        "libtorch on cuda:0: CUDA error: invalid argument");
}

TEST_CASE("torch errors: memory that cuBLAS does not get is out of memory") {
  said(ErrorCode::kOutOfMemory,
       "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
}

TEST_CASE("torch errors: a forward without memory says how many rows, and the next one works") {
  const TempDir folder;
  write_golden_case("llama", folder.path());
  const std::string path = folder.path().string();
  LittleAllocator memory;
  const auto model = make_torch_transformer(*formats::WeightSource::open(path), inspect_model(path),
                                            {.threads = 1}, LayerSteps::kOperations, {}, {});
  const auto kv = model->make_kv(4);
  const std::vector<float> expected = all_logits(*model, *kv, {3, 1, 2, 5});
  memory.limit = 0;
  const std::string why = refusal(ErrorCode::kOutOfMemory, [&] {
    all_logits(*model, *kv, {3, 1, 2, 5});
  });
  CHECK(why.starts_with("no memory on cpu for a forward over 4 rows (refused "));
  CHECK(why.ends_with(
      "); take fewer beams or drafts, a shorter prompt, or a smaller model or dtype"));
  memory.limit = SIZE_MAX;
  CHECK(all_logits(*model, *kv, {3, 1, 2, 5}) == expected);
}

}  // namespace
}  // namespace triescope::test::test_torch_errors

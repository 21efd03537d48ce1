// The CUDA path's executor where the module with the kernels is missing: what it says, and that it
// computes the same. A program of its own, because a process looks for the module once.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/kernels/aten.h"
#include "core/model/memory_need.h"
#include "core/model/torch/kernel_check.h"
#include "core/model/torch/torch_matrix.h"
#include "core/model/transformer.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test {
namespace {

using formats::GgmlType;

const bool no_module =
    ::setenv("TRIESCOPE_CUDA_MODULE", "/nonexistent/libtriescope_cuda.so", /*overwrite=*/1) == 0;

constexpr const char* kReason =
    "no libtriescope_cuda.so beside the program (it is built wherever nvcc is found)";

TEST_CASE(
    "CUDA absent: without the CUDA module blocks are expanded on loading, with a warning that says why") {
  REQUIRE(no_module);
  const TempDir folder;
  const std::string path = (folder.path() / "model.gguf").string();
  const auto load = [&](LayerSteps steps) {
    ModelInfo info = inspect_model(path);
    info.dtype = DType::kBF16;
    return make_torch_transformer(*formats::WeightSource::open(path), info,
                                  {.dtype = DType::kBF16, .threads = 1}, steps, {}, {});
  };
  const auto logits = [](Model& model) {
    const auto kv = model.make_kv(4);
    return all_logits(model, *kv, {3, 1, 2});
  };
  const std::string layers =
      std::string(
          "layers run on libtorch's operations instead of the CUDA kernels, with the same result "
          "and more slowly: ") +
      kReason;
  std::ofstream(path, std::ios::binary) << llama_file(mixed_type, 401);
  const auto kernels = load(LayerSteps::kKernels), operations = load(LayerSteps::kOperations);
  CHECK(kernels->info().warning ==
        layers + "; the file's quantised matrices are expanded to bf16 on loading: " + kReason);
  CHECK(kernels->info().row_costs.cheap_rows == 33);
  CHECK(operations->info().warning.empty());
  CHECK(logits(*kernels) == logits(*operations));
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kBF16; }, 402);
  CHECK(load(LayerSteps::kKernels)->info().warning == layers);
}

TEST_CASE(
    "CUDA absent: without the CUDA module a matrix of blocks is refused, and the memory need is the dtype's") {
  const std::vector<TorchMatrix::Part> parts = {{4, GgmlType::kQ4_K}};
  CHECK(TorchMatrix::block_obstacle() == kReason);
  CHECK(check_row_summary(300, at::kFloat) == kReason);
  CHECK_THROWS_WITH_AS(TorchMatrix(parts, 256, at::TensorOptions(at::kFloat)),
                       (std::string("matrix of type Q4_K: ") + kReason).c_str(), Error);
  ModelInfo info;
  info.parameters = 1000;
  info.block_parameters = 900;
  info.block_bytes = 500;
  CHECK(!keeps_blocks({.device = "cuda"}));
  CHECK(keeps_blocks({}));
  CHECK(memory_need(info, {.device = "cuda"}).weights == 4000);
}

}  // namespace
}  // namespace triescope::test

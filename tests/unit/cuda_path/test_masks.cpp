// Mask rows on the path of a GPU, with the kernels' source on the CPU: what libtorch's operations give,
// in models with windows too (whose attention falls back), and rows of the text that know of no mask.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "core/kernels/cuda_module.h"
#include "core/model/transformer.h"
#include "tests/support/paths.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/mask_step.h"

namespace triescope::test::test_masks {
namespace {

// Before anything asks for the module.
const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

TEST_CASE("CUDA path: mask rows through the kernels are those of libtorch's operations") {
  REQUIRE(use_stand_in);
  for (const char* name : {"llama", "mistral", "gemma2", "gemma3", "gpt2", "phi3"})
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      const TempDir folder;
      write_golden_case(name, folder.path());
      const auto kernel = load_torch_model(folder.path().string(), dtype, LayerSteps::kKernels);
      const auto plain = load_torch_model(folder.path().string(), dtype, LayerSteps::kOperations);
      const MaskStep step(*kernel), other(*plain);
      const auto got = step.run(*kernel), want = other.run(*plain);
      for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(max_difference(got[i], want[i]) < (dtype == DType::kF32 ? 1e-4 : 0.3));
      }
      // Attention of a model without windows is the kernel's, with masks as without.
      if (std::string(name) != "llama" || dtype != DType::kF32) continue;
      MaskRowsBatch alone;
      for (const MaskRow& row : MaskStep::candidates()) alone.add(row);
      const ForwardOutput output = kernel->forward(alone.batch(step.text, {}), *step.kv);
      for (int i = 0; i < 2; ++i) {
        const auto row = output.row(i).whole();
        CHECK(std::memcmp(got[static_cast<std::size_t>(i)].data(), row.data(),
                          row.size() * sizeof(float)) == 0);
      }
    }
}

}  // namespace
}  // namespace triescope::test::test_masks

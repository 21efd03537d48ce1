// `triescope check` for the CUDA kernels on one GPU: each is compared with its CPU twin, which
// check_kernels() compares with libtorch in fp64.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/check/check.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/kernels/cuda_cases/kernel_case.h"

namespace triescope::app {
namespace {

using kernels::CudaModule;
using kernels::KernelCase;

CheckComparison compare(const KernelCase& one, const std::string& where, const CudaModule& module) {
  CheckComparison comparison{
      .where = where, .what = one.what, .difference = 0, .allowed = 0, .error = ""};
  try {
    kernels::CudaArrays arrays(module);
    const kernels::PlacedCase placed = one.place(arrays, module);
    if (const int code = placed.launch(); code != 0)
      throw Error(ErrorCode::kCuda, module.error_string(code));
    const kernels::Agreement found = placed.compare();
    const double largest = found.largest > 0 ? found.largest : 1;
    comparison.allowed = found.allowed / largest;
    comparison.difference = found.off / largest;
    if (!found.unequal.empty()) {
      comparison.allowed = 0;
      comparison.difference = 1;
    }
  } catch (const Error& error) {
    comparison.error = error.what();
  }
  return comparison;
}

std::vector<CheckComparison> compare_all(const CudaModule& module) {
  using formats::GgmlType;
  constexpr int kOutputs = 13, kInputs = 768;  // of a matrix
  constexpr std::array kProductRows = {1, 5, 16};
  Rng rng(13);
  std::vector<CheckComparison> found;
  const auto add = [&](const std::vector<KernelCase>& cases, int dtype) {
    for (const KernelCase& one : cases)
      found.push_back(compare(one, std::string("CUDA, ") + kernels::name_of_dtype(dtype), module));
  };
  kernels::LayerShapes shapes;
  shapes.embeddings = kernels::kernel_block_types();
  for (const int dtype : {kTriescopeF32, kTriescopeF16, kTriescopeBF16}) {
    add(kernels::layer_cases(shapes, dtype, rng), dtype);
    for (const GgmlType type : kernels::kernel_block_types())
      add(kernels::matrix_cases(type, kOutputs, kInputs, dtype, dtype, kProductRows, rng), dtype);
    if (dtype != kTriescopeF32)
      add(kernels::matrix_cases(dtype == kTriescopeF16 ? GgmlType::kF16 : GgmlType::kBF16, kOutputs,
                                kInputs, dtype, kTriescopeF32, kProductRows, rng),
          dtype);
  }
  add(kernels::logit_cases(shapes.rows, 8200, kTriescopeRowSummaryBest, rng), kTriescopeF32);
  return found;
}

}  // namespace

std::string cuda_kernels_obstacle() {
  const CudaModule& module = kernels::cuda_module();
  if (!module.available()) return module.reason;
  return module.device_count() > 0 ? "" : "no GPU answers";
}

std::vector<CheckComparison> check_cuda_kernels(int gpu) {
  if (!cuda_kernels_obstacle().empty()) return {};
  const CudaModule& module = kernels::cuda_module();
  int before = 0;
  if (const int code = module.use_device(gpu, &before); code != 0)
    return {{.where = "CUDA",
             .what = "kernels on cuda:" + std::to_string(gpu),
             .difference = 0,
             .allowed = 0,
             .error = module.error_string(code)}};
  std::vector<CheckComparison> found = compare_all(module);
  module.use_device(before, &gpu);
  return found;
}

}  // namespace triescope::app

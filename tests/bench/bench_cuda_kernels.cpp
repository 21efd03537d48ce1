// The CUDA kernels on the first GPU, over the shapes of a model of that width: those between a
// layer's products, those that compute from GGUF blocks, and those of the output head beside
// libtorch's operations (a product in bf16; logsumexp and topk). Microseconds a launch, and bytes a
// second that it reads and writes at least. A run of launches is timed as one, so a launch that
// takes less than the CPU needs for it shows the CPU.
//   make bench, or build/bench/bench_cuda_kernels [width of a layer] [launches]

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/kernels/aten.h"
#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/cuda_module.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope::kernels {
namespace {

class Bench {
 public:
  Bench(const CudaModule& module, int width, int launches)
      : module_(module), width_(width), launches_(launches) {}

  void run() {
    std::printf("%-40s %5s %10s %8s\n", "bf16", "rows", "us", "GB/s");
    using enum formats::GgmlType;
    for (const formats::GgmlType type : {kQ4_0, kQ8_0, kQ4_K, kQ6_K})
      for (const int rows : {1, 4, 8, 16}) time(matrix(type, width_, kTriescopeBF16, rows), rows);
    for (const int rows : {1, 9, 32}) time(layer_cases(layer(rows), kTriescopeBF16, rng_), rows);
    for (const int rows : {1, 4, 8, 16}) head(rows);
    for (const int k : {1, 16, int{kTriescopeRowSummaryBest}})
      for (const int rows : {1, 9, 32}) logits(rows, k);
  }

 private:
  void time(const std::vector<KernelCase>& cases, int rows) {
    for (const KernelCase& one : cases) {
      CudaArrays arrays(module_);
      const PlacedCase placed = one.place(arrays, module_);
      const void* const byte = arrays.room(1);
      time(one.what, rows, one.bytes, placed.launch, [&] { arrays.get(byte, 1); });
    }
  }

  // `wait` returns when the launches have ended.
  void time(const std::string& what, int rows, double bytes, const std::function<int()>& launch,
            const std::function<void()>& wait) const {
    const auto check = [&](int code) {
      if (code != 0) throw Error(ErrorCode::kCuda, module_.error_string(code));
    };
    for (int i = 0; i < 3; ++i) check(launch());
    wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches_; ++i) check(launch());
    wait();
    const double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count() /
        launches_;
    std::printf("%-40s %5d %10.2f %8.1f\n", what.c_str(), rows, us, bytes / us * 1e-3);
  }

  // What is timed beside a kernel, where libtorch has the GPU too.
  void by_libtorch(const std::string& what, int rows, double bytes,
                   const std::function<std::function<void()>(const at::Device&)>& work) {
    try {
      const at::Device device = open_device("cuda:0");
      on_device(device, [&] {
        const std::function<void()> launch = work(device);
        CudaArrays arrays(module_);
        const void* const byte = arrays.room(1);
        const auto launched = [&] {
          launch();
          return 0;
        };
        time("  " + what + " of libtorch", rows, bytes, launched, [&] { arrays.get(byte, 1); });
      });
    } catch (const Error& error) {
      std::printf("  libtorch: %s\n", error.what());
    }
  }

  std::vector<KernelCase> matrix(formats::GgmlType type, int outputs, int y_dtype, int rows) {
    const std::array counts = {rows};
    std::vector<KernelCase> cases =
        matrix_cases(type, outputs, width_, kTriescopeBF16, y_dtype, counts, rng_);
    // The rows of blocks do not depend on the number of rows of x.
    if (rows > 1)
      std::erase_if(cases,
                    [](const KernelCase& one) { return one.step == KernelStep::kBlockRows; });
    return cases;
  }

  // Heads of 128, four of q for one of k and v; an MLP of 3.5 times the width.
  LayerShapes layer(int rows) const {
    LayerShapes shapes;
    shapes.rows = rows;
    shapes.hidden = width_;
    shapes.intermediate = width_ / 2 * 7;
    shapes.layer_norms = {false};
    shapes.heads = std::max(4, width_ / 128 / 4 * 4);
    shapes.kv_heads = shapes.heads / 4;
    shapes.head_dim = 128;
    shapes.rope_dims = {128};
    shapes.prefix = 1024;
    shapes.activations = {kTriescopeSilu};
    return shapes;
  }

  // A dense output head in bf16, logits in fp32; libtorch's rounds them to bf16.
  void head(int rows) {
    constexpr int kVocab = 32768;
    const std::vector<KernelCase> cases =
        matrix(formats::GgmlType::kBF16, kVocab, kTriescopeF32, rows);
    time(cases, rows);
    by_libtorch("linear", rows, cases.front().bytes, [&](const at::Device& device) {
      const at::TensorOptions bf16 = at::TensorOptions(at::kBFloat16).device(device);
      const at::Tensor w = at::zeros({kVocab, width_}, bf16), x = at::zeros({rows, width_}, bf16);
      return [w, x] { at::linear(x, w); };
    });
  }

  // A vocabulary of 151936 in fp32.
  void logits(int rows, int k) {
    constexpr int kVocab = 151936;
    std::vector<KernelCase> cases = logit_cases(rows, kVocab, k, rng_);
    cases.erase(cases.begin());  // both parts are one launch
    time(cases, rows);
    by_libtorch("logsumexp and topk", rows, cases.front().bytes, [&](const at::Device& device) {
      const at::Tensor x = at::randn({rows, kVocab}, at::TensorOptions(at::kFloat)).to(device);
      return [x, k] {
        at::logsumexp(x, 1);
        at::topk(x, k, 1);
      };
    });
  }

  const CudaModule& module_;
  const int width_, launches_;
  Rng rng_{7};
};

}  // namespace
}  // namespace triescope::kernels

int main(int argc, char** argv) {
  using namespace triescope::kernels;
  const CudaModule& module = cuda_module();
  if (!module.available() || module.device_count() == 0) {
    std::printf("[SKIPPED] %s\n", module.available() ? "no GPU answers" : module.reason.c_str());
    return 0;
  }
  // Whole blocks of every type.
  const int width = argc > 1 ? std::max(1, std::atoi(argv[1]) / 256) * 256 : 4096;
  try {
    Bench(module, width, argc > 2 ? std::max(1, std::atoi(argv[2])) : 200).run();
  } catch (const triescope::Error& error) {
    std::printf("stopped: %s\n", error.what());
    return 1;
  }
  return 0;
}

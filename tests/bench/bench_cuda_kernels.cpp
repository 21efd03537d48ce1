// The CUDA kernels that compute from GGUF blocks, those between a layer's products, and those of the
// output head beside libtorch's operations (a product in bf16; logsumexp and topk), on the first GPU: microseconds a launch, and bytes
// a second that they read and write at least. A run of launches is timed as one, so a launch that takes
// less than the CPU needs for it shows the CPU.
//   make bench, or build/bench/bench_cuda_kernels [width of a layer] [launches]
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/files/random_blocks.h"
#include "core/kernels/cuda_module.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope::kernels {
namespace {

class Bench {
 public:
  Bench(const CudaModule& module, int width, int launches)
      : module_(module), width_(width), launches_(launches) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    for (void* array : arrays_) module_.free(array);
  }

  void run() {
    std::printf("%-34s %5s %10s %8s\n", "bf16", "rows", "us", "GB/s");
    using enum formats::GgmlType;
    for (const formats::GgmlType type : {kQ4_0, kQ8_0, kQ4_K, kQ6_K}) blocks(type);
    for (const int rows : {1, 9, 32}) between_products(rows);
    for (const int rows : {1, 4, 8, 16}) head(rows);
    for (const int k : {1, 16, int{kTriescopeRowSummaryBest}})
      for (const int rows : {1, 9, 32}) row_summary(rows, k);
  }

 private:
  // Zeros but where `bytes` says more.
  void* array(std::size_t size, const std::vector<std::byte>& bytes = {}) {
    void* made = nullptr;
    check(module_.allocate(&made, size));
    arrays_.push_back(made);
    const std::vector<std::byte> values = bytes.empty() ? std::vector<std::byte>(size) : bytes;
    check(module_.to_device(made, values.data(), size));
    return made;
  }
  void check(int code) const {
    if (code == 0) return;
    std::printf("stopped: %s\n", module_.error_string(code));
    std::exit(1);
  }
  void wait() {
    char byte = 0;
    check(module_.to_host(&byte, arrays_.front(), 1));
  }

  void time(const std::string& what, int rows, double bytes, const std::function<int()>& launch) {
    for (int i = 0; i < 3; ++i) check(launch());
    wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches_; ++i) check(launch());
    wait();
    const double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count() /
        launches_;
    std::printf("%-34s %5d %10.2f %8.1f\n", what.c_str(), rows, us, bytes / us * 1e-3);
  }

  // What is timed beside a kernel, where libtorch has the GPU too.
  void by_libtorch(const std::function<void(const at::Device&)>& work) {
    try {
      const at::Device device = open_device("cuda:0");
      on_device(device, [&] { work(device); });
    } catch (const Error& error) {
      std::printf("  libtorch: %s\n", error.what());
    }
  }

  void blocks(formats::GgmlType type) {
    Rng rng(7);
    const auto stored = formats::random_rows(type, width_, width_, rng);
    const std::string name = formats::to_string(type);
    const auto bytes = static_cast<double>(stored.size());
    const std::size_t values = static_cast<std::size_t>(width_) * static_cast<std::size_t>(width_);
    TriescopeBlockLinear linear = {};
    linear.blocks = array(stored.size(), stored);
    linear.type = static_cast<std::int32_t>(type);
    linear.outputs = linear.inputs = width_;
    linear.x_stride = linear.y_stride = width_;
    linear.x_dtype = linear.y_dtype = kTriescopeBF16;
    linear.x = array(static_cast<std::size_t>(2 * width_) * kTriescopeBlockLinearRows);
    linear.y = array(static_cast<std::size_t>(2 * width_) * kTriescopeBlockLinearRows);
    for (const int rows : {1, 4, 8, 16}) {
      linear.rows = rows;
      time("linear, " + name, rows, bytes, [&] { return module_.block_linear(&linear, nullptr); });
    }
    TriescopeBlockRows rows = {};
    rows.blocks = linear.blocks;
    rows.type = linear.type;
    rows.rows = rows.inputs = width_;
    rows.dtype = kTriescopeBF16;
    rows.out = array(2 * values);
    rows.out_stride = width_;
    time("rows of blocks, " + name, width_, bytes + 2.0 * static_cast<double>(values),
         [&] { return module_.block_rows(&rows, nullptr); });
  }

  // A dense output head in bf16, logits in fp32; libtorch's rounds them to bf16.
  void head(int rows) {
    constexpr int kVocab = 32768;
    const std::size_t values = static_cast<std::size_t>(kVocab) * static_cast<std::size_t>(width_);
    const double bytes = 2.0 * static_cast<double>(values);
    TriescopeBlockLinear call = {};
    call.blocks = array(2 * values);
    call.type = static_cast<std::int32_t>(formats::GgmlType::kBF16);
    call.outputs = kVocab;
    call.inputs = width_;
    call.rows = rows;
    call.x = array(static_cast<std::size_t>(2 * width_) * static_cast<std::size_t>(rows));
    call.x_stride = width_;
    call.x_dtype = kTriescopeBF16;
    call.y_dtype = kTriescopeF32;
    call.y = array(std::size_t{4} * kVocab * static_cast<std::size_t>(rows));
    call.y_stride = kVocab;
    time("output head", rows, bytes, [&] { return module_.block_linear(&call, nullptr); });
    by_libtorch([&](const at::Device& device) {
      const at::TensorOptions bf16 = at::TensorOptions(at::kBFloat16).device(device);
      const at::Tensor w = at::zeros({kVocab, width_}, bf16), x = at::zeros({rows, width_}, bf16);
      time("  linear of libtorch", rows, bytes, [&] {
        at::linear(x, w);
        return 0;
      });
    });
  }

  // Heads of 128, four of q for one of k and v; an MLP of 3.5 times the width.
  void between_products(int rows) {
    const auto size = [&](int values) {
      return static_cast<std::size_t>(2 * rows) * static_cast<std::size_t>(values);
    };
    TriescopeAddNorm norm = {};
    norm.x = array(size(width_));
    norm.h = array(size(width_));
    norm.out = array(size(width_));
    norm.weight = static_cast<float*>(array(4 * static_cast<std::size_t>(width_)));
    norm.rows = rows;
    norm.dim = width_;
    norm.eps = 1e-5f;
    norm.dtype = kTriescopeBF16;
    time("add and norm", rows, 4.0 * static_cast<double>(size(width_)),
         [&] { return module_.add_norm(&norm, nullptr); });

    TriescopeSplitQkv split = {};
    split.heads = std::max(4, width_ / 128);
    split.kv_heads = split.heads / 4;
    split.head_dim = split.rope_dims = 128;
    const int query = split.heads * 128, kv = split.kv_heads * 128;
    std::vector<std::byte> slots(4 * static_cast<std::size_t>(rows));
    for (int r = 0; r < rows; ++r) slots[4 * static_cast<std::size_t>(r)] = std::byte(r);
    split.qkv = array(size(query + 2 * kv));
    split.keys = array(size(kv));
    split.values = array(size(kv));
    split.slots = static_cast<std::int32_t*>(array(slots.size(), slots));
    split.cos = static_cast<float*>(array(size(128)));
    split.sin = static_cast<float*>(array(size(128)));
    split.rows = rows;
    split.dtype = kTriescopeBF16;
    time("split of q, k and v", rows, 2.0 * static_cast<double>(size(query + 2 * kv)),
         [&] { return module_.split_qkv(&split, nullptr); });

    TriescopeGatedActivation act = {};
    act.dim = width_ / 2 * 7;
    act.in = array(size(2 * act.dim));
    act.out = array(size(act.dim));
    act.rows = rows;
    act.gated = 1;
    act.kind = kTriescopeSilu;
    act.dtype = kTriescopeBF16;
    time("gated SiLU", rows, 3.0 * static_cast<double>(size(act.dim)),
         [&] { return module_.gated_activation(&act, nullptr); });
  }

  // A vocabulary of 151936 in fp32.
  void row_summary(int rows, int k) {
    constexpr int kVocab = 151936;
    const std::string best = ", " + std::to_string(k) + " best";
    const std::size_t values = static_cast<std::size_t>(rows) * kVocab,
                      found = static_cast<std::size_t>(rows) * static_cast<std::size_t>(k);
    Rng rng(9);
    std::vector<float> logits(values);
    for (float& v : logits) v = static_cast<float>(24 * rng.uniform() - 12);
    std::vector<std::byte> stored(4 * values);
    std::memcpy(stored.data(), logits.data(), stored.size());
    const auto bytes = static_cast<double>(stored.size());
    TriescopeRowSummary call = {};
    call.x = static_cast<float*>(array(stored.size(), stored));
    call.row_stride = call.count = kVocab;
    call.rows = rows;
    call.k = k;
    call.log_sum = static_cast<float*>(array(4 * static_cast<std::size_t>(rows)));
    call.values = static_cast<float*>(array(4 * found));
    call.tokens = static_cast<std::int32_t*>(array(4 * found));
    call.scratch_bytes = module_.row_summary_scratch(rows, kVocab, k);
    call.scratch = array(call.scratch_bytes);
    time("row summary" + best, rows, bytes, [&] { return module_.row_summary(&call, nullptr); });
    by_libtorch([&](const at::Device& device) {
      const at::Tensor x = at::tensor(logits).reshape({rows, kVocab}).to(device);
      time("  logsumexp and topk of libtorch", rows, bytes, [&] {
        at::logsumexp(x, 1);
        at::topk(x, k, 1);
        return 0;
      });
    });
  }

  const CudaModule& module_;
  const int width_, launches_;
  std::vector<void*> arrays_;
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
  Bench(module, width, argc > 2 ? std::max(1, std::atoi(argv[2])) : 200).run();
  return 0;
}

// `triescope check` for the CUDA kernels on one GPU: each is compared with libtorch in fp64 on the
// same rounded numbers.
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "app/check/check.h"
#include "app/check/difference.h"
#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/files/half.h"
#include "core/files/random_blocks.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/linear.h"
#include "core/kernels/reference.h"

namespace triescope::app {
namespace {

using Values = std::vector<float>;
using kernels::CudaModule;

constexpr std::array kDTypes = {kTriescopeF32, kTriescopeF16, kTriescopeBF16};
constexpr std::int32_t kRows = 5;

const char* name_of(int dtype) {
  return dtype == kTriescopeF32 ? "f32" : dtype == kTriescopeF16 ? "f16" : "bf16";
}

std::size_t size_of(int dtype) { return dtype == kTriescopeF32 ? 4 : 2; }

// The allowed difference of a result that is rounded to the dtype a few times.
double allowed(int dtype, double fp32) {
  return dtype == kTriescopeF32 ? fp32 : dtype == kTriescopeF16 ? 2e-3 : 1.6e-2;
}

// The device's memory for one comparison.
class DeviceArrays {
 public:
  explicit DeviceArrays(const CudaModule& module) : module_(module) {}
  DeviceArrays(const DeviceArrays&) = delete;
  DeviceArrays& operator=(const DeviceArrays&) = delete;
  ~DeviceArrays() {
    for (void* array : arrays_) module_.free(array);
  }

  void* room(std::size_t bytes) {
    void* array = nullptr;
    check(module_.allocate(&array, (bytes + 15) / 16 * 16));
    arrays_.push_back(array);
    return array;
  }
  template <class T>
  T* put(const std::vector<T>& values) {
    void* array = room(values.size() * sizeof(T));
    check(module_.to_device(array, values.data(), values.size() * sizeof(T)));
    return static_cast<T*>(array);
  }
  // Numbers of a dtype between -1 and 1, none of them tiny, and their exact values.
  void* numbers(std::size_t count, int dtype, Rng& rng, Values& values) {
    values.resize(count);
    if (dtype == kTriescopeF32) {
      for (float& v : values) v = static_cast<float>(2 * rng.uniform() - 1);
      return put(values);
    }
    std::vector<std::uint16_t> bits(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t drawn = rng.next() >> 40;
      const auto sign_and_fraction = static_cast<std::uint16_t>(drawn & 0x83ffu);
      if (dtype == kTriescopeF16) {
        bits[i] = static_cast<std::uint16_t>(sign_and_fraction | (11 + (drawn >> 20) % 4) << 10);
        values[i] = formats::f16_to_float(bits[i]);
      } else {
        bits[i] = static_cast<std::uint16_t>((sign_and_fraction & 0x807fu) |
                                             (123 + (drawn >> 20) % 4) << 7);
        values[i] = bf16_to_float(bits[i]);
      }
    }
    return put(bits);
  }
  Values get(const void* array, std::size_t count, int dtype) const {
    std::vector<std::byte> bytes(count * size_of(dtype));
    check(module_.to_host(bytes.data(), array, bytes.size()));
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (dtype == kTriescopeF32) {
        std::memcpy(&values[i], bytes.data() + 4 * i, 4);
        continue;
      }
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      values[i] = dtype == kTriescopeF16 ? formats::f16_to_float(bits) : bf16_to_float(bits);
    }
    return values;
  }
  void check(int code) const {
    if (code != 0) throw Error(ErrorCode::kCuda, module_.error_string(code));
  }

 private:
  const CudaModule& module_;
  std::vector<void*> arrays_;
};

class CudaChecks {
 public:
  explicit CudaChecks(const CudaModule& module) : module_(module) {}

  std::vector<Comparison> run() {
    for (const int dtype : kDTypes) {
      where_ = std::string("CUDA, ") + name_of(dtype);
      for (const bool layer : {false, true}) norm(dtype, layer);
      dense_embedding(dtype);
      split(dtype);
      activations(dtype);
      attention(dtype);
      for (const formats::GgmlType type : kernels::PackedLinear::types())
        if (formats::block_elements(type) > 1) blocks(random_matrix(type), dtype);
      if (dtype == kTriescopeF16)
        linear(random_matrix(formats::GgmlType::kF16), dtype, kTriescopeF32);
      if (dtype == kTriescopeBF16)
        linear(random_matrix(formats::GgmlType::kBF16), dtype, kTriescopeF32);
    }
    where_ = "CUDA, f32";
    row_summary();
    return std::move(found_);
  }

 private:
  // Adds what `difference` returns; what it throws is the reason why there is no comparison.
  void add(const std::string& what, double most,
           const std::function<double(DeviceArrays&)>& difference) {
    Comparison one{.where = where_, .what = what, .difference = 0, .allowed = most, .error = ""};
    try {
      DeviceArrays arrays(module_);
      one.difference = difference(arrays);
    } catch (const Error& error) {
      one.error = error.what();
    }
    found_.push_back(std::move(one));
  }

  void norm(int dtype, bool layer) {
    add(layer ? "add and layer norm" : "add and RMS norm", allowed(dtype, 1e-5),
        [&](DeviceArrays& on) {
          constexpr std::int32_t kDim = 200;
          constexpr std::size_t kCount = kRows * kDim;
          Values x, h, weight, bias;
          TriescopeAddNorm call = {};
          call.x = on.numbers(kCount, dtype, rng_, x);
          call.h = on.numbers(kCount, dtype, rng_, h);
          call.weight = static_cast<float*>(on.numbers(kDim, kTriescopeF32, rng_, weight));
          if (layer) call.bias = static_cast<float*>(on.numbers(kDim, kTriescopeF32, rng_, bias));
          call.out = on.room(kCount * size_of(dtype));
          call.rows = kRows;
          call.dim = kDim;
          call.eps = 1e-5f;
          call.layer_norm = layer;
          call.dtype = dtype;
          on.check(module_.add_norm(&call, nullptr));
          // The kernel's own rounded stream, which is first compared with the sum.
          const Values stream = on.get(call.x, kCount, dtype);
          for (std::size_t i = 0; i < kCount; ++i) x[i] += h[i];
          const Values expected =
              layer ? kernels::layer_norm_ref(stream.data(), kRows, kDim, weight.data(),
                                              bias.data(), call.eps)
                    : kernels::rms_norm_ref(stream.data(), kRows, kDim, weight.data(), call.eps,
                                            false);
          return std::max(relative_difference(stream, x),
                          relative_difference(on.get(call.out, kCount, dtype), expected));
        });
  }

  // For rows of an embedding E, dense or in blocks; `values` holds it as fp32. The kernel's rounded
  // stream is compared with the rows, and what is normalised with the stream.
  double embedding(DeviceArrays& on, int dtype, const void* table, std::int32_t type,
                   const Values& values, std::int32_t dim) {
    const std::vector<std::int32_t> ids = {2, 0, 7, 2, 5};
    Values weight, rows;
    TriescopeEmbedNorm call = {};
    call.table = table;
    call.type = type;
    call.ids = on.put(ids);
    call.scale = 1;
    call.weight =
        static_cast<float*>(on.numbers(static_cast<std::size_t>(dim), kTriescopeF32, rng_, weight));
    const std::size_t count = ids.size() * static_cast<std::size_t>(dim);
    call.x = on.room(count * size_of(dtype));
    call.out = on.room(count * size_of(dtype));
    call.rows = static_cast<std::int32_t>(ids.size());
    call.dim = dim;
    call.eps = 1e-5f;
    call.dtype = dtype;
    on.check(module_.embed_norm(&call, nullptr));
    for (const std::int32_t id : ids)
      rows.insert(rows.end(), values.begin() + std::ptrdiff_t{id} * dim,
                  values.begin() + std::ptrdiff_t{id + 1} * dim);
    const Values stream = on.get(call.x, count, dtype);
    return std::max(relative_difference(stream, rows),
                    relative_difference(on.get(call.out, count, dtype),
                                        kernels::rms_norm_ref(stream.data(), call.rows, dim,
                                                              weight.data(), call.eps, false)));
  }

  void dense_embedding(int dtype) {
    add("embedding and RMS norm", allowed(dtype, 1e-5), [&](DeviceArrays& on) {
      constexpr std::int32_t kVocab = 8, kDim = 200;
      Values values;
      const void* table = on.numbers(std::size_t{kVocab} * kDim, dtype, rng_, values);
      return embedding(on, dtype, table, -1, values, kDim);
    });
  }

  void split(int dtype) {
    add("rotary positions of q", allowed(dtype, 1e-5), [&](DeviceArrays& on) {
      constexpr std::int32_t kHeads = 3, kHeadDim = 64, kParts = kHeads + 2;
      constexpr std::size_t kCount = kRows * kParts * kHeadDim, kKv = kRows * kHeadDim;
      Values qkv, cos, sin;
      TriescopeSplitQkv call = {};
      call.qkv = on.numbers(kCount, dtype, rng_, qkv);
      call.keys = on.room(kKv * size_of(dtype));
      call.values = on.room(kKv * size_of(dtype));
      std::vector<std::int32_t> slots = {3, 0, 4, 1, 2};
      call.slots = on.put(slots);
      call.cos = static_cast<float*>(on.numbers(kKv / 2, kTriescopeF32, rng_, cos));
      call.sin = static_cast<float*>(on.numbers(kKv / 2, kTriescopeF32, rng_, sin));
      call.rows = kRows;
      call.heads = kHeads;
      call.kv_heads = 1;
      call.head_dim = call.rope_dims = kHeadDim;
      call.dtype = dtype;
      on.check(module_.split_qkv(&call, nullptr));
      // All heads rotated by the reference: q is compared with them, and k in its slots. v stays as
      // it was.
      const Values rotated =
          kernels::rope_ref(qkv.data(), kRows, kParts, kHeadDim, kHeadDim, cos.data(), sin.data());
      const Values q = on.get(call.qkv, kCount, dtype), k = on.get(call.keys, kKv, dtype),
                   v = on.get(call.values, kKv, dtype);
      Values found, expected;
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t row = r * kParts * kHeadDim;
        const auto slot = static_cast<std::size_t>(slots[r]) * kHeadDim;
        for (std::size_t i = 0; i < kHeads * kHeadDim; ++i) {
          found.push_back(q[row + i]);
          expected.push_back(rotated[row + i]);
        }
        for (std::size_t i = 0; i < kHeadDim; ++i) {
          found.insert(found.end(), {k[slot + i], v[slot + i]});
          expected.insert(expected.end(), {rotated[row + kHeads * kHeadDim + i],
                                           qkv[row + (kHeads + 1) * kHeadDim + i]});
        }
      }
      return relative_difference(found, expected);
    });
  }

  void activations(int dtype) {
    for (const auto& [kind, of, name] :
         {std::tuple{kTriescopeSilu, kernels::ActivationKind::kSilu, "gated SiLU"},
          {kTriescopeGeluTanh, kernels::ActivationKind::kGeluTanh, "gated GELU (tanh)"},
          {kTriescopeGelu, kernels::ActivationKind::kGelu, "gated GELU"}}) {
      const auto reference = of;
      const int number = kind;
      add(name, allowed(dtype, 1e-5), [&](DeviceArrays& on) {
        constexpr std::int32_t kDim = 200;
        Values in;
        TriescopeGatedActivation call = {};
        call.in = on.numbers(2 * kDim, dtype, rng_, in);  // one row: gate, then up
        call.out = on.room(kDim * size_of(dtype));
        call.rows = 1;
        call.dim = kDim;
        call.gated = 1;
        call.kind = number;
        call.dtype = dtype;
        on.check(module_.gated_activation(&call, nullptr));
        return relative_difference(
            on.get(call.out, kDim, dtype),
            kernels::gated_activation_ref(reference, in.data(), in.data() + kDim, kDim));
      });
    }
  }

  // Five rows over a prefix of 150 slots, three of which share one more.
  void attention(int dtype) {
    add("tree attention, 150 slots and a tree of 5 rows", allowed(dtype, 1e-4),
        [&](DeviceArrays& on) {
          constexpr kernels::AttentionShape kShape{
              .heads = 6, .kv_heads = 2, .head_dim = 64, .scale = 0.125f};
          constexpr std::int32_t kSlots = 160, kLongest = 152;
          constexpr std::size_t kQ = kRows * 6 * 64, kKv = kSlots * 2 * 64;
          Values q, keys, values;
          TriescopeTreeAttention call = {};
          call.q = on.numbers(kQ, dtype, rng_, q);
          call.keys = on.numbers(kKv, dtype, rng_, keys);
          call.values = on.numbers(kKv, dtype, rng_, values);
          call.out = on.room(kQ * size_of(dtype));
          call.q_stride = call.out_stride = 6 * 64;
          std::vector<std::int32_t> prefix(150);
          std::iota(prefix.begin(), prefix.end(), 0);
          const std::vector<std::int32_t> own = {150, 150, 151, 150, 152, 150, 153, 154},
                                          offsets = {0, 1, 3, 5, 7, 8};
          call.prefix = on.put(prefix);
          call.own = on.put(own);
          call.offsets = on.put(offsets);
          call.prefix_count = 150;
          call.longest = kLongest;
          call.rows = kRows;
          call.heads = kShape.heads;
          call.kv_heads = kShape.kv_heads;
          call.head_dim = kShape.head_dim;
          call.scale = kShape.scale;
          call.dtype = dtype;
          call.scratch_bytes =
              module_.tree_attention_scratch(kRows, kShape.heads, kShape.head_dim, kLongest);
          call.scratch = call.scratch_bytes > 0 ? on.room(call.scratch_bytes) : nullptr;
          on.check(module_.tree_attention(&call, nullptr));
          return relative_difference(
              on.get(call.out, kQ, dtype),
              kernels::tree_attention_ref(q.data(), kRows, keys.data(), values.data(), kSlots,
                                          kShape,
                                          {.prefix = prefix, .own = own, .offsets = offsets}));
        });
  }

  static constexpr std::int32_t kOutputs = 13, kInputs = 768;  // of a matrix

  struct Matrix {
    formats::GgmlType type;
    std::vector<std::byte> stored;
    Values weights;
    std::string name;  // the type's name
  };
  Matrix random_matrix(formats::GgmlType type) {
    std::vector<std::byte> stored = formats::random_rows(type, kOutputs, kInputs, rng_);
    Values weights = formats::dequantised(type, stored);
    return {type, std::move(stored), std::move(weights), formats::to_string(type)};
  }

  void blocks(const Matrix& matrix, int dtype) {
    const auto& [type, stored, weights, name] = matrix;
    // In fp32 the bits of formats::dequantise; else those values rounded once.
    add("rows of " + name + " blocks", dtype == kTriescopeF32 ? 0 : allowed(dtype, 0),
        [&](DeviceArrays& on) {
          TriescopeBlockRows call = {};
          call.blocks = on.put(stored);
          call.type = static_cast<std::int32_t>(type);
          call.rows = kOutputs;
          call.inputs = kInputs;
          call.dtype = dtype;
          call.out = on.room(weights.size() * size_of(dtype));
          call.out_stride = kInputs;
          on.check(module_.block_rows(&call, nullptr));
          return relative_difference(on.get(call.out, weights.size(), dtype), weights);
        });
    add("embedding and RMS norm, " + name, allowed(dtype, 1e-5), [&](DeviceArrays& on) {
      return embedding(on, dtype, on.put(stored), static_cast<std::int32_t>(type), weights,
                       kInputs);
    });
    linear(matrix, dtype, dtype);
  }

  // A matrix in blocks, or a dense one in the dtype of x.
  void linear(const Matrix& matrix, int dtype, int y_dtype) {
    const auto& [type, stored, weights, name] = matrix;
    for (const std::int32_t rows : {1, 5, 16}) {
      add("linear, " + name + ", " + std::to_string(rows) + (rows == 1 ? " row" : " rows"),
          allowed(y_dtype, 1e-5), [&](DeviceArrays& on) {
            const std::size_t count = static_cast<std::size_t>(rows) * kOutputs;
            Values x;
            TriescopeBlockLinear call = {};
            call.blocks = on.put(stored);
            call.type = static_cast<std::int32_t>(type);
            call.outputs = kOutputs;
            call.inputs = kInputs;
            call.rows = rows;
            call.x = on.numbers(static_cast<std::size_t>(rows) * kInputs, dtype, rng_, x);
            call.x_stride = kInputs;
            call.x_dtype = dtype;
            call.y_dtype = y_dtype;
            call.y = on.room(count * size_of(y_dtype));
            call.y_stride = kOutputs;
            on.check(module_.block_linear(&call, nullptr));
            return relative_difference(
                on.get(call.y, count, y_dtype),
                kernels::linear_ref(weights.data(), nullptr, x.data(), rows, kOutputs, kInputs));
          });
    }
  }

  // Logits that are rounded to bf16, so that many are equal, in two parts and a piece.
  void row_summary() {
    constexpr std::int32_t kCount = 8200, kBest = kTriescopeRowSummaryBest;
    constexpr std::size_t kTokens = std::size_t{kRows} * kCount,
                          kFound = std::size_t{kRows} * kBest;
    Values x;
    const auto launch = [&](DeviceArrays& on) {
      on.numbers(kTokens, kTriescopeBF16, rng_, x);
      TriescopeRowSummary call = {};
      call.x = on.put(x);
      call.row_stride = call.count = kCount;
      call.rows = kRows;
      call.k = kBest;
      call.log_sum = static_cast<float*>(on.room(kRows * sizeof(float)));
      call.values = static_cast<float*>(on.room(kFound * sizeof(float)));
      call.tokens = static_cast<std::int32_t*>(on.room(kFound * sizeof(std::int32_t)));
      call.scratch_bytes = module_.row_summary_scratch(kRows, kCount, kBest);
      call.scratch = on.room(call.scratch_bytes);
      on.check(module_.row_summary(&call, nullptr));
      return call;
    };
    add("log-sum-exp of logits", 1e-6, [&](DeviceArrays& on) {
      const TriescopeRowSummary call = launch(on);
      Values expected;
      for (std::size_t at = 0; at < kTokens; at += kCount)
        expected.push_back(x[at] - kernels::log_softmax_ref(x.data() + at, kCount)[0]);
      return relative_difference(on.get(call.log_sum, kRows, kTriescopeF32), expected);
    });
    add("the 64 best of logits", 0, [&](DeviceArrays& on) {
      const TriescopeRowSummary call = launch(on);
      const Values values = on.get(call.values, kFound, kTriescopeF32);
      std::vector<std::int32_t> tokens(kFound);
      on.check(module_.to_host(tokens.data(), call.tokens, kFound * sizeof(std::int32_t)));
      std::size_t at = 0;
      for (std::size_t row = 0; row < kRows; ++row)
        for (const auto& best : kernels::top_k_ref(x.data() + row * kCount, kCount, kBest)) {
          if (best != std::pair(values[at], tokens[at])) return 1.0;
          ++at;
        }
      return 0.0;
    });
  }

  const CudaModule& module_;
  Rng rng_{13};
  std::string where_;
  std::vector<Comparison> found_;
};

}  // namespace

std::string cuda_kernels_obstacle() {
  const CudaModule& module = kernels::cuda_module();
  if (!module.available()) return module.reason;
  return module.device_count() > 0 ? "" : "no GPU answers";
}

std::vector<Comparison> check_cuda_kernels(int gpu) {
  if (!cuda_kernels_obstacle().empty()) return {};
  const CudaModule& module = kernels::cuda_module();
  int before = 0;
  if (const int code = module.use_device(gpu, &before); code != 0)
    return {{.where = "CUDA",
             .what = "kernels on cuda:" + std::to_string(gpu),
             .difference = 0,
             .allowed = 0,
             .error = module.error_string(code)}};
  std::vector<Comparison> found = CudaChecks(module).run();
  module.use_device(before, &gpu);
  return found;
}

}  // namespace triescope::app

#include "core/kernels/linear.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

static_assert(kLinearChain == PackedLinear::kChain);

float widen(float v) { return v; }
float widen(std::uint16_t v) { return bf16_to_float(v); }

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<To, float>) {
    return widen(v);
  } else {
    return float_to_bf16(widen(v));
  }
}

// Vectors of 16 bytes; two of them interleaved, their first or their second halves.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  static constexpr int kCount = 4;
  using Vector [[gnu::vector_size(16)]] = float;
  static Vector low(Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
  static Vector high(Vector a, Vector b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
};
template <>
struct Lanes<std::uint16_t> {
  static constexpr int kCount = 8;
  using Vector [[gnu::vector_size(16)]] = std::uint16_t;
  static Vector low(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  }
  static Vector high(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  }
};

// A square of kCount rows transposed: out[j * out_stride + i] = in[i * in_stride + j]. Rows i and
// i + kCount / 2 are interleaved, log2(kCount) times over.
template <class T>
void transpose(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride) {
  using L = Lanes<T>;
  constexpr int kCount = L::kCount;
  typename L::Vector rows[kCount], next[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(&rows[i], in + i * in_stride, sizeof rows[i]);
#pragma GCC unroll 4
  for (int width = 1; width < kCount; width *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kCount / 2; ++i) {
      next[2 * i] = L::low(rows[i], rows[i + kCount / 2]);
      next[2 * i + 1] = L::high(rows[i], rows[i + kCount / 2]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 8
  for (int j = 0; j < kCount; ++j) std::memcpy(out + j * out_stride, &rows[j], sizeof rows[j]);
}

// Source rows [begin, end) of a chunk that starts at output `first`, into their panels. By blocks
// of k: the panel's rows of a block stay in the first-level cache while all 32 outputs are written
// into it.
template <class To, class From>
void pack_rows(std::int64_t first, std::int64_t begin, std::int64_t end, const From* rows,
               std::int64_t k, To* out) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel, kBlock = 64;
  while (begin < end) {
    const std::int64_t n = first + begin;
    const std::int64_t stop = std::min(end, begin + kPanel - n % kPanel);
    To* panel = out + n / kPanel * k * kPanel;
    for (std::int64_t k0 = 0; k0 < k; k0 += kBlock) {
      const std::int64_t k1 = std::min(k, k0 + kBlock);
      std::int64_t i = begin;
      if constexpr (std::is_same_v<To, From>) {
        constexpr int kCount = Lanes<To>::kCount;
        for (; i + kCount <= stop && k1 - k0 == kBlock; i += kCount)
          for (std::int64_t j = k0; j < k1; j += kCount)
            transpose(rows + i * k + j, k, panel + j * kPanel + (first + i) % kPanel, kPanel);
      }
      for (; i < stop; ++i) {
        const From* row = rows + i * k;
        To* column = panel + (first + i) % kPanel;
        for (std::int64_t j = k0; j < k1; ++j) column[j * kPanel] = convert<To>(row[j]);
      }
    }
    begin = stop;
  }
}

void check_range(const char* what, std::int64_t first, std::int64_t count, std::int64_t outputs) {
  if (first >= 0 && count >= 0 && first + count <= outputs) return;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + ": expected rows within [0, " +
                                               std::to_string(outputs) + "), found [" +
                                               std::to_string(first) + ", " +
                                               std::to_string(first + count) + ")");
}

}  // namespace

PackedLinear::PackedLinear(std::int64_t outputs, std::int64_t inputs, Precision precision)
    : outputs_(outputs), inputs_(inputs), precision_(precision) {
  if (outputs < 1 || inputs < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "linear layer: expected at least one output and one input, found " +
                    std::to_string(outputs) + " x " + std::to_string(inputs));
  }
  weights_ =
      Buffer(static_cast<std::size_t>(panels() * kPanel * inputs) * element_bytes(precision));
}

template <class Source>
void PackedLinear::pack(std::int64_t first, std::int64_t count, const Source* rows,
                        ThreadPool& pool) {
  check_range("PackedLinear::set_rows", first, count, outputs_);
  // Shares end at panel boundaries, so that no two threads write into one cache line.
  const std::int64_t first_panel = first / kPanel,
                     panel_count = (first + count + kPanel - 1) / kPanel - first_panel;
  pool.for_ranges(panel_count, [&](std::int64_t p0, std::int64_t p1, int) {
    const std::int64_t begin = std::max<std::int64_t>(0, (first_panel + p0) * kPanel - first);
    const std::int64_t end = std::min(count, (first_panel + p1) * kPanel - first);
    if (precision_ == Precision::kF32) {
      pack_rows(first, begin, end, rows, inputs_, weights_.as<float>());
    } else {
      pack_rows(first, begin, end, rows, inputs_, weights_.as<std::uint16_t>());
    }
  });
}

void PackedLinear::set_rows(std::int64_t first, std::int64_t count, const float* rows,
                            ThreadPool& pool) {
  pack(first, count, rows, pool);
}

void PackedLinear::set_rows_bf16(std::int64_t first, std::int64_t count, const std::uint16_t* rows,
                                 ThreadPool& pool) {
  pack(first, count, rows, pool);
}

void PackedLinear::set_bias(std::int64_t first, std::int64_t count, const float* bias) {
  check_range("PackedLinear::set_bias", first, count, outputs_);
  if (bias_.empty()) bias_ = Buffer(static_cast<std::size_t>(panels() * kPanel) * sizeof(float));
  std::memcpy(bias_.as<float>() + first, bias, static_cast<std::size_t>(count) * sizeof(float));
}

void PackedLinear::read_row(std::int64_t n, float* out) const {
  check_range("PackedLinear::read_row", n, 1, outputs_);
  const std::int64_t at = n / kPanel * inputs_ * kPanel + n % kPanel;
  for (std::int64_t k = 0; k < inputs_; ++k) {
    const std::int64_t i = at + k * kPanel;
    out[k] = precision_ == Precision::kF32 ? weights_.as<const float>()[i]
                                           : bf16_to_float(weights_.as<const std::uint16_t>()[i]);
  }
}

void linear(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            float* y, std::int64_t y_stride, ThreadPool& pool, LinearMode mode) {
  if (rows <= 0) return;
  const LinearCall call{.weights = w.weights(),
                        .precision = w.precision(),
                        .bias = w.bias(),
                        .x = x,
                        .x_stride = x_stride,
                        .rows = rows,
                        .k = w.inputs(),
                        .outputs = w.outputs(),
                        .y = y,
                        .y_stride = y_stride,
                        .add = mode == LinearMode::kAdd};
  const CpuKernels& kernels = cpu_kernels();  // asked here: workers have a choice of their own
  pool.for_ranges(w.panels(), [&](std::int64_t begin, std::int64_t end, int) {
    kernels.linear_panels(call, begin, end);
  });
}

}  // namespace triescope::kernels

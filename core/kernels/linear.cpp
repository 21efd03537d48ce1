#include "core/kernels/linear.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/kernels/cpu/blocks.h"
#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/table.h"
#include "core/kernels/linear_run.h"

namespace triescope::kernels {

namespace {

static_assert(kLinearChain == PackedLinear::kChain);

float widen(float v) { return v; }
float widen(std::uint16_t v) { return bf16_to_float(v); }

template <class To, class From>
To convert(From v) {
  if constexpr (sizeof(To) == sizeof(From)) {
    return v;
  } else if constexpr (std::is_same_v<To, float>) {
    return widen(v);
  } else {
    return float_to_bf16(widen(v));
  }
}

// Vectors of 16 bytes: two of them interleaved, either their first or their second halves.
template <class T>
struct Lanes;
template <class T>
requires(sizeof(T) == 4) struct Lanes<T> {
  static constexpr int kCount = 4;
  using Vector [[gnu::vector_size(16)]] = T;
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

// Transposes a square of kCount rows: out[j * out_stride + i] = in[i * in_stride + j]. Rows i and i
// + kCount / 2 are interleaved, log2(kCount) times in a row.
template <class T>
void transpose(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride) {
  using L = Lanes<T>;
  constexpr int kCount = L::kCount;
  typename L::Vector rows[kCount], next[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) std::memcpy(&rows[i], in + i * in_stride, sizeof rows[i]);
#pragma GCC unroll 4
  for (int width = 1; width < kCount; width *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kCount / 2; ++i) {
      next[2 * i] = L::low(rows[i], rows[i + kCount / 2]);
      next[2 * i + 1] = L::high(rows[i], rows[i + kCount / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int j = 0; j < kCount; ++j) std::memcpy(out + j * out_stride, &rows[j], sizeof rows[j]);
}

// Writes `count` rows (outputs) of `values` numbers into the columns of a panel that begin at
// `column`: out[j][column + i] = rows[i * stride + j]. Works in squares where nothing is converted.
template <class To, class From>
inline __attribute__((always_inline)) void interleave(const From* rows, std::int64_t stride,
                                                      std::int64_t count, std::int64_t values,
                                                      To* out, std::int64_t column) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel;
  std::int64_t i = 0;
  if constexpr (std::is_same_v<To, From>) {
    constexpr int kCount = Lanes<To>::kCount;
    const std::int64_t whole = values / kCount * kCount;
    for (; i + kCount <= count; i += kCount) {
      for (std::int64_t j = 0; j < whole; j += kCount)
        transpose(rows + i * stride + j, stride, out + j * kPanel + column + i, kPanel);
      for (std::int64_t j = whole; j < values; ++j)
        for (int n = 0; n < kCount; ++n)
          out[j * kPanel + column + i + n] = rows[(i + n) * stride + j];
    }
  }
  for (; i < count; ++i)
    for (std::int64_t j = 0; j < values; ++j)
      out[j * kPanel + column + i] = convert<To>(rows[i * stride + j]);
}

// Calls f(panel, column, row, count) for each panel that contains outputs of [first, first + count)
// of a part: the panel's outputs from `column` on are those from first + row on.
template <class F>
void each_panel(std::int64_t first, std::int64_t count, const F& f) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel;
  for (std::int64_t row = 0, next; row < count; row = next) {
    const std::int64_t n = first + row;
    next = std::min(count, row + kPanel - n % kPanel);
    f(n / kPanel, n % kPanel, row, next - row);
  }
}

// Writes `count` rows of W that begin at output `first` of a part into its panels. Works by blocks
// of k: the panel's rows of a block stay in the first-level cache while all 32 outputs are written
// into it.
template <class To, class From>
void pack_rows(std::int64_t first, std::int64_t count, const From* rows, std::int64_t k, To* out) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel, kBlock = 64;
  each_panel(first, count, [&](auto panel, auto column, auto row, auto size) {
    for (std::int64_t k0 = 0; k0 < k; k0 += kBlock)
      interleave(rows + row * k + k0, k, size, std::min(k - k0, kBlock),
                 out + (panel * k + k0) * kPanel, column);
  });
}

std::size_t panel_bytes_of(formats::GgmlType type, std::int64_t k) {
  std::int64_t bytes = k * PackedLinear::kPanel * formats::block_bytes(type);  // for plain weights
  BlockTypes::with(type, [&]<class Block>(Block) {
    static_assert(kDecodedValues % Block::kValues == 0 && kLinearChain % Block::kUnit == 0);
    bytes = k / Block::kValues * Block::kPanelBytes;
  });
  return static_cast<std::size_t>(bytes);
}

void check_range(const char* what, std::int64_t first, std::int64_t count, std::int64_t outputs) {
  if (first >= 0 && count >= 0 && first + count <= outputs) return;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + ": expected rows within [0, " +
                                               std::to_string(outputs) + "), found [" +
                                               std::to_string(first) + ", " +
                                               std::to_string(first + count) + ")");
}

}  // namespace

const std::vector<formats::GgmlType>& PackedLinear::types() {
  using formats::GgmlType;
  static const std::vector<GgmlType> all = [] {
    std::vector<GgmlType> types = {GgmlType::kF32, GgmlType::kF16, GgmlType::kBF16};
    types.insert(types.end(), BlockTypes::kTypes.begin(), BlockTypes::kTypes.end());
    return types;
  }();
  return all;
}

bool PackedLinear::holds(formats::GgmlType type) {
  return std::ranges::find(types(), type) != types().end();
}

PackedLinear::PackedLinear(std::int64_t outputs, std::int64_t inputs, Precision precision)
    : PackedLinear(std::array{Part::plain(outputs, precision)}, inputs) {}

PackedLinear::PackedLinear(std::span<const Part> parts, std::int64_t inputs) : inputs_(inputs) {
  std::size_t bytes = 0;
  for (const Part& part : parts) {
    if (part.outputs < 1 || inputs < 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  "linear layer: expected at least one output and one input, found " +
                      std::to_string(part.outputs) + " x " + std::to_string(inputs));
    }
    if (!holds(part.type)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "linear layer: expected a type that it computes from in its blocks, found " +
                      formats::to_string(part.type) + "; widen it to F32 or BF16");
    }
    if (inputs % formats::block_elements(part.type) != 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "linear layer of type " + formats::to_string(part.type) +
                      ": expected a multiple of " +
                      std::to_string(formats::block_elements(part.type)) + " inputs, found " +
                      std::to_string(inputs));
    }
    const std::int64_t panels = (part.outputs + kPanel - 1) / kPanel;
    parts_.push_back({outputs_, part.outputs, panels_, panels, part.type, bytes,
                      panel_bytes_of(part.type, inputs)});
    outputs_ += part.outputs;
    panels_ += panels;
    // Parts begin with a cache line; panels of MXFP4 may end within one.
    constexpr std::size_t kLine = 64;
    bytes += static_cast<std::size_t>(panels) * parts_.back().panel_bytes;
    bytes = (bytes + kLine - 1) / kLine * kLine;
  }
  weights_ = Buffer(bytes);
}

template <class F>
void PackedLinear::each_part(const char* what, std::int64_t first, std::int64_t count,
                             F&& f) const {
  check_range(what, first, count, outputs_);
  for (const Placed& part : parts_) {
    const std::int64_t begin = std::max(first, part.first_output),
                       end = std::min(first + count, part.first_output + part.outputs);
    if (begin < end) f(part, begin - part.first_output, end - begin, begin - first);
  }
}

// Divides `count` rows that begin at row `first` of a part into shares. They end at panel
// boundaries, so that two threads share at most a cache line (panels of MXFP4), and never a byte.
template <class Body>
void share_rows(std::int64_t first, std::int64_t count, ThreadPool& pool, const Body& body) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel;
  const std::int64_t first_panel = first / kPanel,
                     panels = (first + count + kPanel - 1) / kPanel - first_panel;
  pool.for_ranges(panels, [&](std::int64_t p0, std::int64_t p1, int) {
    const std::int64_t begin = std::max<std::int64_t>(0, (first_panel + p0) * kPanel - first);
    const std::int64_t end = std::min(count, (first_panel + p1) * kPanel - first);
    body(begin, end - begin);
  });
}

template <class Source>
void PackedLinear::pack(const char* what, std::int64_t first, std::int64_t count,
                        const Source* rows, ThreadPool& pool) {
  each_part(what, first, count,
            [&](const Placed& part, std::int64_t row, std::int64_t n, std::int64_t before) {
              const bool wide = part.type == formats::GgmlType::kF32;
              if (!wide && part.type != formats::GgmlType::kBF16) {
                throw Error(ErrorCode::kInvalidArgument,
                            std::string(what) + ": expected a matrix of F32 or BF16, found " +
                                formats::to_string(part.type) + "; use set_stored_rows");
              }
              std::byte* out = weights_.as<std::byte>() + part.offset;
              share_rows(row, n, pool, [&](std::int64_t begin, std::int64_t size) {
                const Source* from = rows + (before + begin) * inputs_;
                if (wide) {
                  pack_rows(row + begin, size, from, inputs_, reinterpret_cast<float*>(out));
                } else {
                  pack_rows(row + begin, size, from, inputs_,
                            reinterpret_cast<std::uint16_t*>(out));
                }
              });
            });
}

void PackedLinear::set_rows(std::int64_t first, std::int64_t count, const float* rows,
                            ThreadPool& pool) {
  pack("PackedLinear::set_rows", first, count, rows, pool);
}

void PackedLinear::set_rows_bf16(std::int64_t first, std::int64_t count, const std::uint16_t* rows,
                                 ThreadPool& pool) {
  pack("PackedLinear::set_rows_bf16", first, count, rows, pool);
}

void PackedLinear::set_stored_rows(std::int64_t first, std::int64_t count,
                                   std::span<const std::byte> rows, ThreadPool& pool) {
  const auto* next = reinterpret_cast<const unsigned char*>(rows.data());
  std::size_t left = rows.size();
  // this thread's: the pool's threads may have another variant
  const CpuKernels& kernels = cpu_kernels();
  each_part("PackedLinear::set_stored_rows", first, count,
            [&](const Placed& part, std::int64_t row, std::int64_t n, std::int64_t) {
              const std::int64_t row_bytes =
                  inputs_ / formats::block_elements(part.type) * formats::block_bytes(part.type);
              if (left < static_cast<std::size_t>(n * row_bytes)) {
                throw Error(ErrorCode::kInvalidArgument,
                            "PackedLinear::set_stored_rows: expected " +
                                std::to_string(n * row_bytes) + " bytes of " +
                                formats::to_string(part.type) + ", found " + std::to_string(left));
              }
              auto* out = weights_.as<unsigned char>() + part.offset;
              share_rows(row, n, pool, [&](std::int64_t begin, std::int64_t size) {
                const unsigned char* from = next + begin * row_bytes;
                if (formats::block_elements(part.type) > 1) {
                  each_panel(row + begin, size, [&](auto panel, auto lane, auto skip, auto lanes) {
                    kernels.pack_panel(part.type, from + skip * row_bytes, static_cast<int>(lane),
                                       static_cast<int>(lanes), inputs_,
                                       out + static_cast<std::size_t>(panel) * part.panel_bytes);
                  });
                } else if (part.type == formats::GgmlType::kF32) {
                  pack_rows(row + begin, size, reinterpret_cast<const float*>(from), inputs_,
                            reinterpret_cast<float*>(out));
                } else {  // 16 bits, copied as they are
                  pack_rows(row + begin, size, reinterpret_cast<const std::uint16_t*>(from),
                            inputs_, reinterpret_cast<std::uint16_t*>(out));
                }
              });
              next += n * row_bytes;
              left -= static_cast<std::size_t>(n * row_bytes);
            });
}

void PackedLinear::set_bias(std::int64_t first, std::int64_t count, const float* bias) {
  each_part("PackedLinear::set_bias", first, count,
            [&](const Placed& part, std::int64_t row, std::int64_t n, std::int64_t before) {
              if (bias_.empty())
                bias_ = Buffer(static_cast<std::size_t>(panels_ * kPanel) * sizeof(float));
              std::memcpy(bias_.as<float>() + part.first_panel * kPanel + row, bias + before,
                          static_cast<std::size_t>(n) * sizeof(float));
            });
}

void PackedLinear::read_row(std::int64_t n, float* out) const {
  each_part("PackedLinear::read_row", n, 1,
            [&](const Placed& part, std::int64_t row, std::int64_t, std::int64_t) {
              const std::byte* panel = weights_.as<const std::byte>() + part.offset +
                                       static_cast<std::size_t>(row / kPanel) * part.panel_bytes;
              cpu_kernels().read_lane(part.type, panel, static_cast<int>(row % kPanel), inputs_,
                                      out);
            });
}

void linear(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            float* y, std::int64_t y_stride, ThreadPool& pool, LinearMode mode) {
  if (rows <= 0) return;
  const LinearRun run(w, x, x_stride, rows, pool);
  pool.for_pieces(w.panels_, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (const PackedLinear::Placed& part : w.parts_) {
      const std::int64_t p0 = std::max(begin, part.first_panel) - part.first_panel,
                         p1 = std::min(end, part.first_panel + part.panels) - part.first_panel;
      if (p0 >= p1) continue;
      float* const from = y + part.first_output + p0 * PackedLinear::kPanel;
      run.panels(part, p0, p1, worker, from, y_stride, mode);
    }
  });
}

}  // namespace triescope::kernels

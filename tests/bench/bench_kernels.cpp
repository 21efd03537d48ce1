// The CPU kernels beside libtorch's plain operations, in one run, alternating, medians: linear
// layers of SmolLM2-135M (30 layers and the vocabulary, 540 MB in fp32, so that weights come from
// memory) and attention of one layer over a prompt. Then linear layers of every type of weights
// beside what the machine can do at most: the share of the limit that binds, the time of reading the
// weights once or that of the multiply-adds, whichever is longer. The last column counts dequantising
// among the multiply-adds, one for each weight of a block: logits with the bits of dequantised weights
// cannot do without it. Before all that, how fast rows of a file are packed.
//   make bench, or build/bench/bench_kernels [threads] [repeats] [types: Q4_1,Q6_K or attention]
//   [rows: 1,2]; $TRIESCOPE_CPU chooses the instruction set
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bf16.h"
#include "core/base/count_up.h"
#include "core/base/rng.h"
#include "core/base/timing.h"
#include "core/files/random_blocks.h"
#include "core/kernels/aten.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/linear.h"
#include "core/kernels/machine_limits.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/cpu_kv.h"

namespace triescope::kernels {
namespace {

constexpr int kLayers = 30;
constexpr std::int64_t kVocab = 49152;
constexpr std::int64_t kLayerShapes[][2] = {{960, 576}, {576, 576}, {3072, 576}, {576, 1536}};

std::vector<float> random_values(std::int64_t count, Rng& rng) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(rng.uniform() - 0.5);
  return values;
}

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Medians {
  double ours_ms, torch_ms;
};

// A, B, A, B, ...: what else the machine does meets both. Threads of one side that wait for more work
// keep a core busy for some milliseconds, so that each side runs for 20 ms before it is timed.
Medians alternate(int repeats, const std::function<void()>& ours,
                  const std::function<void()>& torch) {
  std::vector<double> a, b;
  const auto later_run = [](const std::function<void()>& work) {
    for (double ms = 0; ms < 20;) ms += milliseconds(work);
    return milliseconds(work);
  };
  for (int i = 0; i < repeats; ++i) {
    a.push_back(later_run(ours));
    b.push_back(later_run(torch));
  }
  const auto middle = [](std::vector<double>& v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
  };
  return {middle(a), middle(b)};
}

void linear_layers(Precision precision, ThreadPool& pool, int repeats) {
  Rng rng(1);
  std::vector<PackedLinear> packed;
  std::vector<at::Tensor> plain;
  const at::ScalarType type = precision == Precision::kF32 ? at::kFloat : at::kBFloat16;
  const auto add = [&](std::int64_t n, std::int64_t k) {
    const auto w = random_values(n * k, rng);
    packed.emplace_back(n, k, precision);
    packed.back().set_rows(0, n, w.data(), pool);
    plain.push_back(
        at::from_blob(const_cast<float*>(w.data()), {n, k}, at::kFloat).to(type, false, true));
  };
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const auto& [n, k] : kLayerShapes) add(n, k);
  }
  add(kVocab, 576);
  const auto bytes = [&](std::size_t count) {
    return std::accumulate(
        packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(count), 0.0,
        [](double sum, const PackedLinear& w) { return sum + static_cast<double>(w.bytes()); });
  };
  std::printf("linear layers, %s weights, %.0f MB\n",
              precision == Precision::kF32 ? "fp32" : "bf16", bytes(packed.size()) * 1e-6);
  std::printf("%6s %10s %8s %8s %9s | %10s %8s %8s | %s\n", "rows", "ours ms", "GB/s", "GFLOP/s",
              "of 1 row", "torch ms", "GB/s", "of 1 row", "torch / ours");
  Medians one{};
  for (const std::int64_t rows : {1, 2, 4, 8, 10, 16, 32, 256}) {
    // Prefill wants the last row's logits alone, so the vocabulary is left out there.
    const std::size_t count = rows > 32 ? packed.size() - 1 : packed.size();
    const auto x = random_values(rows * 1536, rng);
    std::vector<float> y(static_cast<std::size_t>(rows * (rows > 32 ? 3072 : kVocab)));
    const at::Tensor xt =
        at::from_blob(const_cast<float*>(x.data()), {rows, 1536}, at::kFloat).to(type);
    const auto ours = [&] {
      for (std::size_t i = 0; i < count; ++i) {
        linear(packed[i], x.data(), packed[i].inputs(), rows, y.data(), packed[i].outputs(), pool);
      }
    };
    const auto torch = [&] {
      for (std::size_t i = 0; i < count; ++i)
        at::linear(xt.narrow(1, 0, packed[i].inputs()).contiguous(), plain[i]);
    };
    const Medians m = alternate(rows > 32 ? std::max(1, repeats / 3) : repeats, ours, torch);
    if (rows == 1) one = m;
    const double gb = bytes(count) * 1e-6, gflop = gb /
                                                   static_cast<double>(element_bytes(precision)) *
                                                   2 * static_cast<double>(rows);
    std::printf("%6d %10.2f %8.1f %8.1f %9.2f | %10.2f %8.1f %8.2f | %.2f\n",
                static_cast<int>(rows), m.ours_ms, gb / m.ours_ms, gflop / m.ours_ms,
                m.ours_ms / one.ours_ms, m.torch_ms, gb / m.torch_ms, m.torch_ms / one.torch_ms,
                m.torch_ms / m.ours_ms);
  }
}

// wanted: names with commas between them; all where it is empty.
bool is_wanted(const std::string& name, const std::string& wanted) {
  return wanted.empty() || ("," + wanted + ",").find("," + name + ",") != std::string::npos;
}

// Every type of weights, in layers of 768 and 2048 inputs (whole blocks of every type): 30 layers and
// a vocabulary of 32768, 214 million values, run in a model's order so that weights come from
// memory where they do in a model; each shape's share of its limit, and the sum's.
void stored_layers(ThreadPool& pool, int repeats, const std::string& wanted,
                   const std::string& wanted_rows) {
  using formats::GgmlType;
  constexpr std::int64_t kShapes[][2] = {{1280, 768}, {768, 768}, {4096, 768}, {768, 2048}};
  constexpr std::int64_t kWords = 32768;
  const double bandwidth = read_bandwidth(pool);
  const double fma = multiply_adds(pool, current_variant());
  std::printf("memory %.1f GB/s, multiply-adds %.1f G/s\n", bandwidth * 1e-9, fma * 1e-9);
  std::printf("share of the limit that binds (b: reading, f: multiply-adds), by shape\n");
  std::printf("%7s %5s %8s %9s |", "type", "rows", "ms", "of first");
  for (const auto& [n, k] : kShapes) std::printf(" %5dx%-5d", int(n), int(k));
  std::printf(" %5dx%-5d |  all  dequantised\n", int(kWords), 768);
  for (const GgmlType type : PackedLinear::types()) {
    const std::string name = formats::to_string(type);
    if (!is_wanted(name, wanted)) continue;
    std::vector<PackedLinear> layers;
    std::vector<std::size_t> shape_of;
    const auto add = [&](std::size_t shape, std::int64_t n, std::int64_t k) {
      layers.emplace_back(std::array{PackedLinear::Part{n, type}}, k);
      // The time does not depend on the values, but for numbers that are none or subnormal.
      std::vector<std::byte> row(
          static_cast<std::size_t>(k / formats::block_elements(type) * formats::block_bytes(type)),
          std::byte{0x3a});
      for (std::int64_t i = 0; i < n; ++i) layers.back().set_stored_rows(i, 1, row, pool);
      shape_of.push_back(shape);
    };
    for (int layer = 0; layer < kLayers; ++layer) {
      for (std::size_t s = 0; s < std::size(kShapes); ++s) add(s, kShapes[s][0], kShapes[s][1]);
    }
    add(std::size(kShapes), kWords, 768);
    double one = 0;
    for (const std::int64_t rows : {1, 2, 3, 4, 6, 8, 9, 10, 12, 15, 16, 24, 32, 256}) {
      if (!is_wanted(std::to_string(rows), wanted_rows)) continue;
      Rng rng(3);
      const auto x = random_values(rows * 2048, rng);
      std::vector<float> y(static_cast<std::size_t>(rows * kWords));
      constexpr std::size_t kSums = std::size(kShapes) + 1;
      // Each layer's shortest time: what else the machine does only ever adds.
      std::vector<double> shortest_of(layers.size());
      for (int i = 0; i <= repeats; ++i) {
        for (std::size_t l = 0; l < layers.size(); ++l) {
          const PackedLinear& w = layers[l];
          const double time =
              seconds([&] { linear(w, x.data(), w.inputs(), rows, y.data(), w.outputs(), pool); });
          if (i < 2 || time < shortest_of[l]) shortest_of[l] = time;  // the first warms up
        }
      }
      std::array<double, kSums> best{};
      for (std::size_t l = 0; l < layers.size(); ++l) best[shape_of[l]] += shortest_of[l];
      const double best_sum = std::accumulate(best.begin(), best.end(), 0.0);
      if (one == 0) one = best_sum;
      std::printf("%7s %5d %8.2f %9.2f |", name.c_str(), static_cast<int>(rows), best_sum * 1e3,
                  best_sum / one);
      double all_limit = 0, dequantised_limit = 0;
      std::string all_binds;
      for (std::size_t s = 0; s < kSums; ++s) {
        double bytes = 0, values = 0;
        for (std::size_t l = 0; l < layers.size(); ++l) {
          if (shape_of[l] != s) continue;
          const auto count = static_cast<double>(layers[l].outputs() * layers[l].inputs());
          values += count;
          bytes += count / formats::block_elements(type) * formats::block_bytes(type);
        }
        const double reading = bytes / bandwidth, adding = values * static_cast<double>(rows) / fma;
        const double dequantising = formats::block_elements(type) > 1 ? values / fma : 0;
        all_limit += std::max(reading, adding);
        dequantised_limit += std::max(reading, adding + dequantising);
        all_binds = reading > adding ? "b" : "f";
        std::printf("    %4.0f %% %s ", 100 * std::max(reading, adding) / best[s],
                    all_binds.c_str());
      }
      std::printf("| %3.0f %% %6.0f %%\n", 100 * all_limit / best_sum,
                  100 * dequantised_limit / best_sum);
    }
  }
}

// Rows of a file into panels, as loading does it: one thread, about a megabyte at a time, that is in the
// cache, into a matrix of 4096 x 4096 values; beside copying the same bytes. Shortest times.
void packing(int repeats, const std::string& wanted) {
  constexpr std::int64_t kSide = 4096;
  ThreadPool alone(1);
  std::printf("rows of a file into panels, one thread, GB/s\n%7s", "type");
  for (const CpuVariant variant : available_variants()) std::printf(" %15s", to_string(variant));
  std::printf(" %10s\n", "copied");
  for (const formats::GgmlType type : kernels::PackedLinear::types()) {
    const std::string name = formats::to_string(type);
    if (!is_wanted(name, wanted)) continue;
    const std::int64_t row_bytes =
        kSide / formats::block_elements(type) * formats::block_bytes(type);
    const std::int64_t piece = std::max<std::int64_t>((1 << 20) / row_bytes / 32 * 32, 32);
    Rng rng(4);
    const auto rows = formats::random_rows(type, piece, kSide, rng);
    PackedLinear packed(std::array{PackedLinear::Part{kSide, type}}, kSide);
    std::vector<std::byte> copy(static_cast<std::size_t>(kSide * row_bytes));
    const auto rate = [&](const auto& take) {
      double shortest = 0;
      for (int i = 0; i <= repeats; ++i) {
        const double time = seconds([&] {
          for (std::int64_t first = 0; first < kSide; first += piece) {
            const std::int64_t count = std::min(piece, kSide - first);
            take(first, count, std::span(rows).first(static_cast<std::size_t>(count * row_bytes)));
          }
        });
        if (i < 2 || time < shortest) shortest = time;  // the first warms up
      }
      return static_cast<double>(kSide * row_bytes) / shortest * 1e-9;
    };
    std::printf("%7s", name.c_str());
    for (const CpuVariant variant : available_variants()) {
      const ScopedVariant scope(variant);
      std::printf(" %15.1f", rate([&](auto first, auto count, auto bytes) {
                    packed.set_stored_rows(first, count, bytes, alone);
                  }));
    }
    std::printf(" %10.1f\n", rate([&](auto first, auto, auto bytes) {
                  std::memcpy(copy.data() + first * row_bytes, bytes.data(), bytes.size());
                }));
  }
}

// Rows of a tree (20 nodes deep, each its own) after a prompt, in all layers of a model, whose KV lies
// as a model's does, so that it comes from memory where it does in one; beside
// scaled_dot_product_attention in fp32 with a dense mask over all slots. Times are a layer's; reading
// is K and V once, as a share of the rate at which memory is read.
void attention(Precision precision, ThreadPool& pool, int repeats) {
  const AttentionShape shape{.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f};
  constexpr int kDepth = 20;
  const double bandwidth = read_bandwidth(pool);
  const bool wide = precision == Precision::kF32;
  std::printf(
      "attention of one of 30 layers, 9 heads / 3 K/V heads of 64, %s KV, own path of %d; memory "
      "%.1f GB/s\n",
      wide ? "fp32" : "bf16", kDepth, bandwidth * 1e-9);
  std::printf("%8s %6s %10s %8s %10s | %10s | %s\n", "prompt", "rows", "ours us", "GFLOP/s",
              "reading", "torch us", "torch / ours");
  for (const std::int32_t prompt : {256, 1024, 4096}) {
    for (const std::int64_t rows : {1, 3, 10, 32}) {
      Rng rng(2);
      const std::int64_t slots = prompt + rows * kDepth, width = shape.heads * shape.head_dim;
      const auto q = random_values(rows * width, rng);
      formats::ModelConfig config;
      config.layers.resize(kLayers);
      config.kv_heads = shape.kv_heads;
      config.head_dim = shape.head_dim;
      CpuKv kv(config, precision, static_cast<int>(slots));
      const auto keys = random_values(slots * 192, rng), values = random_values(slots * 192, rng);
      std::vector<std::int32_t> all = count_up(static_cast<std::size_t>(slots));
      for (std::size_t i = 0; i < kLayers; ++i) {
        store_kv(keys.data(), 192, slots, 192, all.data(), precision, kv.keys(i));
        store_kv(values.data(), 192, slots, 192, all.data(), precision, kv.values(i));
      }
      std::vector<float> out(q.size());
      const std::vector<std::int32_t> prefix = count_up(static_cast<std::size_t>(prompt));
      std::vector<std::int32_t> own, offsets{0};
      at::Tensor mask = at::zeros({rows, slots}, at::kBool);
      mask.narrow(1, 0, prompt).fill_(true);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (int d = 0; d < kDepth; ++d)
          own.push_back(static_cast<std::int32_t>(prompt + d * rows + r));
        for (int d = 0; d < kDepth; ++d) mask[r][prompt + d * rows + r] = true;
        offsets.push_back(static_cast<std::int32_t>(own.size()));
      }
      const auto heads = [](const void* data, std::int64_t n, std::int64_t h) {
        return at::from_blob(const_cast<void*>(data), {1, n, h, 64}, at::kFloat).transpose(1, 2);
      };
      const at::Tensor qt = heads(q.data(), rows, 9);
      std::vector<std::array<at::Tensor, 2>> torch_kv(kLayers);
      for (auto& [k, v] : torch_kv) {
        k = heads(keys.data(), slots, 3).clone();
        v = heads(values.data(), slots, 3).clone();
      }
      const auto ours = [&] {
        for (std::size_t i = 0; i < kLayers; ++i) {
          tree_attention(q.data(), width, rows, kv.view(i), shape,
                         {.prefix = prefix, .own = own, .offsets = offsets}, out.data(), width,
                         pool);
        }
      };
      const auto torch = [&] {
        for (const auto& [k, v] : torch_kv) {
          at::scaled_dot_product_attention(qt, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1),
                                           mask);
        }
      };
      const Medians m = alternate(repeats, ours, torch);
      const double gflop = 4e-9 * static_cast<double>(rows * width * (prompt + kDepth));
      const double bytes =
          2.0 * 192 * static_cast<double>(element_bytes(precision)) * static_cast<double>(slots);
      const double ours_s = m.ours_ms / kLayers * 1e-3;
      std::printf("%8d %6d %10.1f %8.1f %8.0f %% | %10.1f | %.2f\n", prompt, static_cast<int>(rows),
                  ours_s * 1e6, gflop / ours_s, 100 * bytes / bandwidth / ours_s,
                  m.torch_ms / kLayers * 1e3, m.torch_ms / m.ours_ms);
    }
  }
}

}  // namespace
}  // namespace triescope::kernels

int main(int argc, char** argv) {
  using namespace triescope;
  using namespace triescope::kernels;
  if (argc > 1 && std::atoi(argv[1]) == 0 && argv[1] != std::string_view("0")) {
    std::puts(
        "usage: bench_kernels [THREADS] [REPEATS] [TYPES: Q4_1,Q6_K or attention] [ROWS: 1,2]");
    return argv[1] == std::string_view("--help") ? 0 : 2;
  }
  ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : 0);
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  at::set_num_threads(pool.size());
  std::printf("%d threads, %s, medians of %d, ours and libtorch's in turn\n", pool.size(),
              to_string(current_variant()), repeats);
  const std::string types = argc > 3 ? argv[3] : "";
  if (types != "attention") packing(repeats, types);
  if (types.empty()) {
    linear_layers(Precision::kF32, pool, repeats);
    linear_layers(Precision::kBF16, pool, repeats);
  }
  if (types.empty() || types == "attention") {
    attention(Precision::kF32, pool, repeats);
    attention(Precision::kBF16, pool, repeats);
  }
  if (types != "attention") stored_layers(pool, repeats, types, argc > 4 ? argv[4] : "");
  return 0;
}

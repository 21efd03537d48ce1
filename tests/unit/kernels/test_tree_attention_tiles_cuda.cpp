// How tree attention on CUDA is cut up must not show: into blocks of queries, passes that share a
// bounded scratch, causal calls or lists. The kernels' source on the CPU (always), and the module's
// on a GPU where one answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/skip.h"
#include "tests/unit/kernels/cuda_attention.h"

namespace triescope::kernels {
namespace {

using namespace test;

// Of `count` rows whose lists are a prefix, then the slots of all rows so far.
Call causal_call(const Scene& scene, int prefix, int count) {
  Call c = scene.call;
  const auto& slots = scene.lists[0];
  c.rows = count;
  c.q.resize(c.q.size() / scene.lists.size() * static_cast<std::size_t>(count));
  c.prefix.assign(slots.begin(), slots.begin() + prefix);
  c.own.assign(slots.begin() + prefix, slots.begin() + prefix + count);
  c.longest = prefix + count;
  return c;
}

// The same rows with lists of their own.
Call listed(const Call& causal) {
  Call c = causal;
  c.own.clear();
  c.offsets = {0};
  for (std::int64_t row = 0; row < c.rows; ++row) {
    c.own.insert(c.own.end(), causal.own.begin(), causal.own.begin() + row + 1);
    c.offsets.push_back(static_cast<std::int32_t>(c.own.size()));
  }
  return c;
}

Bytes row_of(const Bytes& out, const Call& call, std::int64_t row) {
  const auto width = static_cast<std::ptrdiff_t>(out.size()) / call.rows;
  return {out.begin() + row * width, out.begin() + (row + 1) * width};
}

template <class Run>
void check_heads(Run run) {
  Rng rng(21);
  // Every size that has a kernel of its own, and two that share one; a group that takes several
  // blocks of queries a row, and rows whose heads two blocks share.
  for (const auto& [head_dim, heads, kv_heads] : {std::tuple{64, 9, 3},
                                                  {80, 10, 2},
                                                  {96, 6, 1},
                                                  {128, 70, 1},
                                                  {256, 36, 1},
                                                  {8, 140, 2},
                                                  {104, 5, 1}}) {
    for (const int dtype : {kTriescopeF32, kTriescopeBF16}) {
      AttentionShape shape = {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim};
      shape.scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
      const std::int64_t rows = 9;
      const Scene scene(shape, dtype, rows, 130, 3, rng);
      const Call together = scene.rows(0, rows, 130);
      const Bytes out = run(together);
      CAPTURE(head_dim);
      CAPTURE(dtype);
      CHECK(worst_error(decode(out, dtype), together.twin()) <= tolerance(dtype));
      for (const std::int64_t row : {std::int64_t{0}, std::int64_t{7}})
        CHECK(run(scene.rows(row, row + 1, 0)) == row_of(out, together, row));
    }
  }
}

template <class Run>
void check_causal_is_listed(Run run) {
  Rng rng(22);
  AttentionShape shape = {.heads = 4, .kv_heads = 2, .head_dim = 64, .scale = 0.125f};
  const int rows = 40;
  for (const int prefix : {0, 100, 128, 250}) {
    const Scene scene(shape, kTriescopeF16, rows, prefix + rows, 1, rng);
    for (const int window : {0, 1, 60, 130}) {
      Call causal = causal_call(scene, prefix, rows);
      causal.shape.window = window;
      CAPTURE(prefix);
      CAPTURE(window);
      CHECK(run(causal) == run(listed(causal)));
    }
  }
}

constexpr int kPassRows = 12, kPassPrefix = 1200;  // ten partitions
// Scratch for so many rows times partitions, chains counted as partitions: one row and partition a
// pass; one row, four partitions; five rows, eight.
constexpr std::size_t kPassScratch[] = {5, 8, 60};

Call call_of_passes(const Scene& scene, bool causal) {
  return causal ? causal_call(scene, kPassPrefix, kPassRows)
                : scene.rows(0, kPassRows, kPassPrefix);
}

Scene scene_of_passes(Rng& rng) {
  const AttentionShape shape = {.heads = 4, .kv_heads = 2, .head_dim = 40, .scale = 0.15f};
  return {shape, kTriescopeBF16, kPassRows, kPassPrefix + kPassRows, 5, rng};
}

// With little scratch rows and partitions go in passes.
template <class Run>
void check_passes(Run run) {
  Rng rng(23);
  const Scene scene = scene_of_passes(rng);
  for (const int window : {0, 300}) {
    for (const bool causal : {true, false}) {
      Call c = call_of_passes(scene, causal);
      c.shape.window = window;
      const Bytes all = run(c);
      CAPTURE(window);
      CAPTURE(causal);
      for (const std::size_t parts : kPassScratch) {
        c.scratch = sizeof(float) * 4 * (40 + 2) * parts;
        CAPTURE(parts);
        CHECK(run(c) == all);
      }
    }
  }
}

// A NaN of which only some rows of a block know.
template <class Run>
void check_nan_beside(Run run) {
  Rng rng(24);
  AttentionShape shape = {.heads = 2, .kv_heads = 1, .head_dim = 16, .scale = 0.25f};
  const int rows = 20, prefix = 30;
  const Scene scene(shape, kTriescopeF32, rows, prefix + rows, 1, rng);
  for (const int window : {0, 12}) {
    Call clean = causal_call(scene, prefix, rows);
    clean.shape.window = window;
    const Bytes want = run(clean);
    for (const bool in_keys : {true, false}) {
      // The slot of row 7, which later rows see as far as their window reaches.
      Call c = clean;
      spoil(in_keys ? c.keys : c.values, shape, c.own[7], 0);
      const Bytes got = run(c);
      for (std::int64_t row = 0; row < rows; ++row) {
        const bool sees = row >= 7 && (window == 0 || row < 7 + window);
        CAPTURE(row);
        CAPTURE(window);
        CAPTURE(in_keys);
        const std::vector<float> values = decode(row_of(got, c, row), kTriescopeF32);
        CHECK(std::isnan(values[3]) == sees);
        if (!sees) CHECK(row_of(got, c, row) == row_of(want, c, row));
      }
    }
  }
}

TEST_CASE(
    "CUDA tree attention tiles: CUDA tree attention, its source run on the CPU: every head size, groups of any width") {
  check_heads(run_on_cpu);
}

TEST_CASE(
    "CUDA tree attention tiles: CUDA tree attention, its source run on the CPU: causal calls have the bits of lists") {
  check_causal_is_listed(run_on_cpu);
}

TEST_CASE(
    "CUDA tree attention tiles: CUDA tree attention, its source run on the CPU: less scratch, more passes, same bits") {
  check_passes(run_on_cpu);
}

TEST_CASE("CUDA tree attention tiles: CUDA tree attention launches two kernels a pass") {
  Rng rng(23);
  const Scene scene = scene_of_passes(rng);
  std::vector<std::size_t> passes;
  const auto count = [&](const Call& c) {
    ::cuda_stand_in::blocks.clear();
    run_on_cpu(c);
    passes.push_back(::cuda_stand_in::blocks.size() / 2);
  };
  Call listed = call_of_passes(scene, false), windowed = call_of_passes(scene, true);
  windowed.shape.window = 128;
  count(listed);
  for (Call* c : {&listed, &windowed}) {
    for (const std::size_t parts : kPassScratch) {
      c->scratch = sizeof(float) * 4 * (40 + 2) * parts;
      count(*c);
    }
  }
  // Ten partitions; of a causal call only those that some row's window reaches: from slot 1073 on
  // the first row's, 1084 the last one's, one partition for slots 1024 to 1151 and the next.
  CHECK(passes == std::vector<std::size_t>{1, 12 * 10, 12 * 3, 3 * 2, 12 * 2, 12, 3});
}

TEST_CASE(
    "CUDA tree attention tiles: CUDA tree attention, its source run on the CPU: a NaN stays with the rows that see it") {
  check_nan_beside(run_on_cpu);
}

TEST_CASE(
    "CUDA tree attention tiles: CUDA tree attention takes a prompt of any length with bounded scratch") {
  const std::size_t bound = TRIESCOPE_ATTENTION_SCRATCH;
  CHECK(bound == 64u << 20);
  for (const int longest : {256, 8192, 32768, 131072, 1 << 20, 1 << 30}) {
    for (const auto& [rows, heads, head_dim] :
         {std::tuple{1, 9, 64}, {256, 9, 64}, {256, 32, 128}, {2048, 32, 128}, {65535, 128, 256}}) {
      const std::size_t bytes =
          triescope_cuda_tree_attention_scratch(rows, heads, head_dim, longest);
      CAPTURE(longest);
      CAPTURE(rows);
      CHECK(bytes <= bound);
      // At least a row with all its chains, or all of a short list.
      CHECK(bytes >= sizeof(float) * static_cast<std::size_t>(heads * (head_dim + 2)));
    }
  }
}

TEST_CASE("CUDA tree attention: what all rows see is read by one block for 64 queries") {
  Rng rng(25);
  const auto blocks = [&](const AttentionShape& shape, int rows, int prefix, bool causal) {
    const Scene scene(shape, kTriescopeF32, rows, prefix + (causal ? rows : 0), 1, rng);
    ::cuda_stand_in::blocks.clear();
    run_on_cpu(causal ? causal_call(scene, prefix, rows) : scene.rows(0, rows, prefix));
    REQUIRE(::cuda_stand_in::blocks.size() == 2);
    CHECK(::cuda_stand_in::blocks[1] == rows * shape.heads);
    return ::cuda_stand_in::blocks[0];
  };
  const AttentionShape shape = {.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f};
  // Two partitions of the prefix, and each row's own one; for each of three key/value heads.
  CHECK(blocks(shape, 9, 256, false) == 3 * (2 + 9));
  CHECK(blocks(shape, 21, 256, false) == 3 * (2 + 21));      // 63 queries
  CHECK(blocks(shape, 22, 256, false) == 3 * (2 * 2 + 22));  // 66
  CHECK(blocks(shape, 22, 256, true) == 3 * 3 * 2);          // the rows' own slots too
  const AttentionShape wide = {.heads = 8, .kv_heads = 2, .head_dim = 256, .scale = 0.06f};
  CHECK(blocks(wide, 8, 128, false) == 2 * (1 + 8));  // 32 queries, as many as heads so wide
  CHECK(blocks(wide, 9, 128, false) == 2 * (1 * 2 + 9));
}

TEST_CASE("CUDA tree attention on the GPU: how a call is cut up does not show") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  const auto run = [&](const Call& c) { return run_on_gpu(c, *gpu); };
  check_heads(run);
  check_causal_is_listed(run);
  check_passes(run);
  check_nan_beside(run);
}

}  // namespace
}  // namespace triescope::kernels

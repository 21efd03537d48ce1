// The CUDA kernel against its CPU twin: its own source on the CPU (always), and the module's on a
// GPU where one answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <tuple>

#include "core/kernels/cuda_module.h"
#include "core/kernels/reference.h"
#include "tests/unit/kernels/cuda_attention.h"
// After the stand-in: the kernels themselves.
#include "core/kernels/tree_attention.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

const AttentionShape kShapes[] = {
    {.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f},
    {.heads = 2, .kv_heads = 2, .head_dim = 80, .scale = 0.11f, .window = 10},
    {.heads = 4, .kv_heads = 2, .head_dim = 96, .scale = 0.1f, .softcap = 20},
    {.heads = 12, .kv_heads = 1, .head_dim = 128, .scale = 0.09f, .window = 140},
    {.heads = 2, .kv_heads = 1, .head_dim = 256, .scale = 0.0625f, .softcap = 50, .window = 33},
};

// Fibres are slow: without a GPU a quarter of the combinations, each shape and dtype among them.
enum class Extent { kQuarter, kAll };

template <class Run>
void check_against_twin(Extent extent, Run run) {
  Rng rng(1);
  int combination = 0;
  for (const AttentionShape& shape : kShapes) {
    for (const int dtype : {kTriescopeF32, kTriescopeF16, kTriescopeBF16}) {
      for (const auto& [rows, shared, own] : {std::tuple{1, 0, 5}, {5, 260, 20}, {3, 100, 60}}) {
        if (extent == Extent::kQuarter && combination++ % 4 != 0) continue;
        const Scene scene(shape, dtype, rows, shared, own, rng);
        const Call lists = scene.rows(0, rows, shared);
        CAPTURE(shape.head_dim);
        CAPTURE(dtype);
        CAPTURE(rows);
        CHECK(worst_error(decode(run(lists), dtype), lists.twin()) <= tolerance(dtype));
        Call causal = scene.rows(0, rows, shared);
        causal.offsets.clear();
        causal.own.assign(scene.lists[0].begin() + shared, scene.lists[0].end());
        while (causal.own.size() < static_cast<std::size_t>(rows))
          causal.own.push_back(scene.lists[0][0]);
        causal.own.resize(static_cast<std::size_t>(rows));
        causal.longest = shared + rows;
        CHECK(worst_error(decode(run(causal), dtype), causal.twin()) <= tolerance(dtype));
      }
    }
  }
}

template <class Run>
void check_path_only(Run run) {
  Rng rng(2);
  for (const int window : {0, 150}) {
    AttentionShape shape = kShapes[0];
    shape.window = window;
    const std::int64_t rows = 3, shared = 270;
    const Scene scene(shape, kTriescopeBF16, rows, shared, 30, rng);
    Bytes alone;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Bytes out = run(scene.rows(r, r + 1, 0));
      alone.insert(alone.end(), out.begin(), out.end());
    }
    for (const std::ptrdiff_t cut : {std::ptrdiff_t{128}, std::ptrdiff_t{270}}) {
      CAPTURE(window);
      CAPTURE(cut);
      CHECK(run(scene.rows(0, rows, cut)) == alone);
      Call longer = scene.rows(0, rows, cut);
      longer.longest += 500;  // more partitions than anyone needs
      if (cut == shared) CHECK(run(longer) == alone);
    }
  }
}

TEST_CASE("CUDA tree attention: its source run on the CPU agrees with the CPU twin") {
  check_against_twin(Extent::kQuarter, run_on_cpu);
}

TEST_CASE("CUDA tree attention: its source run on the CPU: a row's bits depend on its path alone") {
  check_path_only(run_on_cpu);
}

// Rows whose lists have these lengths, the call's prefix holding `cut` slots that all share.
Call call_of(const AttentionShape& shape, const Scene& scene, const std::vector<int>& lengths,
             int cut) {
  Call c = scene.call;
  c.shape = shape;
  c.rows = static_cast<int>(lengths.size());
  c.q.resize(c.q.size() / scene.lists.size() * lengths.size());
  const auto& all = scene.lists[0];
  c.prefix.assign(all.begin(), all.begin() + cut);
  c.offsets = {0};
  for (const int length : lengths) {
    // Another order for every row, so that one row's slots in place of another's would show.
    const auto own = all.begin() + cut;
    c.own.insert(c.own.end(), own, own + (length - cut));
    std::rotate(c.own.begin() + c.offsets.back(),
                c.own.begin() + c.offsets.back() + (length - cut) / 2, c.own.end());
    c.offsets.push_back(static_cast<std::int32_t>(c.own.size()));
    c.longest = std::max(c.longest, static_cast<std::int32_t>(length));
  }
  return c;
}

template <class Run>
void check_partitions(Extent extent, Run run) {
  Rng rng(4);
  const AttentionShape shapes[] = {
      {.heads = 4, .kv_heads = 2, .head_dim = 16, .scale = 0.25f},  // four rows a tile
      {.heads = 10, .kv_heads = 1, .head_dim = 8, .scale = 0.35f},  // two blocks of heads a row
  };
  struct Lengths {
    int cut;
    std::vector<int> of_rows;
  };
  // Lists that end just before, on and just after a partition of 128 slots, by their own part or by
  // the prefix.
  const Lengths all[] = {
      {0, {1, 127, 128, 129, 257}},
      {0, {129, 1}},
      {0, {257}},
      {1, {2, 128, 129}},
      {126, {127, 128, 129}},
      {127, {128, 129, 257, 128, 256}},
      {128, {129, 130, 256, 257}},
      {129, {130, 256, 257}},
      {256, {257, 258, 257}},
      {256, {257}},
      {255, {256}},
      {257, {258, 260}},
  };
  for (AttentionShape shape : shapes) {
    const Scene scene(shape, kTriescopeF32, 5, 260, 1, rng);
    for (const auto& [cut, lengths] : all) {
      for (const int window : {0, 1, 2, 127, 128, 129, 130, 257}) {
        if (extent == Extent::kQuarter && window > 2 && window != 128 && window != 129) continue;
        shape.window = window;
        const Call c = call_of(shape, scene, lengths, cut);
        CAPTURE(shape.heads);
        CAPTURE(cut);
        CAPTURE(lengths.front());
        CAPTURE(window);
        const std::vector<float> want = tree_attention_ref(
            scene.call.q.data(), c.rows, scene.call.keys.data(), scene.call.values.data(), 265,
            shape, {.prefix = c.prefix, .own = c.own, .offsets = c.offsets});
        CHECK(worst_error(decode(run(c), kTriescopeF32), want) <= tolerance(kTriescopeF32));
      }
    }
  }
}

TEST_CASE("CUDA tree attention: its source run on the CPU: lists around a partition's 128 slots") {
  check_partitions(Extent::kQuarter, run_on_cpu);
}

template <class Run>
void check_windows_skip(Run run) {
  Rng rng(5);
  const AttentionShape shape = {
      .heads = 4, .kv_heads = 2, .head_dim = 16, .scale = 0.25f, .window = 130};
  const Scene scene(shape, kTriescopeF32, 3, 500, 20, rng);
  for (const std::ptrdiff_t cut : {std::ptrdiff_t{0}, std::ptrdiff_t{300}, std::ptrdiff_t{500}}) {
    CAPTURE(cut);
    Call c = scene.rows(0, 3, cut);
    const Bytes clean = run(c);
    // Every row's window begins within the partition of slots 256 to 383, or the one after it.
    for (const int index : {0, 127, 128, 255}) {
      for (Floats* storage : {&c.keys, &c.values})
        for (const int kv_head : {0, 1})
          spoil(*storage, shape, scene.lists[0][static_cast<std::size_t>(index)], kv_head);
    }
    CHECK(run(c) == clean);
    // In the partition where it begins, a row alone reads from there on.
    Call one = scene.rows(1, 2, cut);
    const Bytes alone = run(one);
    const auto& list = scene.lists[1];
    for (const std::size_t index : {std::size_t{256}, list.size() - 131})
      for (Floats* storage : {&one.keys, &one.values}) spoil(*storage, shape, list[index], 0);
    CHECK(run(one) == alone);
    spoil(one.values, shape, list[list.size() - 130], 0);
    CHECK(run(one) != alone);
  }
}

template <class Run>
void check_nan(Run run) {
  Rng rng(6);
  const AttentionShape shape = {.heads = 6, .kv_heads = 2, .head_dim = 16, .scale = 0.25f};
  const Scene scene(shape, kTriescopeF32, 2, 200, 4, rng);
  for (const bool in_keys : {true, false}) {
    for (const bool shared : {true, false}) {
      Call c = scene.rows(0, 2, 150);
      // Of key/value head 1, heads 3 to 5: a slot that both rows see, or the second row's own.
      spoil(in_keys ? c.keys : c.values, shape,
            shared ? scene.lists[0][140] : scene.lists[1].back(), 1);
      const std::vector<float> out = decode(run(c), kTriescopeF32);
      CAPTURE(in_keys);
      CAPTURE(shared);
      for (int i = 0; i < static_cast<int>(out.size()); ++i) {
        const int row = i / (6 * 16), head = i / 16 % 6, d = i % 16;
        const bool reached = (shared || row == 1) && head >= 3 && (in_keys || d == 3);
        CAPTURE(i);
        CHECK(std::isnan(out[static_cast<std::size_t>(i)]) == reached);
      }
    }
  }
}

template <class Run>
void check_many_partitions(Run run) {
  Rng rng(7);
  for (const int window : {0, 700}) {
    AttentionShape shape = {.heads = 2, .kv_heads = 1, .head_dim = 40, .scale = 0.2f};
    shape.window = window;
    const Scene scene(shape, kTriescopeF32, 2, 1500, 9, rng);
    const Call c = scene.rows(0, 2, 1400);
    CAPTURE(window);
    CHECK(worst_error(decode(run(c), kTriescopeF32), c.twin()) <= tolerance(kTriescopeF32));
  }
}

// Scores hundreds apart: exponentials overflow unless the largest of all partitions is subtracted.
template <class Run>
void check_large_scores(Run run) {
  Rng rng(8);
  const AttentionShape shape = {.heads = 1, .kv_heads = 1, .head_dim = 40, .scale = 10};
  for (const std::size_t largest : {0u, 127u, 128u, 300u, 639u, 640u}) {
    Scene scene(shape, kTriescopeF32, 1, 640, 1, rng);
    // The key of one slot is the query.
    const std::int32_t slot = scene.lists[0][largest];
    std::copy(scene.call.q.begin(), scene.call.q.end(),
              scene.call.keys.begin() + std::ptrdiff_t{slot} * 40);
    const Call c = scene.rows(0, 1, 600);
    CAPTURE(largest);
    CHECK(worst_error(decode(run(c), kTriescopeF32), c.twin()) <= tolerance(kTriescopeF32));
  }
}

TEST_CASE("CUDA tree attention: its source run on the CPU: scores that are hundreds apart") {
  check_large_scores(run_on_cpu);
}

TEST_CASE("CUDA tree attention: its source run on the CPU: what lies before a window is not read") {
  check_windows_skip(run_on_cpu);
}

TEST_CASE("CUDA tree attention: its source run on the CPU: a NaN that a row sees is not hidden") {
  check_nan(run_on_cpu);
}

TEST_CASE("CUDA tree attention: its source run on the CPU: a dozen partitions, window or none") {
  check_many_partitions(run_on_cpu);
}

TEST_CASE(
    "CUDA tree attention: CUDA tree attention's scratch has a place for every partition that begins") {
  for (const auto& [longest, partitions] :
       {std::pair{1, 1}, {127, 1}, {128, 1}, {129, 2}, {256, 2}, {257, 3}}) {
    CHECK(triescope_cuda_tree_attention_scratch(3, 4, 16, longest) ==
          sizeof(float) * 3 * 4 * static_cast<std::size_t>(partitions) * (16 + 2));
  }
}

TEST_CASE("CUDA tree attention: it refuses what its contract excludes and launches nothing") {
  Rng rng(3);
  const Scene scene(kShapes[0], kTriescopeF32, 1, 4, 1, rng);
  const Call c = scene.rows(0, 1, 4);
  TriescopeTreeAttention a{};
  a.rows = 1;
  a.heads = 9;
  a.kv_heads = 3;
  a.head_dim = 64;
  a.longest = 5;
  a.prefix_count = 4;
  a.offsets = c.offsets.data();
  CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);  // no scratch
  a.scratch_bytes = triescope_cuda_tree_attention_scratch(1, 9, 64, 5);
  for (const int head_dim : {0, 63, 264}) {
    a.head_dim = head_dim;
    CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
  }
  a.head_dim = 64;
  a.kv_heads = 2;
  CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
  a.kv_heads = 3;
  a.offsets = nullptr;  // causal: the longest list is prefix + rows
  a.rows = 2;
  CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
  // The ends of every range, with all the scratch that could be asked for.
  a.offsets = c.offsets.data();
  a.rows = 1;
  a.scratch_bytes = std::numeric_limits<std::size_t>::max();
  const auto refused = [&](auto member, std::initializer_list<std::int32_t> values) {
    const auto good = a.*member;
    for (const std::int32_t value : values) {
      CAPTURE(value);
      a.*member = value;
      CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
    }
    a.*member = good;
  };
  refused(&TriescopeTreeAttention::rows, {0, 65536});  // a grid has no more
  refused(&TriescopeTreeAttention::heads, {0, 8});
  refused(&TriescopeTreeAttention::kv_heads, {0, 2});
  refused(&TriescopeTreeAttention::longest, {0, 3});
  refused(&TriescopeTreeAttention::prefix_count, {-1, 6});
  refused(&TriescopeTreeAttention::window, {-1});
  refused(&TriescopeTreeAttention::dtype, {-1, 3});
  // Of a list of six partitions a row takes up one, and four chains.
  const std::size_t row = sizeof(float) * 9 * (64 + 2);
  a.longest = 700;
  a.scratch_bytes = 5 * row - 1;
  CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
  a.scratch_bytes = 5 * row;
  alignas(16) float memory[8] = {};
  const auto misplaced = [&](auto member) {
    a.*member = memory + 1;
    CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
    a.*member = nullptr;
  };
  misplaced(&TriescopeTreeAttention::q);
  misplaced(&TriescopeTreeAttention::keys);
  misplaced(&TriescopeTreeAttention::values);
  misplaced(&TriescopeTreeAttention::scratch);
  a.q_stride = 9 * 64 + 4;
  CHECK(triescope_cuda_tree_attention(&a, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("CUDA tree attention: the CUDA module is whole or absent with a reason") {
  const CudaModule& module = cuda_module();
  if (module.available()) {
    CHECK(module.reason.empty());
    CHECK(module.device_count() >= 0);
    CHECK(module.tree_attention_scratch(2, 9, 64, 129) == 2 * 9 * 2 * 66 * 4);
    CHECK(module.error_string(0) == std::string("no error"));
  } else {
    CHECK(!module.reason.empty());
    CHECK(!module.device_count);
    const auto beside = std::filesystem::path(TRIESCOPE_TEST_PROGRAM).parent_path();
    if (!std::getenv("TRIESCOPE_CUDA_MODULE") &&
        !std::filesystem::exists(beside / "libtriescope_cuda.so"))
      CHECK(module.reason ==
            "no libtriescope_cuda.so beside the program (it is built wherever nvcc is found)");
  }
}

TEST_CASE(
    "CUDA tree attention: on the GPU it agrees with the CPU twin, and a row's bits depend on its path alone") {
  const char* missing = nullptr;
  const CudaModule* gpu = test::answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  const auto run = [&](const Call& c) { return run_on_gpu(c, *gpu); };
  check_against_twin(Extent::kAll, run);
  check_partitions(Extent::kAll, run);
  check_path_only(run);
  check_windows_skip(run);
  check_nan(run);
  check_many_partitions(run);
  check_large_scores(run);
}

}  // namespace
}  // namespace triescope::kernels

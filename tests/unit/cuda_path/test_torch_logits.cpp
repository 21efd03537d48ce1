// Logits that stay where they were computed, memory that copies go through, and buckets of rows, in
// the libtorch executor over the stand-in.
#include <c10/util/Logging.h>  // before doctest: it has a CHECK of its own, which ours must replace
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "core/base/rng.h"
#include "core/kernels/aten.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/row_ops.h"
#include "core/model/torch/row_bucket.h"
#include "core/model/torch/staging_pool.h"
#include "core/model/torch/torch_logits.h"
#include "core/model/transformer.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_torch_logits {
namespace {

using nlohmann::json;

// Before anything asks for the module.
const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

at::Tensor random_rows(std::int64_t rows, std::int64_t vocab) {
  Rng rng(5);
  at::Tensor logits = at::empty({rows, vocab}, at::kFloat);
  for (float& v :
       std::span(logits.mutable_data_ptr<float>(), static_cast<std::size_t>(rows * vocab)))
    v = static_cast<float>(rng.next() % 2000) / 100;  // with ties
  return logits;
}

std::span<const float> row_of(const at::Tensor& logits, std::int64_t row) {
  return std::span(logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel()))
      .subspan(static_cast<std::size_t>(row * logits.size(1)),
               static_cast<std::size_t>(logits.size(1)));
}

int live_host_allocations() {
  REQUIRE((use_stand_in && kernels::cuda_module().available()));
  void* module = dlopen(TRIESCOPE_CUDA_STAND_IN, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE((module != nullptr));
  auto* told = reinterpret_cast<int (*)()>(dlsym(module, "triescope_stand_in_host_allocations"));
  REQUIRE((told != nullptr));
  const int live = told();
  dlclose(module);
  return live;
}

TEST_CASE(
    "logits on a device: sums and best tokens of every row, and no row but the ones asked for") {
  const at::Tensor logits = random_rows(4, 5000);
  TorchLogits kept(5000, at::TensorOptions(at::kFloat), LayerSteps::kKernels);
  REQUIRE(kept.warning("") == "");
  ForwardOutput output;
  output.vocab_size = 5000;
  kept.give(logits, 20, output);
  CHECK(output.logits.empty());
  REQUIRE(output.on_device == &kept);
  for (int r = 0; r < 4; ++r) {
    const LogitsRow row = output.row(r);
    CHECK(row.size() == 5000);
    CHECK(std::abs(row.log_sum_exp() - kernels::log_sum_exp(row_of(logits, r))) < 4e-6);
    CHECK(row.top_k(20) == kernels::top_k(row_of(logits, r), 20));
    CHECK(row.argmax() == kernels::argmax(row_of(logits, r)));
  }
  CHECK(kept.fetched() == 0);
  CHECK(output.row(2)[4321] == row_of(logits, 2)[4321]);
  CHECK(kept.fetched() == 1);
  // A first row alone, with a second one all of them.
  CHECK(std::ranges::equal(output.row(1).whole(), row_of(logits, 1)));
  CHECK(kept.fetched() == 2);
  const std::span<const float> first = output.row(1).whole();
  CHECK(std::ranges::equal(output.row(3).whole(), row_of(logits, 3)));
  CHECK(kept.fetched() == 6);
  CHECK(output.row(1).whole().data() == first.data());  // still there
  CHECK(std::ranges::equal(output.row(0).whole(), row_of(logits, 0)));
  CHECK(std::ranges::equal(output.row(1).whole(), row_of(logits, 1)));
  CHECK(output.row(3)[7] == row_of(logits, 3)[7]);
  CHECK(kept.fetched() == 6);
}

TEST_CASE(
    "logits on a device: whole rows at once where that is asked for, or nothing else is possible") {
  const at::Tensor logits = random_rows(3, 400);
  const auto goes_whole = [&](TorchLogits& kept, int best_tokens) {
    ForwardOutput output;
    output.vocab_size = 400;
    kept.give(logits, best_tokens, output);
    if (output.on_device != nullptr) return false;
    for (int r = 0; r < 3; ++r) CHECK(std::ranges::equal(output.row(r).whole(), row_of(logits, r)));
    return true;
  };
  TorchLogits kernels_there(400, at::TensorOptions(at::kFloat), LayerSteps::kKernels);
  CHECK(goes_whole(kernels_there, 0));
  CHECK_FALSE(goes_whole(kernels_there, 1));
  CHECK_FALSE(goes_whole(kernels_there, kMostBestTokens));
  CHECK(goes_whole(kernels_there, kMostBestTokens + 1));
  TorchLogits plain(400, at::TensorOptions(at::kFloat), LayerSteps::kOperations);
  CHECK(goes_whole(plain, 16));
  CHECK(plain.warning("") == "");
  ::setenv("TRIESCOPE_CUDA_STAND_IN_WRONG", "row_summary", 1);
  TorchLogits wrong(400, at::TensorOptions(at::kFloat), LayerSteps::kKernels);
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_WRONG");
  CHECK(goes_whole(wrong, 16));
  const std::string warning = wrong.warning("");
  CHECK(warning.starts_with(
      "whole rows of logits go to the host instead of their best tokens: on cpu a result of the "
      "kernel is off by "));
  CHECK(wrong.warning("layers: " + warning) == "");
  // Fewer tokens than are asked for: all of them.
  TorchLogits few(5, at::TensorOptions(at::kFloat), LayerSteps::kKernels);
  ForwardOutput output;
  few.give(random_rows(1, 5), 16, output);
  CHECK(output.row(0).known_best().size() == 5);
}

TEST_CASE("staging: page-locked memory where the module gives it, grown and given back") {
  const int before = live_host_allocations();
  {
    StagingBuffer buffer;
    std::byte* const first = buffer.reserve(1000);
    CHECK(buffer.is_locked());
    CHECK(live_host_allocations() == before + 1);
    CHECK(buffer.reserve(500) == first);
    const std::vector<float> values = {1, 2, 3};
    const at::Tensor copy = buffer.device_copy(values, at::kCPU);
    CHECK(copy.equal(at::tensor({1.0f, 2.0f, 3.0f})));
    const at::Tensor host = buffer.host_copy(at::tensor({4.0f, 5.0f}));
    CHECK(host.equal(at::tensor({4.0f, 5.0f})));
    CHECK(copy.equal(at::tensor({1.0f, 2.0f, 3.0f})));  // memory of its own
    CHECK(host.const_data_ptr() == buffer.reserve(1));
    buffer.reserve(100'000);
    CHECK(live_host_allocations() == before + 1);
    buffer.reserve(StagingBuffer::kMostLocked + 1);  // too much to take from everybody
    CHECK_FALSE(buffer.is_locked());
    CHECK(live_host_allocations() == before);
  }
  ::setenv("TRIESCOPE_CUDA_STAND_IN_NO_PINNED", "1", 1);
  StagingBuffer ordinary;
  CHECK(ordinary.reserve(64) != nullptr);
  CHECK_FALSE(ordinary.is_locked());
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_NO_PINNED");
  CHECK(live_host_allocations() == before);
}

TEST_CASE("staging pool: as many buffers as are in use at once") {
  const int before = live_host_allocations();
  {
    StagingPool pool;
    StagingBuffer* first = nullptr;
    {
      const StagingPool::Lease lease = pool.take();
      lease->reserve(100);
      first = lease.get();
    }
    const StagingPool::Lease again = pool.take(), other = pool.take();
    CHECK(again.get() == first);
    CHECK(other.get() != first);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const StagingPool::Lease lease = pool.take();
          std::byte* const at = lease->reserve(64);
          at[0] = std::byte{7};
          CHECK(at[0] == std::byte{7});
        }
      });
  }
  CHECK(live_host_allocations() == before);
}

TEST_CASE("row buckets: room for all of their rows, and views of it") {
  const at::TensorOptions options(at::kFloat);
  const at::Tensor few = bucket_rows(3, 8, options);
  CHECK(few.sizes() == at::IntArrayRef({3, 8}));
  CHECK(few.is_contiguous());
  const at::Tensor whole = whole_bucket(few);
  CHECK(whole.sizes() == at::IntArrayRef({kRowBucket, 8}));
  CHECK(whole.const_data_ptr() == few.const_data_ptr());
  CHECK(whole_bucket(bucket_rows(kRowBucket, 8, options)).size(0) == kRowBucket);
  CHECK(whole_bucket(bucket_rows(40, 8, options)).size(0) == 40);
  CHECK(whole_bucket(at::empty({3, 8}, options)).size(0) == 3);  // no room
  CHECK(whole_bucket(at::empty({kRowBucket, 8}, options).narrow(0, 1, 3)).size(0) == 3);
  const at::Tensor numbers = at::arange(40, options).reshape({5, 8});
  const at::Tensor chosen = select_bucket_rows(numbers, at::tensor({4, 1}, at::kInt));
  CHECK(chosen.equal(numbers.index_select(0, at::tensor({4, 1}, at::kInt))));
  CHECK(whole_bucket(chosen).size(0) == kRowBucket);
}

// The logits of the first of `rows` rows behind a prompt, all with the same list but for themselves.
std::vector<float> first_row(Model& model, int rows) {
  const std::vector<std::int32_t> prompt = {5, 9, 2, 17, 33, 8};
  const int before = static_cast<int>(prompt.size());
  const auto kv = model.make_kv(before + 64);
  all_logits(model, *kv, prompt);
  std::vector<TreeRow> batch;
  for (int r = 0; r < rows; ++r) batch.push_back({3 + r, before, before + r, {}});
  const ForwardOutput output = run_tree_rows(model, *kv, iota(before), batch);
  const std::span<const float> row = output.row(0).whole();
  return {row.begin(), row.end()};
}

TEST_CASE("path only: a row has the same bits in every forward of up to a bucket of rows") {
  const json golden = golden_families()["cases"];
  for (const char* name : {"llama", "qwen3", "gemma2", "gpt2", "mixtral", "granitemoeshared"}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      CAPTURE(name);
      CAPTURE(to_string(dtype));
      const TempDir folder;
      write_golden_model(golden.at(name), folder.path());
      const auto model = load_torch_model(folder.path().string(), dtype);
      REQUIRE(model->info().path_only_rows == kRowBucket);
      const std::vector<float> alone = first_row(*model, 1);
      for (const int rows : {2, 5, 9, 17, 31, 32}) {
        CAPTURE(rows);
        const std::vector<float> found = first_row(*model, rows);
        CHECK(std::memcmp(found.data(), alone.data(), alone.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("path only: a model whose steps fall back says that it holds for one row alone") {
  const TempDir folder;
  write_golden_model(golden_families()["cases"]["llama"], folder.path());
  ::setenv("TRIESCOPE_CUDA_STAND_IN_WRONG", "gated_activation", 1);
  const auto model = load_torch_model(folder.path().string(), DType::kF32);
  ::unsetenv("TRIESCOPE_CUDA_STAND_IN_WRONG");
  CHECK(model->info().path_only_rows == 1);
}

}  // namespace
}  // namespace triescope::test::test_torch_logits

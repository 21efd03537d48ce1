// The CUDA kernel that adds to the residual stream and normalises it, against the CPU twins:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "core/kernels/activation.h"
#include "core/kernels/norm.h"
#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/add_norm.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

struct AddNorm {
  int rows = 1, dim = 1, dtype = kTriescopeF32;
  bool layer = false;
  Floats x, h, post, weight, bias;  // h, post, bias: empty = none
  float eps = 1e-5f;
};

struct Normed {
  Bytes x, out;
  bool operator==(const Normed&) const = default;
};

AddNorm random_add_norm(int rows, int dim, int dtype, bool layer, bool h, bool post, Rng& rng) {
  AddNorm c;
  c.rows = rows;
  c.dim = dim;
  c.dtype = dtype;
  c.layer = layer;
  const std::int64_t count = std::int64_t{rows} * dim;
  c.x = in_dtype(test::random_values(count, rng, 3.0f), dtype);
  if (h) c.h = in_dtype(test::random_values(count, rng, 2.0f), dtype);
  if (post) c.post = test::random_values(dim, rng);
  c.weight = test::random_values(dim, rng);
  if (layer) c.bias = test::random_values(dim, rng);
  return c;
}

Normed run(const AddNorm& c, const CudaModule* gpu) {
  Place place(gpu);
  Floats x = c.x, h = c.h;
  const Bytes in = encode(x, c.dtype);
  TriescopeAddNorm call = {};
  call.x = place.put(in);
  call.h = h.empty() ? nullptr : place.put(encode(h, c.dtype));
  call.post = place.list(c.post);
  call.weight = place.list(c.weight);
  call.bias = place.list(c.bias);
  call.out = place.put(Bytes(in.size(), 0xee));
  call.rows = c.rows;
  call.dim = c.dim;
  call.eps = c.eps;
  call.layer_norm = c.layer;
  call.dtype = c.dtype;
  REQUIRE(place.launch(triescope_cuda_add_norm, &CudaModule::add_norm, call) == 0);
  return {place.get(call.x, in.size()), place.get(call.out, in.size())};
}

// x and out of the CPU twins, rounded where the kernel rounds.
std::pair<Floats, Floats> twin(const AddNorm& c) {
  ThreadPool pool(1);
  const Rows rows{c.rows, c.dim};
  const auto norm = [&](const Floats& in, const Floats& weight, const Floats& bias) {
    Floats out(in.size());
    if (c.layer) {
      layer_norm(in.data(), c.dim, rows, weight.data(), bias.empty() ? nullptr : bias.data(), c.eps,
                 out.data(), c.dim, pool);
    } else {
      rms_norm(in.data(), c.dim, rows, weight.data(), c.eps, false, out.data(), c.dim, pool);
    }
    return in_dtype(out, c.dtype);
  };
  Floats x = c.x;
  if (!c.h.empty()) {
    const Floats h = c.post.empty() ? c.h : norm(c.h, c.post, {});
    add_to(x.data(), h.data(), static_cast<std::int64_t>(x.size()));
    x = in_dtype(x, c.dtype);
  }
  Floats out = norm(x, c.weight, c.bias);
  return {std::move(x), std::move(out)};
}

void check_add_norm(const CudaModule* gpu) {
  Rng rng(11);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 8, 33, 64, 576, 1023, 2056, 4104}) {
      for (const auto& [rows, h, post] :
           {std::tuple{1, false, false}, {3, true, false}, {2, true, true}}) {
        for (const bool layer : {false, true}) {
          CAPTURE(dtype);
          CAPTURE(dim);
          CAPTURE(rows);
          CAPTURE(layer);
          CAPTURE(post);
          const AddNorm c = random_add_norm(rows, dim, dtype, layer, h, post, rng);
          const Normed got = run(c, gpu);
          const auto& [x, out] = twin(c);
          const double fraction = relative(dtype, layer ? 1e-5 : 2e-6);
          // Where norm(h) * post takes one rounding more or less, x does by as much, and its norm.
          const double least = post && dtype != kTriescopeF32 ? 20 * fraction : 1e-5;
          if (post) {
            CHECK(distance(decode(got.x, dtype), x, fraction, least) <= 1);
          } else {
            CHECK(decode(got.x, dtype) == x);
          }
          // x may differ by a rounding there, and its norm with it.
          CHECK(distance(decode(got.out, dtype), out, (post ? 3 : 1) * fraction, least) <= 1);
        }
      }
    }
  }
}

void check_add_norm_alone(const CudaModule* gpu) {
  Rng rng(12);
  for (const int dim : {576, 1023}) {
    const AddNorm all = random_add_norm(33, dim, kTriescopeBF16, false, true, true, rng);
    const Normed together = run(all, gpu);
    for (const int row : {0, 16, 32}) {
      AddNorm one = all;
      one.rows = 1;
      one.x.assign(all.x.begin() + row * dim, all.x.begin() + (row + 1) * dim);
      one.h.assign(all.h.begin() + row * dim, all.h.begin() + (row + 1) * dim);
      const Normed alone = run(one, gpu);
      const auto part = [&](const Bytes& bytes) {
        return Bytes(bytes.begin() + row * dim * 2, bytes.begin() + (row + 1) * dim * 2);
      };
      CAPTURE(dim);
      CAPTURE(row);
      CHECK(alone == Normed{part(together.x), part(together.out)});
    }
  }
}

void check_add_norm_nan(const CudaModule* gpu) {
  Rng rng(13);
  for (const bool layer : {false, true}) {
    for (const bool post : {false, true}) {
      AddNorm c = random_add_norm(3, 40, kTriescopeF32, layer, true, post, rng);
      c.h[40 + 17] = kNaN;
      const Normed got = run(c, gpu);
      const Floats x = decode(got.x, c.dtype), out = decode(got.out, c.dtype);
      CAPTURE(layer);
      CAPTURE(post);
      CHECK(std::isnan(x[40 + 17]));
      CHECK(std::isnan(x[40]) == post);
      CHECK(all_nan(out, 40, 40));
      CHECK(!any_nan(out, 0, 40));
      CHECK(!any_nan(out, 80, 40));
    }
  }
}

TEST_CASE("CUDA add and norm, its source run on the CPU, agrees with the CPU twins") {
  check_add_norm(nullptr);
}

TEST_CASE(
    "CUDA add and norm, its source run on the CPU: a row alone has the bits it has in company") {
  check_add_norm_alone(nullptr);
}

TEST_CASE("CUDA add and norm, its source run on the CPU: a NaN makes its row NaN and no other") {
  check_add_norm_nan(nullptr);
}

TEST_CASE("CUDA add and norm refuses what its contract excludes and launches nothing") {
  alignas(16) float memory[64] = {};
  TriescopeAddNorm norm = {};
  norm.x = memory;
  norm.h = memory + 8;
  norm.weight = memory + 16;
  norm.out = memory + 24;
  norm.rows = 1;
  norm.dim = 4;
  using N = TriescopeAddNorm;
  check_refused(
      triescope_cuda_add_norm, norm, [](N& c) { c.rows = 0; }, [](N& c) { c.dim = 0; },
      [](N& c) { c.eps = -1; }, [](N& c) { c.eps = kNaN; }, [](N& c) { c.x = nullptr; },
      [](N& c) { c.out = nullptr; }, [](N& c) { c.weight = nullptr; },
      [](N& c) { c.x = static_cast<float*>(c.x) + 1; },
      [](N& c) { c.h = static_cast<const float*>(c.h) + 1; },
      [](N& c) { c.out = static_cast<float*>(c.out) + 1; }, [](N& c) { c.dtype = -1; },
      [](N& c) { c.dtype = 3; });
  CHECK(triescope_cuda_add_norm(&norm, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "add_norm\n");
}

TEST_CASE("CUDA add and norm on the GPU agrees with the CPU twins, row by row, and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_add_norm(gpu);
  check_add_norm_alone(gpu);
  check_add_norm_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels

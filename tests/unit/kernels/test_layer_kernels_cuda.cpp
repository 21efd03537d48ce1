// The CUDA kernels between a layer's products (add_norm, split_qkv, gated_activation) against their
// CPU twins: their own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/kernels/activation.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/norm.h"
#include "core/kernels/rope.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/support/sanitized.h"
#include "tests/unit/kernels/cuda_dtypes.h"
#include "tests/unit/kernels/random_values.h"
// After the stand-in: the kernels themselves.
#include "core/kernels/add_norm.cu"
#include "core/kernels/gated_activation.cu"
#include "core/kernels/split_qkv.cu"

namespace triescope::kernels {
namespace {

using test::Bytes;
using test::decode;
using test::encode;
using Floats = std::vector<float>;

constexpr int kDTypes[] = {kTriescopeF32, kTriescopeF16, kTriescopeBF16};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Where a kernel runs: its source over host memory, or the module's on a GPU.
class Place {
 public:
  explicit Place(const CudaModule* gpu = nullptr) : gpu_(gpu) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    for (void* p : owned_) gpu_ != nullptr ? static_cast<void>(gpu_->free(p)) : std::free(p);
  }

  void* put(const void* values, std::size_t bytes) {
    void* p = nullptr;
    const std::size_t room = (bytes + 31) / 16 * 16;
    if (gpu_ == nullptr) {
      p = std::aligned_alloc(16, room);
      std::memcpy(p, values, bytes);
    } else {
      REQUIRE(gpu_->allocate(&p, room) == 0);
      REQUIRE(gpu_->to_device(p, values, bytes) == 0);
    }
    owned_.push_back(p);
    return p;
  }
  void* put(const Bytes& bytes) { return put(bytes.data(), bytes.size()); }
  // What fp32 arguments and slots are: null where there are none.
  template <class V>
  const V* list(const std::vector<V>& values) {
    return values.empty() ? nullptr
                          : static_cast<V*>(put(values.data(), values.size() * sizeof(V)));
  }
  Bytes get(const void* p, std::size_t bytes) const {
    Bytes out(bytes);
    if (gpu_ == nullptr) {
      std::memcpy(out.data(), p, bytes);
    } else {
      REQUIRE(gpu_->to_host(out.data(), p, bytes) == 0);
    }
    return out;
  }

  int run(const TriescopeAddNorm& call) const {
    return gpu_ ? gpu_->add_norm(&call, nullptr) : triescope_cuda_add_norm(&call, nullptr);
  }
  int run(const TriescopeSplitQkv& call) const {
    return gpu_ ? gpu_->split_qkv(&call, nullptr) : triescope_cuda_split_qkv(&call, nullptr);
  }
  int run(const TriescopeGatedActivation& call) const {
    return gpu_ ? gpu_->gated_activation(&call, nullptr)
                : triescope_cuda_gated_activation(&call, nullptr);
  }

 private:
  const CudaModule* gpu_;
  std::vector<void*> owned_;
};

// Rounded as a tensor of that dtype holds it.
Floats in_dtype(Floats values, int dtype) {
  encode(values, dtype);
  return values;
}

// One rounding of the dtype, relative; in fp32 the tolerance of the contracts.
double relative(int dtype, double fp32) {
  return dtype == kTriescopeF32 ? fp32 : dtype == kTriescopeF16 ? 0x1p-10 : 0x1p-7;
}

// How far `got` is from `want`, in allowed distances: `fraction` of a value, or `least`.
double distance(const Floats& got, const Floats& want, double fraction, double least) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = std::max(std::fabs(double{want[i]}) * fraction, least);
    const double off = std::fabs(double{got[i]} - want[i]) / allowed;
    if (!(off <= worst)) worst = off;  // NaN too
  }
  return worst;
}

bool all_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

bool any_nan(const Floats& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(count),
                     [](float v) { return std::isnan(v); });
}

// add_norm

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
  REQUIRE(place.run(call) == 0);
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
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_add_norm(nullptr);
}

TEST_CASE(
    "CUDA add and norm, its source run on the CPU: a row alone has the bits it has in company") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_add_norm_alone(nullptr);
}

TEST_CASE("CUDA add and norm, its source run on the CPU: a NaN makes its row NaN and no other") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_add_norm_nan(nullptr);
}

// split_qkv

struct SplitQkv {
  int rows = 1, heads = 1, kv_heads = 1, head_dim = 8, rope_dims = 0, dtype = kTriescopeF32;
  Floats qkv, query_norm, key_norm, cos, sin;
  std::vector<std::int32_t> slots;
  int capacity = 1;
  int all() const { return heads + 2 * kv_heads; }
};

struct Split {
  Bytes qkv, keys, values;
  bool operator==(const Split&) const = default;
};

constexpr float kUntouched = -77.0f;

SplitQkv random_split(int rows, int heads, int kv_heads, int head_dim, int rope_dims, bool norms,
                      int dtype, Rng& rng) {
  SplitQkv c;
  c.rows = rows;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.head_dim = head_dim;
  c.rope_dims = rope_dims;
  c.dtype = dtype;
  c.qkv = in_dtype(test::random_values(std::int64_t{rows} * c.all() * head_dim, rng, 2.0f), dtype);
  if (norms) {
    c.query_norm = test::random_values(head_dim, rng);
    c.key_norm = test::random_values(head_dim, rng);
  }
  c.cos = test::random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.sin = test::random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.capacity = rows + 3;
  c.slots = test::shuffled(c.capacity, rng);
  c.slots.resize(static_cast<std::size_t>(rows));
  return c;
}

Split run(const SplitQkv& c, const CudaModule* gpu) {
  Place place(gpu);
  Floats in = c.qkv,
         storage(static_cast<std::size_t>(c.capacity * c.kv_heads * c.head_dim), kUntouched);
  const Bytes qkv = encode(in, c.dtype), empty = encode(storage, c.dtype);
  TriescopeSplitQkv call = {};
  call.qkv = place.put(qkv);
  call.keys = place.put(empty);
  call.values = place.put(empty);
  call.slots = place.list(c.slots);
  call.query_norm = place.list(c.query_norm);
  call.key_norm = place.list(c.key_norm);
  call.cos = place.list(c.cos);
  call.sin = place.list(c.sin);
  call.eps = 1e-6f;
  call.rows = c.rows;
  call.heads = c.heads;
  call.kv_heads = c.kv_heads;
  call.head_dim = c.head_dim;
  call.rope_dims = c.rope_dims;
  call.dtype = c.dtype;
  REQUIRE(place.run(call) == 0);
  return {place.get(call.qkv, qkv.size()), place.get(call.keys, empty.size()),
          place.get(call.values, empty.size())};
}

// q in its place in qkv, K and V in their slots, of the CPU twins.
struct SplitTwin {
  Floats qkv, keys, values;
};

SplitTwin twin(const SplitQkv& c) {
  ThreadPool pool(1);
  const int width = c.all() * c.head_dim;
  SplitTwin t;
  t.qkv = c.qkv;
  Floats work = c.qkv;
  float* q = work.data();
  float* k = q + c.heads * c.head_dim;
  if (!c.query_norm.empty()) {
    rms_norm_heads(q, width, c.rows, c.heads, c.head_dim, c.query_norm.data(), 1e-6f, false, pool);
    rms_norm_heads(k, width, c.rows, c.kv_heads, c.head_dim, c.key_norm.data(), 1e-6f, false, pool);
    work = in_dtype(work, c.dtype);
    q = work.data();
    k = q + c.heads * c.head_dim;
  }
  rope(q, width, c.rows, c.heads + c.kv_heads, c.head_dim, c.rope_dims, c.cos.data(), c.sin.data());
  work = in_dtype(work, c.dtype);
  const auto storage = static_cast<std::size_t>(c.capacity * c.kv_heads * c.head_dim);
  t.keys.assign(storage, kUntouched);
  t.values.assign(storage, kUntouched);
  for (int r = 0; r < c.rows; ++r) {
    const float* row = work.data() + r * width;
    const int kv = c.kv_heads * c.head_dim, query = c.heads * c.head_dim;
    const std::ptrdiff_t slot = std::ptrdiff_t{c.slots[static_cast<std::size_t>(r)]} * kv;
    std::copy(row, row + query, t.qkv.begin() + r * width);
    std::copy(row + query, row + query + kv, t.keys.begin() + slot);
    std::copy(row + query + kv, row + width, t.values.begin() + slot);
  }
  return t;
}

void check_split_qkv(const CudaModule* gpu) {
  Rng rng(14);
  struct Shape {
    int heads, kv_heads, head_dim, rope_dims;
  };
  const Shape shapes[] = {{1, 1, 64, 64}, {8, 1, 80, 20}, {6, 3, 128, 128}, {4, 4, 256, 64},
                          {5, 1, 7, 6},   {3, 1, 96, 0},  {7, 1, 40, 2},    {2, 2, 1, 0}};
  for (const int dtype : kDTypes) {
    for (const auto& [heads, kv_heads, head_dim, rope_dims] : shapes) {
      for (const auto& [rows, norms] : {std::pair{1, false}, {1, true}, {5, false}, {33, true}}) {
        CAPTURE(dtype);
        CAPTURE(heads);
        CAPTURE(head_dim);
        CAPTURE(rows);
        CAPTURE(norms);
        const SplitQkv c =
            random_split(rows, heads, kv_heads, head_dim, rope_dims, norms, dtype, rng);
        const Split got = run(c, gpu);
        const SplitTwin want = twin(c);
        CHECK(decode(got.values, dtype) == want.values);
        const Floats qkv = decode(got.qkv, dtype), keys = decode(got.keys, dtype);
        // Two products, below 16 here, are added: near 0 they have the rounding of the larger; so has
        // what follows a norm that takes one rounding more or less.
        const double least = 16 * relative(norms ? dtype : kTriescopeF32, 2e-6);
        const double fraction = relative(dtype, 2e-6);
        CHECK(distance(qkv, want.qkv, fraction, least) <= 1);
        CHECK(distance(keys, want.keys, fraction, least) <= 1);
        // k and v of the product stay as they were, in every row.
        const int width = c.all() * head_dim, query = heads * head_dim;
        for (int r = 0; r < rows; ++r)
          CHECK(std::equal(qkv.begin() + r * width + query, qkv.begin() + (r + 1) * width,
                           c.qkv.begin() + r * width + query));
      }
    }
  }
}

void check_split_alone(const CudaModule* gpu) {
  Rng rng(15);
  const SplitQkv all = random_split(9, 4, 2, 80, 80, true, kTriescopeF16, rng);
  const Split together = run(all, gpu);
  const int width = all.all() * 80, kv = 2 * 80;
  for (const int row : {0, 4, 8}) {
    SplitQkv one = all;
    one.rows = 1;
    const auto cut = [&](const Floats& from, int of_row) {
      return Floats(from.begin() + row * of_row, from.begin() + (row + 1) * of_row);
    };
    one.qkv = cut(all.qkv, width);
    one.cos = cut(all.cos, 40);
    one.sin = cut(all.sin, 40);
    const std::int32_t slot = all.slots[static_cast<std::size_t>(row)];
    one.slots = {(slot + 1) % all.capacity};  // elsewhere
    const Split alone = run(one, gpu);
    const auto bytes = [](const Bytes& from, int begin, int count) {
      return Bytes(from.begin() + begin * 2, from.begin() + (begin + count) * 2);
    };
    CAPTURE(row);
    CHECK(alone.qkv == bytes(together.qkv, row * width, width));
    CHECK(bytes(alone.keys, one.slots[0] * kv, kv) == bytes(together.keys, slot * kv, kv));
    CHECK(bytes(alone.values, one.slots[0] * kv, kv) == bytes(together.values, slot * kv, kv));
  }
}

void check_split_nan(const CudaModule* gpu) {
  Rng rng(16);
  for (const bool norms : {false, true}) {
    SplitQkv c = random_split(2, 3, 1, 16, 8, norms, kTriescopeF32, rng);
    const int width = c.all() * 16;
    // The second row's second q head, its k and its v.
    for (const int at : {16 + 1, 3 * 16 + 9, 4 * 16 + 3})
      c.qkv[static_cast<std::size_t>(width + at)] = kNaN;
    const Split got = run(c, gpu);
    const Floats qkv = decode(got.qkv, c.dtype), keys = decode(got.keys, c.dtype),
                 values = decode(got.values, c.dtype);
    const auto row = static_cast<std::size_t>(width);
    const auto slot = static_cast<std::size_t>(c.slots[1]) * 16;
    CAPTURE(norms);
    // Dimension 1 is rotated with dimension 5, dimension 9 is not.
    CHECK(std::isnan(qkv[row + 16 + 1]));
    CHECK(std::isnan(qkv[row + 16 + 5]));
    CHECK(std::isnan(qkv[row + 16 + 2]) == norms);
    CHECK(std::isnan(keys[slot + 9]));
    CHECK(std::isnan(keys[slot]) == norms);
    CHECK(std::isnan(values[slot + 3]));
    CHECK(!std::isnan(values[slot + 2]));
    CHECK(!any_nan(qkv, 0, row));
    CHECK(!any_nan(qkv, row, 16));
    CHECK(!any_nan(keys, static_cast<std::size_t>(c.slots[0]) * 16, 16));
  }
}

TEST_CASE("CUDA split of q, k and v, its source run on the CPU, agrees with the CPU twins") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_split_qkv(nullptr);
}

TEST_CASE(
    "CUDA split of q, k and v, its source run on the CPU: a row's bits depend neither on other rows "
    "nor on slots") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_split_alone(nullptr);
}

TEST_CASE("CUDA split of q, k and v, its source run on the CPU: a NaN stays") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_split_nan(nullptr);
}

// gated_activation

Bytes run_activation(const Floats& in, int rows, int dim, bool gated, int kind, int dtype,
                     const CudaModule* gpu) {
  Place place(gpu);
  Floats values = in;
  const Bytes bytes = encode(values, dtype);
  TriescopeGatedActivation call = {};
  call.in = place.put(bytes);
  const std::size_t size = bytes.size() / (gated ? 2 : 1);
  call.out = place.put(Bytes(size, 0xee));
  call.rows = rows;
  call.dim = dim;
  call.gated = gated;
  call.kind = kind;
  call.dtype = dtype;
  REQUIRE(place.run(call) == 0);
  return place.get(call.out, size);
}

constexpr std::pair<int, ActivationKind> kKinds[] = {
    {kTriescopeSilu, ActivationKind::kSilu},
    {kTriescopeGeluTanh, ActivationKind::kGeluTanh},
    {kTriescopeGelu, ActivationKind::kGelu}};

void check_activation(const CudaModule* gpu) {
  Rng rng(17);
  ThreadPool pool(1);
  for (const int dtype : kDTypes) {
    for (const int dim : {1, 7, 8, 576, 1023, 2056, 4104}) {
      for (const auto& [kind, twin] : kKinds) {
        for (const auto& [rows, gated] : {std::pair{1, true}, {3, true}, {2, false}}) {
          const std::int64_t width = (gated ? 2 : 1) * dim;
          Floats in = in_dtype(test::random_values(rows * width, rng, 4.0f), dtype);
          in[0] = -40.0f;
          Floats act(static_cast<std::size_t>(rows * dim));
          for (int r = 0; r < rows; ++r)
            std::copy_n(in.begin() + r * width, dim, act.begin() + std::ptrdiff_t{r} * dim);
          activation(twin, act.data(), dim, rows, dim, pool);
          act = in_dtype(act, dtype);
          for (int r = 0; r < rows && gated; ++r) {
            for (int i = 0; i < dim; ++i)
              act[static_cast<std::size_t>(r * dim + i)] *=
                  in[static_cast<std::size_t>(r * width + dim + i)];
          }
          act = in_dtype(act, dtype);
          const Floats got = decode(run_activation(in, rows, dim, gated, kind, dtype, gpu), dtype);
          CAPTURE(dtype);
          CAPTURE(dim);
          CAPTURE(kind);
          CAPTURE(gated);
          // Two roundings in fp16 and bf16; times `up`, below 18 here, in the least distance.
          CHECK(distance(got, act, 2 * relative(dtype, 2e-6), 18e-6) <= 1);
        }
      }
    }
  }
}

void check_activation_nan(const CudaModule* gpu) {
  for (const auto& [kind, twin] : kKinds) {
    CAPTURE(kind);
    // Gates, then ups, of two rows of three.
    const Floats in = {1, kNaN, -2, 1, 2, 3, 4, 5, 6, 7, 8, kNaN};
    const Floats out =
        decode(run_activation(in, 2, 3, true, kind, kTriescopeF32, gpu), kTriescopeF32);
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK(std::isnan(out[i]) == (i == 1 || i == 5));
    }
  }
}

TEST_CASE("CUDA activation, its source run on the CPU, agrees with the CPU twin") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_activation(nullptr);
}

TEST_CASE("CUDA activation, its source run on the CPU: a NaN stays a NaN, alone") {
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  check_activation_nan(nullptr);
}

TEST_CASE("CUDA layer kernels refuse what their contracts exclude and launch nothing") {
  alignas(16) float memory[64] = {};
  const std::int32_t slots[1] = {0};
  ::cuda_stand_in::launches.clear();
  // Each change alone makes a good call bad.
  const auto refuses = [](auto good, auto launch, auto... changes) {
    const auto one = [&](auto change) {
      auto call = good;
      change(call);
      CHECK(launch(&call, nullptr) == cudaErrorInvalidValue);
    };
    (one(changes), ...);
  };

  TriescopeAddNorm norm = {};
  norm.x = memory;
  norm.h = memory + 8;
  norm.weight = memory + 16;
  norm.out = memory + 24;
  norm.rows = 1;
  norm.dim = 4;
  using N = TriescopeAddNorm;
  refuses(
      norm, triescope_cuda_add_norm, [](N& c) { c.rows = 0; }, [](N& c) { c.dim = 0; },
      [](N& c) { c.eps = -1; }, [](N& c) { c.eps = kNaN; }, [](N& c) { c.x = nullptr; },
      [](N& c) { c.out = nullptr; }, [](N& c) { c.weight = nullptr; },
      [](N& c) { c.x = static_cast<float*>(c.x) + 1; },
      [](N& c) { c.h = static_cast<const float*>(c.h) + 1; },
      [](N& c) { c.out = static_cast<float*>(c.out) + 1; }, [](N& c) { c.dtype = -1; },
      [](N& c) { c.dtype = 3; });

  TriescopeSplitQkv split = {};
  split.qkv = memory;
  split.keys = memory + 32;
  split.values = memory + 40;
  split.slots = slots;
  split.cos = memory + 48;
  split.sin = memory + 50;
  split.rows = split.heads = split.kv_heads = 1;
  split.head_dim = split.rope_dims = 4;
  using S = TriescopeSplitQkv;
  refuses(
      split, triescope_cuda_split_qkv, [](S& c) { c.rows = 0; }, [](S& c) { c.rows = 65536; },
      [](S& c) { c.heads = 0; }, [](S& c) { c.kv_heads = 0; }, [](S& c) { c.head_dim = 0; },
      [](S& c) { c.rope_dims = 3; }, [](S& c) { c.rope_dims = 6; }, [](S& c) { c.rope_dims = -2; },
      [](S& c) { c.cos = nullptr; }, [](S& c) { c.sin = nullptr; }, [](S& c) { c.eps = -1; },
      [](S& c) { c.qkv = nullptr; }, [](S& c) { c.keys = nullptr; },
      [](S& c) { c.values = nullptr; }, [](S& c) { c.slots = nullptr; }, [](S& c) { c.dtype = -1; },
      [](S& c) { c.dtype = 3; });

  TriescopeGatedActivation act = {};
  act.in = memory;
  act.out = memory + 32;
  act.rows = 1;
  act.dim = 4;
  using A = TriescopeGatedActivation;
  refuses(
      act, triescope_cuda_gated_activation, [](A& c) { c.rows = 0; }, [](A& c) { c.rows = 65536; },
      [](A& c) { c.dim = 0; }, [](A& c) { c.kind = -1; }, [](A& c) { c.kind = 3; },
      [](A& c) { c.in = nullptr; }, [](A& c) { c.out = nullptr; },
      [](A& c) { c.in = static_cast<const float*>(c.in) + 1; },
      [](A& c) { c.out = static_cast<float*>(c.out) + 1; }, [](A& c) { c.dtype = -1; },
      [](A& c) { c.dtype = 3; });
  CHECK(::cuda_stand_in::launches.empty());

  // The calls that these were made from do launch.
  TRIESCOPE_SKIP_FIBRES_UNDER_SANITIZERS();
  CHECK(triescope_cuda_add_norm(&norm, nullptr) == 0);
  CHECK(triescope_cuda_split_qkv(&split, nullptr) == 0);
  CHECK(triescope_cuda_gated_activation(&act, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "add_norm\nsplit_qkv_heads<T>\ngated_activation\n");
}

TEST_CASE("CUDA layer kernels on the GPU agree with the CPU twins, row by row, and keep NaNs") {
  const CudaModule& gpu = cuda_module();
  if (!gpu.available()) TRIESCOPE_SKIP("the CUDA module is not built");
  if (gpu.device_count() == 0) TRIESCOPE_SKIP("no CUDA device answers");
  check_add_norm(&gpu);
  check_add_norm_alone(&gpu);
  check_add_norm_nan(&gpu);
  check_split_qkv(&gpu);
  check_split_alone(&gpu);
  check_split_nan(&gpu);
  check_activation(&gpu);
  check_activation_nan(&gpu);
}

}  // namespace
}  // namespace triescope::kernels

// The two kernels that normalise the residual stream.
#include <algorithm>

#include "core/files/random_blocks.h"
#include "core/kernels/activation.h"
#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_cases/random_inputs.h"
#include "core/kernels/norm.h"

namespace triescope::kernels {
namespace {

const char* name_of_norm(bool layer) { return layer ? "layer norm" : "RMS norm"; }

Floats normed(const Floats& in, int dim, bool layer, const Floats& weight, const Floats& bias,
              float eps, int dtype) {
  ThreadPool pool(1);
  const Rows rows{static_cast<std::int64_t>(in.size()) / dim, dim};
  Floats out(in.size());
  if (layer) {
    layer_norm(in.data(), dim, rows, weight.data(), bias.empty() ? nullptr : bias.data(), eps,
               out.data(), dim, pool);
  } else {
    rms_norm(in.data(), dim, rows, weight.data(), eps, false, out.data(), dim, pool);
  }
  return in_dtype(out, dtype);
}

}  // namespace

AddNormInputs AddNormInputs::random(int rows, int dim, int dtype, bool layer, bool h, bool post,
                                    Rng& rng) {
  AddNormInputs c;
  c.rows = rows;
  c.dim = dim;
  c.dtype = dtype;
  c.layer = layer;
  const std::int64_t count = std::int64_t{rows} * dim;
  c.x = in_dtype(random_values(count, rng, 3.0f), dtype);
  if (h) c.h = in_dtype(random_values(count, rng, 2.0f), dtype);
  if (post) c.post = random_values(dim, rng);
  c.weight = random_values(dim, rng);
  if (layer) c.bias = random_values(dim, rng);
  return c;
}

TriescopeAddNorm AddNormInputs::put(CudaArrays& on, const CudaModule&) const {
  return {.x = on.put(x, dtype),
          .h = h.empty() ? nullptr : on.put(h, dtype),
          .post = on.list(post),
          .weight = on.list(weight),
          .bias = on.list(bias),
          .out = on.room(x.size() * size_of_dtype(dtype)),
          .rows = rows,
          .dim = dim,
          .eps = eps,
          .layer_norm = layer,
          .dtype = dtype};
}

Agreement AddNormInputs::compare(const CudaArrays& on, const Call& call) const {
  const Floats found = on.get(call.x, x.size(), dtype);
  Floats stream = x;
  if (!h.empty()) {
    const Floats added = post.empty() ? h : normed(h, dim, layer, post, {}, eps, dtype);
    add_to(stream.data(), added.data(), static_cast<std::int64_t>(stream.size()));
    stream = in_dtype(stream, dtype);
  }
  const double fraction = relative_rounding(dtype, layer ? 1e-5 : 2e-6);
  // Where norm(h) * post takes one rounding more or less, x does by as much, and its norm.
  const bool is_moved = !post.empty();
  const double least = is_moved && dtype != kTriescopeF32 ? 20 * fraction : 1e-5;
  return worse(agreement(found, stream, is_moved ? fraction : 0, is_moved ? least : 0),
               agreement(on.get(call.out, x.size(), dtype),
                         normed(stream, dim, layer, weight, bias, eps, dtype),
                         (is_moved ? 3 : 1) * fraction, least));
}

std::string AddNormInputs::what() const {
  return (h.empty()      ? ""
          : post.empty() ? "add and "
                         : "norm, add and ") +
         std::string(name_of_norm(layer));
}

double AddNormInputs::bytes() const {
  // x twice, out, and h where there is one; the weights are the rows' own.
  return static_cast<double>((3 * x.size() + h.size()) * size_of_dtype(dtype));
}

EmbedNormInputs EmbedNormInputs::random(int dim, int dtype, int type, bool layer, bool positions,
                                        float scale, Rng& rng) {
  EmbedNormInputs c;
  c.dim = dim;
  c.dtype = dtype;
  c.type = type;
  c.layer = layer;
  c.scale = scale;
  c.ids = {3, kVocab - 1, 0, 3};
  c.positions = {0, kContext - 1, 4, 5};
  if (type < 0) {
    c.table = in_dtype(random_values(std::int64_t{kVocab} * dim, rng, 2.0f), dtype);
  } else {
    const auto of = static_cast<formats::GgmlType>(type);
    c.blocks = formats::random_rows(of, kVocab, dim, rng);
    c.table = in_dtype(formats::dequantised(of, c.blocks), dtype);
  }
  if (positions)
    c.position_table = in_dtype(random_values(std::int64_t{kContext} * dim, rng), dtype);
  c.weight = random_values(dim, rng);
  if (layer) c.bias = random_values(dim, rng);
  return c;
}

TriescopeEmbedNorm EmbedNormInputs::put(CudaArrays& on, const CudaModule&) const {
  const std::size_t bytes = ids.size() * static_cast<std::size_t>(dim) * size_of_dtype(dtype);
  return {.table = type < 0 ? on.put(table, dtype) : on.put(blocks.data(), blocks.size()),
          .type = type,
          .ids = on.list(ids),
          .position_table = position_table.empty() ? nullptr : on.put(position_table, dtype),
          .positions = on.list(positions),
          .scale = scale,
          .weight = on.list(weight),
          .bias = on.list(bias),
          .x = on.room(bytes),
          .out = on.room(bytes),
          .rows = static_cast<std::int32_t>(ids.size()),
          .dim = dim,
          .eps = eps,
          .layer_norm = layer,
          .dtype = dtype};
}

Floats EmbedNormInputs::stream() const {
  const auto width = static_cast<std::size_t>(dim);
  const float factor = in_dtype({scale}, dtype)[0];
  Floats x;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    for (std::size_t i = 0; i < width; ++i) {
      float v = table[static_cast<std::size_t>(ids[row]) * width + i];
      if (scale != 1) v = in_dtype({v * factor}, dtype)[0];
      if (!position_table.empty())
        v += position_table[static_cast<std::size_t>(positions[row]) * width + i];
      x.push_back(v);
    }
  }
  return in_dtype(x, dtype);
}

Agreement EmbedNormInputs::compare(const CudaArrays& on, const Call& call) const {
  const Floats x = stream();
  return worse(
      agreement(on.get(call.x, x.size(), dtype), x, 0, 0),
      agreement(on.get(call.out, x.size(), dtype), normed(x, dim, layer, weight, bias, eps, dtype),
                relative_rounding(dtype, layer ? 1e-5 : 2e-6), 1e-5));
}

std::string EmbedNormInputs::what() const {
  return "embedding and " + std::string(name_of_norm(layer)) +
         (type < 0 ? ""
                   : ", " + std::string(formats::to_string(static_cast<formats::GgmlType>(type))));
}

double EmbedNormInputs::bytes() const {
  const double values = static_cast<double>(ids.size()) * dim;
  const double row = type < 0 ? values * static_cast<double>(size_of_dtype(dtype))
                              : static_cast<double>(blocks.size() * ids.size()) / kVocab;
  return row + 2 * values * static_cast<double>(size_of_dtype(dtype));
}

}  // namespace triescope::kernels

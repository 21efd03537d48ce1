#include "core/model/torch/torch_matrix.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/row_bucket.h"

namespace triescope {

using at::Tensor;
using formats::GgmlType;

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

std::int64_t row_bytes(GgmlType type, std::int64_t inputs) {
  return inputs / formats::block_elements(type) * formats::block_bytes(type);
}

std::optional<Tensor> optional_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

// The product over the bucket that x begins, where it has one; the caller deals with the rows
// behind x's.
Tensor dense_product(const Tensor& x, const Tensor& weights, const Tensor& bias) {
  return at::linear(whole_bucket(x), weights, optional_of(bias));
}

Tensor part_of(const Tensor& bias, std::int64_t first, std::int64_t count) {
  return bias.defined() ? bias.narrow(0, first, count) : bias;
}

}  // namespace

std::string TorchMatrix::block_obstacle() { return kernels::cuda_module().reason; }

TorchMatrix::TorchMatrix(std::span<const Part> parts, std::int64_t inputs,
                         const at::TensorOptions& options)
    : inputs_(inputs), options_(options) {
  for (const Part& part : parts) {
    if (part.blocks) {
      const std::string name = formats::to_string(*part.blocks);
      if (inputs % formats::block_elements(*part.blocks) != 0)
        refuse("matrix of type " + name + ": expected a multiple of " +
               std::to_string(formats::block_elements(*part.blocks)) + " inputs, found " +
               std::to_string(inputs));
      if (const std::string why = block_obstacle(); !why.empty())
        throw Error(ErrorCode::kNotSupported, "matrix of type " + name + ": " + why);
    }
    // Neighbours of one type become one tensor, and so one product.
    if (!runs_.empty() && runs_.back().blocks == part.blocks) {
      runs_.back().outputs += part.outputs;
    } else {
      runs_.push_back({outputs_, part.outputs, part.blocks, {}});
    }
    outputs_ += part.outputs;
  }
  for (Run& run : runs_) {
    run.weights = run.blocks ? at::empty({run.outputs, row_bytes(*run.blocks, inputs)},
                                         options.dtype(at::kByte))
                             : at::empty({run.outputs, inputs}, options);
  }
}

TorchMatrix::Run& TorchMatrix::run_of(const char* what, std::int64_t first, std::int64_t count,
                                      bool blocks) {
  for (Run& run : runs_) {
    if (first < run.first || first + count > run.first + run.outputs) continue;
    if (run.blocks.has_value() != blocks)
      refuse(std::string(what) + ": expected rows " +
             (run.blocks ? "of " + formats::to_string(*run.blocks) + ", found fp32"
                         : std::string("of fp32, found blocks")));
    return run;
  }
  refuse(std::string(what) + ": expected rows of one type within a matrix of " +
         std::to_string(outputs_) + ", found [" + std::to_string(first) + ", " +
         std::to_string(first + count) + ")");
}

void TorchMatrix::set_rows(std::int64_t first, const Tensor& rows) {
  Run& run = run_of("TorchMatrix::set_rows", first, rows.size(0), false);
  run.weights.narrow(0, first - run.first, rows.size(0)).copy_(rows);
}

void TorchMatrix::set_stored_rows(std::int64_t first, std::int64_t count,
                                  std::span<const std::byte> rows) {
  Run& run = run_of("TorchMatrix::set_stored_rows", first, count, true);
  const std::int64_t width = run.weights.size(1);
  if (static_cast<std::int64_t>(rows.size()) != count * width)
    refuse("TorchMatrix::set_stored_rows: expected " + std::to_string(count * width) +
           " bytes of " + formats::to_string(*run.blocks) + ", found " +
           std::to_string(rows.size()));
  const Tensor host = at::from_blob(const_cast<std::byte*>(rows.data()), {count, width}, at::kByte);
  run.weights.narrow(0, first - run.first, count).copy_(host);
}

void TorchMatrix::set_plain_rows(std::int64_t first, std::int64_t count, GgmlType type,
                                 std::span<const std::byte> rows) {
  if (formats::block_elements(type) != 1)
    refuse("TorchMatrix::set_plain_rows: expected F32, F16 or BF16, found " +
           formats::to_string(type));
  Run& run = run_of("TorchMatrix::set_plain_rows", first, count, false);
  const std::int64_t bytes = count * inputs_ * formats::block_bytes(type);
  if (static_cast<std::int64_t>(rows.size()) != bytes)
    refuse("TorchMatrix::set_plain_rows: expected " + std::to_string(bytes) + " bytes of " +
           formats::to_string(type) + ", found " + std::to_string(rows.size()));
  const at::ScalarType held = type == GgmlType::kF32   ? at::kFloat
                              : type == GgmlType::kF16 ? at::kHalf
                                                       : at::kBFloat16;
  const Tensor host = at::from_blob(const_cast<std::byte*>(rows.data()), {count, inputs_}, held);
  run.weights.narrow(0, first - run.first, count).copy_(host.to(run.weights.device()));
}

std::int64_t TorchMatrix::bytes() const {
  std::int64_t sum = 0;
  for (const Run& run : runs_) sum += static_cast<std::int64_t>(run.weights.nbytes());
  return sum;
}

Tensor TorchMatrix::product(const Tensor& x, const Tensor& bias, at::ScalarType result) const {
  if (x.dim() != 2 || x.size(1) != inputs_ || x.dtype() != options_.dtype())
    refuse("product: expected rows of " + std::to_string(inputs_) + " values of type " +
           std::string(options_.dtype().name()) + ", found rows of " + std::to_string(x.size(-1)) +
           " of type " + std::string(x.dtype().name()));
  const Tensor rows = x.contiguous();
  const bool by_kernel = gives_fp32_ && result == at::kFloat && rows.size(0) <= kFewRows;
  if (runs_.size() == 1 && !runs_[0].blocks && !by_kernel)
    return dense_product(rows, runs_[0].weights, bias).to(result).narrow(0, 0, rows.size(0));
  Tensor y = bucket_rows(rows.size(0), outputs_, x.options().dtype(result));
  for (const Run& run : runs_) {
    const Tensor own = part_of(bias, run.first, run.outputs);
    if (!run.blocks && !by_kernel) {
      y.narrow(1, run.first, run.outputs)
          .copy_(dense_product(rows, run.weights, own).narrow(0, 0, rows.size(0)));
    } else if (rows.size(0) <= kFewRows) {
      block_product(run, rows, own, y);
    } else {
      tiled_product(run, rows, own, y);
    }
  }
  return y;
}

void TorchMatrix::block_product(const Run& run, const Tensor& x, const Tensor& bias,
                                Tensor& y) const {
  const GgmlType type =
      run.blocks.value_or(options_.dtype() == at::kHalf ? GgmlType::kF16 : GgmlType::kBF16);
  TriescopeBlockLinear call = {};
  call.blocks = run.weights.const_data_ptr();
  call.type = static_cast<std::int32_t>(type);
  call.outputs = static_cast<std::int32_t>(run.outputs);
  call.inputs = static_cast<std::int32_t>(inputs_);
  call.x_stride = inputs_;
  call.x_dtype = kernel_dtype(x);
  call.y_dtype = kernel_dtype(y);
  call.bias = bias.defined() ? bias.const_data_ptr() : nullptr;
  call.y_stride = outputs_;
  for (std::int64_t row = 0; row < x.size(0); row += kTriescopeBlockLinearRows) {
    call.rows = static_cast<std::int32_t>(
        std::min<std::int64_t>(kTriescopeBlockLinearRows, x.size(0) - row));
    call.x = static_cast<const char*>(x.const_data_ptr()) + row * inputs_ * x.element_size();
    call.y =
        static_cast<char*>(y.mutable_data_ptr()) + (row * outputs_ + run.first) * y.element_size();
    check_launch(
        kernels::cuda_module().block_linear(&call, kernel_stream(x)),
        ("product of " + formats::to_string(type) + (run.blocks ? " blocks" : " weights")).c_str(),
        x);
  }
}

void TorchMatrix::tiled_product(const Run& run, const Tensor& x, const Tensor& bias,
                                Tensor& y) const {
  const std::int64_t most =
      std::max<std::int64_t>(kBlockTileBytes / (inputs_ * x.element_size()), 1);
  const Tensor scratch = at::empty({std::min(most, run.outputs), inputs_}, options_);
  for (std::int64_t first = 0; first < run.outputs; first += most) {
    const std::int64_t count = std::min(most, run.outputs - first);
    Tensor tile = scratch.narrow(0, 0, count);
    dequantise(run, first, {}, tile);
    y.narrow(1, run.first + first, count)
        .copy_(at::linear(x, tile, optional_of(part_of(bias, first, count))));
  }
}

TorchMatrix::Stored TorchMatrix::stored() const {
  if (runs_.size() != 1)
    refuse("rows of a matrix: expected one type, found " + std::to_string(runs_.size()));
  return {runs_[0].weights, runs_[0].blocks};
}

Tensor TorchMatrix::rows(const Tensor& ids) const {
  stored();
  const Run& run = runs_[0];
  if (!run.blocks) return run.weights.index_select(0, ids);
  Tensor out = at::empty({ids.size(0), inputs_}, options_);
  if (ids.size(0) > 0) dequantise(run, 0, ids.to(at::kInt).contiguous(), out);
  return out;
}

// Rows `ids` of a run; if undefined, as many rows from `first` on as `out` has.
void TorchMatrix::dequantise(const Run& run, std::int64_t first, const Tensor& ids,
                             Tensor& out) const {
  TriescopeBlockRows call = {};
  call.blocks = run.weights.const_data_ptr<std::uint8_t>() + first * run.weights.size(1);
  call.type = static_cast<std::int32_t>(*run.blocks);
  call.rows = static_cast<std::int32_t>(out.size(0));
  call.inputs = static_cast<std::int32_t>(inputs_);
  call.dtype = kernel_dtype(out);
  call.ids = ids.defined() ? ids.const_data_ptr<std::int32_t>() : nullptr;
  call.out = out.mutable_data_ptr();
  call.out_stride = inputs_;
  check_launch(kernels::cuda_module().block_rows(&call, kernel_stream(out)),
               ("dequantising " + formats::to_string(*run.blocks) + " blocks").c_str(), out);
}

}  // namespace triescope

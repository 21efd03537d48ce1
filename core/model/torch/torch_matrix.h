// A matrix of the libtorch executor, [outputs, inputs]: one weight, or several that share an input
// (q, k, v; gate, up), stacked. Each part is dense, in the dtype of computation, or stays in the
// file's GGUF blocks, each part in its own type.
//
// Products with blocks: up to kFewRows rows go through a kernel that dequantises in registers
// (core/kernels/block_linear.cuh), where a row's bits depend on that row alone. More rows go
// through libtorch with a dense tile of at most kBlockTileBytes, whose values have the bits of
// formats::dequantise, rounded to the dtype. A dense bf16 or f16 matrix whose product is wanted in
// fp32 can go the first way too, so that the product is not rounded to the dtype before (logits:
// rounding to bf16 makes ties of one to two greedy choices in a hundred).
//
// Immutable once filled, and safe from any thread; rows that do not overlap may be set at the same
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/files/dequantise.h"
#include "core/kernels/aten.h"
#include "core/model/model.h"

namespace triescope {

class TorchMatrix {
 public:
  // Twice the rows of one pass over the blocks: by its bytes, a second pass is far cheaper than
  // writing and reading a dense tile.
  static constexpr std::int64_t kFewRows = 32;

  struct Part {
    std::int64_t outputs = 0;
    std::optional<formats::GgmlType> blocks;  // nullopt = dense
  };

  // Why no part can be blocks: the kernels are missing. "" = they exist.
  static std::string block_obstacle();

  TorchMatrix() = default;
  // Allocates the parts, values undefined. options: device, and the dtype of dense parts.
  // Error{kInvalidArgument}: inputs that are not whole blocks of a part's type; kNotSupported:
  // blocks, with block_obstacle().
  TorchMatrix(std::span<const Part> parts, std::int64_t inputs, const at::TensorOptions& options);

  // Sets rows [first, first + count), all of one type: fp32 on the host where they are dense, else
  // as they are in the file. Error{kInvalidArgument}: rows outside the matrix or of several types,
  // or another size or kind of data.
  void set_rows(std::int64_t first, const at::Tensor& rows);
  void set_stored_rows(std::int64_t first, std::int64_t count, std::span<const std::byte> rows);
  // Sets dense rows as a file holds them (F32, F16 or BF16): they are copied to the device as they
  // are and converted to the dtype there. Errors: the same; kInvalidArgument: blocks.
  void set_plain_rows(std::int64_t first, std::int64_t count, formats::GgmlType type,
                      std::span<const std::byte> rows);

  // From now on up to kFewRows rows of a dense bf16 or f16 matrix go through the kernel where fp32
  // is wanted. REQUIRES: such a matrix, and check_dense_kernel() (kernel_check.h) found no
  // obstacle.
  void give_fp32() { gives_fp32_ = true; }

  bool defined() const { return !runs_.empty(); }
  std::int64_t outputs() const { return outputs_; }
  std::int64_t inputs() const { return inputs_; }
  const at::TensorOptions& options() const { return options_; }  // device, dtype of computation
  std::int64_t bytes() const;                                    // on the device

  // x [rows, inputs] of the dtype -> x W^T + bias [rows, outputs], contiguous, in `result`. If the
  // rows begin a bucket (row_bucket.h), each has the bits that it has in the bucket alone, and the
  // result begins a bucket. bias [outputs] of the dtype, undefined = none. Error{kInvalidArgument}:
  // x of another width or dtype; kCuda: a launch failed.
  at::Tensor product(const at::Tensor& x, const at::Tensor& bias, at::ScalarType result) const;

  // A one-type matrix as it lies on the device: [outputs, inputs] of the dtype, or the bytes of its
  // blocks. Error{kInvalidArgument}: several types.
  struct Stored {
    at::Tensor values;
    std::optional<formats::GgmlType> blocks;
  };
  Stored stored() const;

  // Rows `ids` (int32 or int64, on the device) of a matrix of one type -> [ids, inputs] in the
  // dtype. The ids must be inside the matrix.
  at::Tensor rows(const at::Tensor& ids) const;

 private:
  struct Run {  // neighbouring parts of one type
    std::int64_t first, outputs;
    std::optional<formats::GgmlType> blocks;
    at::Tensor weights;  // [outputs, inputs], or bytes [outputs, bytes of a row]
  };
  Run& run_of(const char* what, std::int64_t first, std::int64_t count, bool blocks);
  void block_product(const Run& run, const at::Tensor& x, const at::Tensor& bias,
                     at::Tensor& y) const;
  void tiled_product(const Run& run, const at::Tensor& x, const at::Tensor& bias,
                     at::Tensor& y) const;
  void dequantise(const Run& run, std::int64_t first, const at::Tensor& ids, at::Tensor& out) const;

  std::int64_t outputs_ = 0, inputs_ = 0;
  bool gives_fp32_ = false;
  at::TensorOptions options_;
  std::vector<Run> runs_;
};

}  // namespace triescope

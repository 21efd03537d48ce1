// Rows of a forward in memory for a whole bucket of them. A library's matrix product takes another
// kernel, and so another order of sums, for another number of rows. Products over a bucket always
// have as many rows, those in use and then whatever lies behind them, so a row's bits depend on that
// row alone ("path only") in every forward of up to kRowBucket rows. What lies behind costs nothing
// that can be told: few rows wait for the weights.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <cstring>

namespace triescope {

inline constexpr std::int64_t kRowBucket = 32;

// [rows, width], contiguous, values undefined; where rows fit into a bucket with room for all of it.
inline at::Tensor bucket_rows(std::int64_t rows, std::int64_t width,
                              const at::TensorOptions& options) {
  if (rows >= kRowBucket) return at::empty({rows, width}, options);
  const at::Tensor bucket = at::empty({kRowBucket, width}, options);
  // On processors with AMX, oneDNN's products in bf16 let a NaN that lies behind reach rows in use.
  if (bucket.is_cpu()) std::memset(bucket.data_ptr(), 0, bucket.nbytes());
  return bucket.narrow(0, 0, rows);
}
inline at::Tensor bucket_rows_like(const at::Tensor& x) {
  return bucket_rows(x.size(0), x.size(1), x.options());
}

// Rows `ids` (int32 or int64, on the device) of x, as bucket_rows().
inline at::Tensor select_bucket_rows(const at::Tensor& x, const at::Tensor& ids) {
  at::Tensor out = bucket_rows(ids.size(0), x.size(1), x.options());
  at::index_select_out(out, x, 0, ids);
  return out;
}

// The bucket that x [rows, width], contiguous, is the beginning of; x itself where its memory ends
// before or it has more rows.
inline at::Tensor whole_bucket(const at::Tensor& x) {
  const std::int64_t rows = x.size(0), width = x.size(1);
  if (rows == 0 || rows >= kRowBucket || !x.is_contiguous()) return x;
  const auto room = static_cast<std::int64_t>(x.storage().nbytes()) / x.element_size();
  if (x.storage_offset() + kRowBucket * width > room) return x;
  return x.as_strided({kRowBucket, width}, {width, 1});
}

}  // namespace triescope

// Rows of a forward, in memory for a whole bucket of rows. A library's matrix product uses another
// kernel, and so another order of sums, for another number of rows. Products over a bucket always
// have the same number of rows: those in use and then whatever lies behind them. A row's bits
// therefore depend on that row alone ("path only") in every forward of up to kRowBucket rows. The
// extra rows cost nothing noticeable, because few rows wait for the weights.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/kernels/aten.h"

namespace triescope {

inline constexpr std::int64_t kRowBucket = 32;

// [rows, width], contiguous, values undefined; if the rows fit into a bucket, with memory for all
// of it.
inline at::Tensor bucket_rows(std::int64_t rows, std::int64_t width,
                              const at::TensorOptions& options) {
  if (rows >= kRowBucket) return at::empty({rows, width}, options);
  const at::Tensor bucket = at::empty({kRowBucket, width}, options);
  // On processors with AMX, oneDNN's bf16 products let a NaN behind the rows in use reach them.
  if (bucket.is_cpu()) std::memset(bucket.data_ptr(), 0, bucket.nbytes());
  return bucket.narrow(0, 0, rows);
}
inline at::Tensor bucket_rows_like(const at::Tensor& x) {
  return bucket_rows(x.size(0), x.size(1), x.options());
}

// Rows `ids` (int32 or int64, on the device) of x, like bucket_rows().
inline at::Tensor select_bucket_rows(const at::Tensor& x, const at::Tensor& ids) {
  at::Tensor out = bucket_rows(ids.size(0), x.size(1), x.options());
  at::index_select_out(out, x, 0, ids);
  return out;
}

// The bucket that begins with x [rows, width], contiguous; x itself if it has more rows or its
// memory ends earlier.
inline at::Tensor whole_bucket(const at::Tensor& x) {
  const std::int64_t rows = x.size(0), width = x.size(1);
  if (rows == 0 || rows >= kRowBucket || !x.is_contiguous()) return x;
  const auto room = static_cast<std::int64_t>(x.storage().nbytes()) / x.element_size();
  if (x.storage_offset() + kRowBucket * width > room) return x;
  return x.as_strided({kRowBucket, width}, {width, 1});
}

}  // namespace triescope

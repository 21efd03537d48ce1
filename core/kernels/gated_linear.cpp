#include "core/kernels/gated_linear.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/kernels/linear_run.h"

namespace triescope::kernels {
namespace {

// Number of floats of `up` held at once: 128 KB, which stay in the second-level cache.
constexpr std::int64_t kFloats = std::int64_t{1} << 15;

}  // namespace

void gated_linear(const PackedLinear& w, ActivationKind kind, const float* x, std::int64_t x_stride,
                  std::int64_t rows, float* y, std::int64_t y_stride, ThreadPool& pool) {
  constexpr std::int64_t kPanel = PackedLinear::kPanel;
  if (rows <= 0) return;
  if (!w.is_pair()) {
    throw Error(ErrorCode::kInvalidArgument,
                "gated linear layer: expected gate and up as two parts of as many outputs, found "
                "other parts of " +
                    std::to_string(w.outputs()) + " outputs in all");
  }
  const std::int64_t most = std::max<std::int64_t>(1, kFloats / (rows * kPanel));  // in panels
  const LinearRun run(w, x, x_stride, rows, pool, rows * most * kPanel);
  const auto &gate = run.part(0), &up = run.part(1);
  const RowActivation activate = row_activation(kind);
  pool.for_pieces(gate.panels, [&](std::int64_t begin, std::int64_t end, int worker) {
    float* const ups = run.beside(worker);
    for (std::int64_t panel = begin; panel < end; panel += most) {
      const std::int64_t last = std::min(panel + most, end), first_output = panel * kPanel;
      const std::int64_t count = std::min(last * kPanel, gate.outputs) - first_output;
      run.panels(gate, panel, last, worker, y + first_output, y_stride);
      run.panels(up, panel, last, worker, ups, count);
      for (std::int64_t r = 0; r < rows; ++r) {
        float* const of_row = y + r * y_stride + first_output;
        activate(of_row, ups + r * count, count, of_row);
      }
    }
  });
}

}  // namespace triescope::kernels

// The table of one variant. Included last.
#pragma once

#include "core/kernels/cpu/attention_impl.h"
#include "core/kernels/cpu/linear_impl.h"
#include "core/kernels/cpu/pack_impl.h"
#include "core/kernels/cpu/rows_impl.h"

namespace triescope::kernels {
namespace {

// kBlocks: the pieces of linear_panels() for blocks.
template <Tuning kTuning, LinearPiece*... kBlocks>
constexpr CpuKernels kTable = {
    .pack_panel = pack_panel,
    .linear_panels = linear_panels<kTuning, kBlocks...>,
    .laid_out_rows = few_rows<kTuning>(true),
    .read_lane = read_lane,
    .attention_scratch_bytes = attention_scratch_bytes,
    .attention = attention<kTuning>,
    .max = row_max,
    .exp_sum = row_exp_sum,
    .find_greater = row_find_greater,
    .rms_norm = row_rms_norm,
    .layer_norm = row_layer_norm,
    .silu = row_silu,
    .gelu_tanh = row_gelu_tanh,
    .clamped_swiglu = row_clamped_swiglu,
    .softcap = row_softcap,
    .rope = row_rope,
    .add = row_add,
    .scale = row_scale,
    .subtract = row_subtract,
};

}  // namespace
}  // namespace triescope::kernels

// Rotary position embedding, Hugging Face order (half-split): for i < dims/2, with c, s of
// (position, i)
//   x'[i]          = x[i] * c - x[i + dims/2] * s
//   x'[i + dims/2] = x[i + dims/2] * c + x[i] * s
// Dimensions from `dims` up to head_dim stay (partial rotary). Source: Su et al. 2021 (RoFormer);
// transformers' apply_rotary_pos_emb.
#pragma once

#include <cstdint>

namespace triescope::kernels {

// Rotates x in place: row r is at x + r * stride, [heads, head_dim]. cos, sin: [rows, dims / 2].
// dims even, <= head_dim.
void rope(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim, int dims,
          const float* cos, const float* sin);

// The same for a vector whose pairs are (2i, 2i+1) (GGUF's permuted q and k rows of Llama).
void rope_interleaved(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim,
                      int dims, const float* cos, const float* sin);

}  // namespace triescope::kernels

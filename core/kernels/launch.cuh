// Included before a kernel's first line: the toolkit's headers, and macros for what only nvcc
// reads. Without nvcc, tests/support/cuda_stand_in.h comes first and has its own.
#pragma once

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#define TRIESCOPE_UNROLL _Pragma("unroll")
#define TRIESCOPE_UNROLL_4 _Pragma("unroll 4")
// Stands before a kernel's parameter: it is read in place, even where it is passed on by reference.
#define TRIESCOPE_CALL const __grid_constant__
// Declares a variable in the block's shared memory: TRIESCOPE_SHARED(float, sums, [8][4]);
#define TRIESCOPE_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define TRIESCOPE_LAUNCH(kernel, grid, block, stream, ...) \
  kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif

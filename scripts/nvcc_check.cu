// What the CUDA kernels ask of an nvcc, in a few lines: the build and set-up compile it before they
// take one. C++20 with the host compiler's library, the toolkit's headers, parameters read in place.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <concepts>

struct Call {
  float* out;
  float value;
};

template <std::floating_point T>
__global__ void check(const __grid_constant__ Call call) {
  call.out[threadIdx.x] = __bfloat162float(__float2bfloat16_rn(static_cast<T>(call.value)));
}

void launch(const Call& call) { check<float><<<1, 32>>>(call); }

#include "core/kernels/device.cuh"

#include <cuda_runtime.h>

extern "C" const char* triescope_cuda_error_string(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" int triescope_cuda_device_count(void) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();  // no driver is an answer, not a failure to remember
  return 0;
}

extern "C" int triescope_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes) {
  int current = 0;
  cudaError_t error = cudaGetDevice(&current);
  if (error == cudaSuccess) error = cudaSetDevice(device);
  if (error == cudaSuccess) {
    error = cudaMemGetInfo(free_bytes, total_bytes);
    (void)cudaSetDevice(current);
  }
  if (error != cudaSuccess) (void)cudaGetLastError();  // an answer, not a failure to remember
  return error;
}

extern "C" int triescope_cuda_use_device(int device, int* before) {
  const cudaError_t error = cudaGetDevice(before);
  return error == cudaSuccess ? cudaSetDevice(device) : error;
}

extern "C" int triescope_cuda_allocate(void** pointer, size_t bytes) {
  return cudaMalloc(pointer, bytes);
}

extern "C" int triescope_cuda_free(void* pointer) { return cudaFree(pointer); }

extern "C" int triescope_cuda_to_device(void* device, const void* host, size_t bytes) {
  return cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
}

extern "C" int triescope_cuda_to_host(void* host, const void* device, size_t bytes) {
  return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
}

extern "C" int triescope_cuda_host_allocate(void** pointer, size_t bytes) {
  const cudaError_t error = cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
  if (error != cudaSuccess) (void)cudaGetLastError();  // an answer, not a failure to remember
  return error;
}

extern "C" int triescope_cuda_host_free(void* pointer) { return cudaFreeHost(pointer); }

#include "core/kernels/device.cuh"

#include <cuda_runtime.h>

#include <system_error>
#include <thread>

namespace {

// Returns the code of a failure and clears the failure: the runtime would keep it for this thread,
// and the next launch, which asks for the last failure, would be blamed. A failure that broke the
// device stays.
int answered(cudaError_t error) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error;
}

}  // namespace

extern "C" const char* triescope_cuda_error_string(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" int triescope_cuda_device_count(void) {
  int count = 0;
  return answered(cudaGetDeviceCount(&count)) == cudaSuccess ? count : 0;
}

extern "C" int triescope_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes) {
  // Runs on a thread of its own, which has its own current device: going back to the previous
  // device here would make a context there too.
  cudaError_t error = cudaSuccess;
  try {
    std::thread([&] {
      error = cudaSetDevice(device);
      if (error == cudaSuccess) error = cudaMemGetInfo(free_bytes, total_bytes);
    }).join();
  } catch (const std::system_error&) {  // the system has no more threads
    return cudaErrorOperatingSystem;
  }
  return error;
}

extern "C" int triescope_cuda_use_device(int device, int* before) {
  const cudaError_t error = cudaGetDevice(before);
  return answered(error == cudaSuccess ? cudaSetDevice(device) : error);
}

extern "C" int triescope_cuda_allocate(void** pointer, size_t bytes) {
  return answered(cudaMalloc(pointer, bytes));
}

extern "C" int triescope_cuda_free(void* pointer) { return answered(cudaFree(pointer)); }

extern "C" int triescope_cuda_to_device(void* device, const void* host, size_t bytes) {
  return answered(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

extern "C" int triescope_cuda_to_host(void* host, const void* device, size_t bytes) {
  return answered(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

extern "C" int triescope_cuda_host_allocate(void** pointer, size_t bytes) {
  return answered(cudaHostAlloc(pointer, bytes, cudaHostAllocDefault));
}

extern "C" int triescope_cuda_host_free(void* pointer) { return answered(cudaFreeHost(pointer)); }

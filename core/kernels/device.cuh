// Functions of the driver for a program without a CUDA toolkit, plain device memory for tests of
// the kernels (the model's memory is libtorch's), and the dtypes of all kernels. Every function
// that returns int returns a cudaError_t, 0 = success, and leaves no error for the next launch to
// find. They use the current device and the default stream, and block.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The element type at a pointer that a kernel reads or writes.
enum TriescopeCudaDType { kTriescopeF32 = 0, kTriescopeF16 = 1, kTriescopeBF16 = 2 };

const char* triescope_cuda_error_string(int error);
// Number of devices that a driver offers; 0 without a driver. Never fails.
int triescope_cuda_device_count(void);

// Free and total bytes of a device, which need not be the current one. The first call for a device
// makes a context there, which takes some hundred MB until the process ends.
int triescope_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes);

// Makes a device this thread's current one; `before` receives the previous one.
int triescope_cuda_use_device(int device, int* before);

int triescope_cuda_allocate(void** pointer, size_t bytes);
int triescope_cuda_free(void* pointer);
int triescope_cuda_to_device(void* device, const void* host, size_t bytes);
// Waits for the kernels that were launched before.
int triescope_cuda_to_host(void* host, const void* device, size_t bytes);

// Allocates page-locked memory of the host: copies from and to a device need not wait for it. It is
// scarce, because other programs cannot have its pages. On failure *pointer is unchanged.
int triescope_cuda_host_allocate(void** pointer, size_t bytes);
int triescope_cuda_host_free(void* pointer);

#ifdef __cplusplus
}
#endif

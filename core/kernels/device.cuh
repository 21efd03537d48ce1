// What a program without a CUDA toolkit asks of the driver, plain device memory for tests of the
// kernels (the model's memory is libtorch's), and the dtypes of all kernels. Every function that
// returns int returns a cudaError_t, 0 = done, and leaves none for the next launch to find. Current
// device, default stream, blocking.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What lies at a pointer that a kernel reads or writes.
enum TriescopeCudaDType { kTriescopeF32 = 0, kTriescopeF16 = 1, kTriescopeBF16 = 2 };

const char* triescope_cuda_error_string(int error);
// Devices a driver offers; 0 without a driver. Never fails.
int triescope_cuda_device_count(void);

// Bytes free and in all on a device, which need not be the current one. The first answer for a device
// makes a context there, which takes some hundred MB until the process ends.
int triescope_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes);

// Makes a device this thread's current one; `before`: the one that was.
int triescope_cuda_use_device(int device, int* before);

int triescope_cuda_allocate(void** pointer, size_t bytes);
int triescope_cuda_free(void* pointer);
int triescope_cuda_to_device(void* device, const void* host, size_t bytes);
// Waits for kernels launched before.
int triescope_cuda_to_host(void* host, const void* device, size_t bytes);

// Page-locked memory of the host, which copies from and to a device need not wait for. Scarce: other
// programs cannot have its pages. Where there is none, *pointer is left alone.
int triescope_cuda_host_allocate(void** pointer, size_t bytes);
int triescope_cuda_host_free(void* pointer);

#ifdef __cplusplus
}
#endif

// libcuda.so.1 and libnvidia-ml.so.1 without an NVIDIA driver: the functions that are asked of each, with
// three GPUs that only exist here. A test opens them by path; whoever opens the driver's names afterwards
// gets them, because a library that is open is found by its name.
#include <cstddef>
#include <cstdio>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kTotal[] = {24'000'000'000, 80'000'000'000, 10'000'000'000};

}  // namespace

EXPORT int cuInit(unsigned) { return 0; }
EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = 3;
  return 0;
}
EXPORT int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
EXPORT int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "GPU %c", 'A' + device);
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = kTotal[device];
  return 0;
}
EXPORT int cuDeviceGetPCIBusId(char* address, int size, int device) {
  std::snprintf(address, static_cast<std::size_t>(size), "0000:0%d:00.0", 9 - device);
  return 0;
}

EXPORT int nvmlInit_v2() { return 0; }
// Its own order is by address. The first GPU's is 0000:09:00.0.
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  static int devices[] = {0, 1, 2};
  if (std::strncmp(address, "0000:0", 6) != 0 || address[6] < '7' || address[6] > '9') return 6;
  *device = &devices['9' - address[6]];
  return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  const int index = *static_cast<const int*>(device);
  // The third is a part of a larger one.
  memory[0] = index == 2 ? 80'000'000'000 : kTotal[index] + 500'000'000;
  memory[1] = kTotal[index] / 4;
  memory[2] = memory[0] - memory[1];
  return 0;
}

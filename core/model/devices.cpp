#include <fstream>
#include <string>
#include <thread>

#include "core/model/cuda_driver.h"
#include "core/model/model.h"

namespace triescope {
namespace {

// The value of the first line "<key> : value" in a /proc file; "" if there is none.
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  DeviceInfo cpu;
  cpu.id = "cpu";
  cpu.name = proc_value("/proc/cpuinfo", "model name");
  if (cpu.name.empty()) cpu.name = "CPU";
  cpu.name += " (" + std::to_string(std::thread::hardware_concurrency()) + " threads)";
  const std::string memory = proc_value("/proc/meminfo", "MemTotal");
  if (!memory.empty()) cpu.total_bytes = std::strtoll(memory.c_str(), nullptr, 10) * 1024;
  devices.push_back(cpu);
  const CudaDriver& driver = ask_cuda_driver();
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    devices.push_back(
        {"cuda:" + std::to_string(i), driver.devices[i].name, driver.devices[i].total_bytes});
  }
  return devices;
}

}  // namespace triescope

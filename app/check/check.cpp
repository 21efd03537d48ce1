#include "app/check/check.h"

#include <algorithm>
#include <iterator>

#include "app/bench/benchmarks.h"
#include "app/session/catalog.h"
#include "app/session/memory_check.h"
#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/machine_limits.h"
#include "core/model/cuda_driver.h"
#include "core/model/model.h"
#include "core/session/session.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

// CUDA 13, with which libtorch's CUDA build and our module are made.
constexpr int kNeededCuda = 13000;

// "cuda" -> "cuda:0"; "" -> the best device.
std::string chosen_device(const std::string& asked, const std::vector<DeviceInfo>& devices) {
  if (asked.empty()) return devices.size() > 1 ? devices[1].id : "cpu";
  std::string wanted = asked == "cuda" ? "cuda:0" : asked;
  std::string names;
  for (const DeviceInfo& device : devices) {
    if (device.id == wanted) return wanted;
    names += (names.empty() ? "" : ", ") + device.id;
  }
  const std::string& why = ask_cuda_driver().error;
  throw Error(ErrorCode::kInvalidArgument,
              "--device: expected one of " + names + "; found " + asked +
                  (wanted.starts_with("cuda") && !why.empty() ? " (" + why + ")" : ""));
}

std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Adds the device's description, with the memory that is free there.
void describe_device(const DeviceInfo& one, const std::string& checked, ordered_json& devices) {
  devices.push_back({{"id", one.id}, {"name", one.name}, {"bytes", one.total_bytes}});
  if (const std::int64_t free = free_in_list(one.id, checked); free >= 0)
    devices.back()["free_bytes"] = free;
}

ordered_json describe_machine(const std::vector<DeviceInfo>& devices, const std::string& device,
                              int threads) {
  ordered_json machine;
  machine["versions"] = versions();
  machine["device"] = device;
  machine["devices"] = ordered_json::array();
  for (const DeviceInfo& one : devices) describe_device(one, device, machine["devices"]);
  machine["threads"] = threads;
  machine["instruction_set"] = kernels::to_string(kernels::current_variant());
  const CudaDriver& driver = ask_cuda_driver();
  machine["driver"] =
      driver.error.empty() ? "serves CUDA " + cuda_text(driver.version) : driver.error;
  const kernels::CudaModule& module = kernels::cuda_module();
  machine["cuda_module"] = module.available() ? module.path : module.reason;
  return machine;
}

std::vector<std::string> advice_for(const std::string& device) {
  std::vector<std::string> advice;
  if (kernels::current_variant() == kernels::CpuVariant::kPortable)
    advice.push_back(
        "This processor has no AVX2: models run, several times slower than on one that has it.");
  const CudaDriver& driver = ask_cuda_driver();
  if (driver.error.empty() && driver.version < kNeededCuda)
    advice.push_back("The NVIDIA driver serves CUDA " + cuda_text(driver.version) +
                     " at most; CUDA 13.0 is needed: install driver R580 or newer.");
  if (driver.error.empty() && cuda_version().empty())
    advice.push_back(
        "There is a GPU, but this libtorch was built without CUDA: run scripts/setup with "
        "TRIESCOPE_TORCH_SET=cuda, then build again.");
  if (device != "cpu" && !kernels::cuda_module().available())
    advice.push_back("Layers on the GPU run through libtorch's operations alone, which is slow: " +
                     kernels::cuda_module().reason + ".");
  return advice;
}

// Tokens a second, and how much of the memory's bandwidth a step of greedy decoding uses.
ordered_json time_model(const CheckOptions& options, const std::string& device, double bandwidth,
                        std::vector<CheckComparison>& comparisons, const ProgressSink& progress) {
  LoadOptions load;
  load.device = device;
  load.threads = options.threads;
  constexpr int kPrompt = 64, kNew = 33;
  const std::string path = resolve_model(options.model);
  const ModelInfo info = inspect_model(path);
  const ModelCost cost = measure_models({path}, load, kPrompt, kNew, progress).at(0);
  comparisons.push_back({.where = device + ", f32",
                         .what = cost.name + ", logits after a prompt, our kernels",
                         .difference = cost.logits_difference,
                         .allowed = 1e-2,
                         .error = ""});
  ordered_json model = {{"name", cost.name},
                        {"path", path},
                        {"load_ms", cost.load_ms},
                        {"prompt_tokens_per_second", cost.prefill_per_second},
                        {"tokens_per_second", cost.tokens_per_second}};
  if (device == "cpu") {
    const double limit = bandwidth / static_cast<double>(info.file_bytes);
    model["limit_tokens_per_second"] = limit;
    model["share_of_limit"] = cost.tokens_per_second / limit;
  }
  return model;
}

}  // namespace

bool CheckReport::holds() const {
  return std::ranges::all_of(comparisons, &CheckComparison::holds);
}

std::string CheckReport::verdict() const {
  const auto wrong = std::ranges::count_if(comparisons, [](const auto& c) { return !c.holds(); });
  const std::string all = std::to_string(comparisons.size());
  if (wrong > 0)
    return std::to_string(wrong) + " of " + all +
           " comparisons do not hold: results on this machine are not to be trusted. Please report "
           "it, with the output of `triescope check --json`.";
  std::string text =
      "All " + all + " comparisons hold: triescope computes on this machine what it should.";
  if (!advice.empty()) text += " See the advice above.";
  return text;
}

CheckReport check_machine(const CheckOptions& options, const ProgressSink& progress) {
  const std::vector<DeviceInfo> devices = list_devices();
  const std::string device = chosen_device(options.device, devices);
  ThreadPool pool(options.threads > 0 ? options.threads : ThreadPool::available_cores());
  const auto tell = [&](double share, const char* what) {
    if (progress) progress(what, share, 1);
  };
  CheckReport report;
  report.machine = describe_machine(devices, device, pool.size());
  tell(0.05, "measuring memory and arithmetic");
  const double bandwidth = kernels::read_bandwidth(pool);
  report.machine["read_bytes_per_second"] = bandwidth;
  report.machine["multiply_adds_per_second"] =
      kernels::multiply_adds(pool, kernels::current_variant());
  tell(0.2, "comparing kernels");
  report.comparisons = check_kernels(pool.size());
  // If the CPU was asked for, the first GPU's kernels are checked: they are part of this machine.
  std::ranges::move(check_cuda_kernels(cuda_index(device).value_or(0)),
                    std::back_inserter(report.comparisons));
  if (const std::string why = cuda_kernels_obstacle(); !why.empty())
    report.skipped.push_back("the CUDA kernels were not compared: " + why);
  tell(0.6, "comparing a tiny model");
  std::ranges::move(check_tiny_model(device, pool.size()), std::back_inserter(report.comparisons));
  if (!options.model.empty()) {
    tell(0.8, "timing the model");
    report.model = time_model(options, device, bandwidth, report.comparisons, {});
  }
  report.advice = advice_for(device);
  return report;
}

}  // namespace triescope::app

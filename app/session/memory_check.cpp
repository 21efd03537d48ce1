#include "app/session/memory_check.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/methods/registry.h"
#include "core/model/device_memory.h"
#include "core/model/memory_need.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

std::string text(std::int64_t bytes) { return viz::bytes_text(static_cast<double>(bytes)); }

constexpr std::int64_t kMostDrafts = 64;

// The request's parameters; those that it leaves out have their defaults.
Settings settings_of(const RunRequest& request) {
  return Settings(validate_settings(find_method(request.method), request.settings));
}

std::int64_t beams_of(const RunRequest& request) {
  return run_width(find_method(request.method), settings_of(request));
}

// Other choices that would fit, each with its size.
std::string what_fits(const ModelInfo& info, const LoadOptions& options, std::int64_t free) {
  std::string found;
  const auto offer = [&](const std::string& what, std::int64_t bytes) {
    if (bytes > free) return;
    found += (found.empty() ? "" : ", or ") + what + " (" + text(bytes) + ")";
  };
  const MemoryNeed need = memory_need(info, options);
  if (options.dtype == DType::kF32) {
    LoadOptions half = options;
    half.dtype = DType::kBF16;
    const MemoryNeed less = memory_need(info, half);
    if (less.to_load() < need.to_load()) offer("dtype bf16", less.to_load());
  }
  // In bits per weight, scales included.
  for (const auto& [name, bits] : {std::pair{"Q8_0", 8.5}, std::pair{"Q4_K", 4.5}}) {
    const auto weights = static_cast<std::int64_t>(static_cast<double>(info.parameters) * bits / 8);
    if (keeps_blocks(options) && weights < need.weights)
      offer("a " + std::string(name) + " file of it", weights + need.scratch);
  }
  return found;
}

}  // namespace

std::int64_t free_memory(const std::string& device) { return free_device_memory(device); }

std::int64_t free_in_list(const std::string& device, const std::string& chosen) {
  return device == chosen ? free_memory(device) : untouched_device_memory(device);
}

std::vector<std::string> device_memory_texts(const std::vector<DeviceInfo>& devices,
                                             const std::string& chosen) {
  std::vector<std::string> texts;
  for (const DeviceInfo& device : devices) {
    const std::int64_t free = free_in_list(device.id, chosen);
    texts.push_back(free >= 0                ? text(free) + " free"
                    : device.total_bytes > 0 ? text(device.total_bytes)
                                             : "");
  }
  return texts;
}

std::string why_it_does_not_fit(const ModelInfo& info, const LoadOptions& options,
                                std::int64_t free) {
  const MemoryNeed need = memory_need(info, options);
  if (free < 0 || need.to_load() <= free) return "";
  const std::string fits = what_fits(info, options, free);
  return info.name + ": needs " + text(need.to_load()) + " (" + text(need.weights) +
         " of weights, " + text(need.scratch) + " to compute), and " + text(free) +
         " are free on " + options.device + "; " +
         (fits.empty() ? "close other programs, or take a smaller model"
                       : "close other programs, or take " + fits);
}

std::string why_head_does_not_fit(const std::string& path, std::int64_t need,
                                  const std::string& device, std::int64_t free) {
  if (free < 0 || need <= free) return "";
  return path + ": the draft head needs " + text(need) + ", and " + text(free) + " are free on " +
         device + "; close other programs, or take a smaller head or model";
}

std::int64_t most_slots(const RunRequest& request, std::int64_t prompt_tokens) {
  const std::int64_t beams = beams_of(request);
  const bool once_a_beam = settings_of(request).text("kv") == to_string(KvPolicyKind::kBatch);
  const MethodInfo& method = find_method(request.method);
  const bool drafts = method.drafts() || method.takes_companion;
  return prompt_tokens * (once_a_beam ? beams : 1) + request.max_new_tokens * beams +
         (drafts ? kMostDrafts : 0);
}

std::string why_kv_may_not_fit(const ModelInfo& info, const LoadOptions& options,
                               const RunRequest& request, std::int64_t prompt_tokens,
                               std::int64_t free) {
  const std::int64_t slot = memory_need(info, options).kv_per_token;
  const std::int64_t slots = most_slots(request, prompt_tokens);
  if (free < 0 || slots * slot <= free) return "";
  return "keys and values of this run may take " + text(slots * slot) + " (" +
         counted(slots, "token") + " of " + text(slot) + "), and " + text(free) + " are free on " +
         options.device +
         "; the run stops where they run out. Less is taken by a shorter prompt, fewer " +
         (beams_of(request) > 1 ? "new tokens or beams" : "new tokens") +
         (options.kv_dtype.value_or(options.dtype) != DType::kF32 ? ""
          : options.device == "cpu"                               ? ", or K and V in bf16"
                                                                  : ", or dtype bf16");
}

}  // namespace triescope::app

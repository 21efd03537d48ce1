#include "app/run/memory_check.h"

#include "core/base/host_memory.h"
#include "core/model/memory_need.h"
#include "viz/words/number_text.h"

namespace triescope::app {
namespace {

std::string text(std::int64_t bytes) { return viz::bytes_text(static_cast<double>(bytes)); }

// What else would take less, each with its size: only what fits.
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
  // Bits a weight, scales included.
  for (const auto& [name, bits] : {std::pair{"Q8_0", 8.5}, std::pair{"Q4_K", 4.5}}) {
    const auto weights = static_cast<std::int64_t>(static_cast<double>(info.parameters) * bits / 8);
    if (options.device == "cpu" && weights < need.weights)
      offer("a " + std::string(name) + " file of it", weights + need.scratch);
  }
  return found;
}

}  // namespace

std::int64_t free_memory(const std::string& device) {
  return device == "cpu" ? free_host_memory() : -1;
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

}  // namespace triescope::app

#include "app/session/what_fits.h"

#include <exception>

#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "core/model/memory_need.h"
#include "viz/text/number_text.h"

namespace triescope::app {

ModelInfo ModelHeaders::of(const std::string& path) const {
  std::error_code ignored;
  const auto written = std::filesystem::last_write_time(path, ignored);
  {
    std::lock_guard lock(mutex_);
    const auto found = read_.find(path);
    if (found != read_.end() && found->second.written == written) return found->second.info;
  }
  ModelInfo info = inspect_model(path);
  std::lock_guard lock(mutex_);
  read_[path] = {written, info};
  return info;
}

RunMemory memory_of_run(const ModelHeaders& headers, const RunRequest& request,
                        std::int64_t prompt_tokens, const std::optional<ModelInfo>& loaded) {
  const LoadOptions options = target_options(request);
  const std::string path = resolve_model(request.model);
  const bool is_loaded = loaded && loaded->path == path && loaded->device == request.device &&
                         loaded->dtype == request.dtype;
  const ModelInfo info = is_loaded ? *loaded : headers.of(path);
  const MemoryNeed need = memory_need(info, options);
  RunMemory memory{.to_load = is_loaded ? 0 : need.to_load(),
                   .kv = most_slots(request, prompt_tokens) * need.kv_per_token,
                   .free = free_memory(request.device)};
  if (!is_loaded) memory.problem = why_it_does_not_fit(info, options, memory.free);
  if (memory.problem.empty())
    memory.problem = why_kv_may_not_fit(info, options, request, prompt_tokens, memory.free);
  return memory;
}

WhatFits what_fits_of(const ModelHeaders& headers, const std::vector<CatalogEntry>& entries,
                      const RunRequest& request) {
  const LoadOptions options = target_options(request);
  WhatFits fits{.free = free_memory(request.device)};
  for (const CatalogEntry& entry : entries) {
    ModelFit one{.name = entry.name, .path = entry.path};
    try {
      const ModelInfo info = headers.of(entry.path);
      one.need = memory_need(info, options).to_load();
      one.problem = why_it_does_not_fit(info, options, fits.free);
    } catch (const std::exception& error) {
      one.problem = error.what();
    }
    fits.models.push_back(std::move(one));
  }
  return fits;
}

std::string need_text(std::int64_t need, std::int64_t free) {
  const auto bytes = [](std::int64_t count) { return viz::bytes_text(static_cast<double>(count)); };
  if (need < 0) return "";
  return "needs " + bytes(need) + (free < 0 ? "" : ", " + bytes(free) + " free");
}

}  // namespace triescope::app

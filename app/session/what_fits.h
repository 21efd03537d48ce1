// What models and runs need on a device, and what is free there, before anything is loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/session/catalog.h"
#include "app/session/request.h"
#include "core/model/model.h"

namespace triescope::app {

// Bytes that a request's model and run need on its device; estimates, good to about a tenth.
struct RunMemory {
  std::int64_t to_load = 0;  // weights and scratch; 0 = the model is loaded
  std::int64_t kv = 0;       // keys and values of the prompt and of all that the run may write
  std::int64_t free = -1;    // -1 = unknown
  std::string problem = {};  // why it does not fit and what would; "" = it fits, or free is unknown
  bool operator==(const RunMemory&) const = default;
};

// A model of the catalog, before it is loaded.
struct ModelFit {
  std::string name = {}, path = {};
  std::int64_t need = -1;    // bytes to load it; -1 = its file cannot be read
  std::string problem = {};  // why it does not fit, or cannot be read; "" = it fits
};
struct WhatFits {
  std::int64_t free = -1;  // bytes; -1 = unknown
  std::vector<ModelFit> models = {};
};

// The headers of model files. A file is read again only where it changed, because a large
// header takes a while. Thread-safe.
class ModelHeaders {
 public:
  // Errors: those of inspect_model().
  ModelInfo of(const std::string& path) const;

 private:
  struct Read {
    std::filesystem::file_time_type written = {};
    ModelInfo info;
  };
  mutable std::mutex mutex_;
  mutable std::map<std::string, Read> read_;  // by path
};

// `loaded`: the model that is loaded, if any. Errors: those of resolve_model(), inspect_model() and
// find_method().
RunMemory memory_of_run(const ModelHeaders& headers, const RunRequest& request,
                        std::int64_t prompt_tokens, const std::optional<ModelInfo>& loaded);

// The entries, in their order, on the request's device with its dtypes.
WhatFits what_fits_of(const ModelHeaders& headers, const std::vector<CatalogEntry>& entries,
                      const RunRequest& request);

// "needs 0.3 GB, 12.0 GB free"; without what is unknown.
std::string need_text(std::int64_t need, std::int64_t free);

}  // namespace triescope::app

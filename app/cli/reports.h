// What info, methods and check print, as text and as JSON: about this machine, or asked of another
// one (--remote).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/check/check.h"
#include "app/remote/allowed_paths.h"
#include "app/session/catalog.h"
#include "core/base/log.h"

namespace triescope::app {

struct Report {
  std::string json, text;
  int exit_code = 0;
};

// Writes it to standard output; returns the exit code.
int print_report(const Report& report, bool as_json);

// `name`: one method; "" = all. Error{kInvalidArgument}: no such method.
Report methods_report(const std::string& name);
// The models and drafts that are known by a short name; `of` chooses among them.
Report catalog_report(
    const std::function<std::vector<CatalogEntry>(std::vector<CatalogEntry>)>& of);
// A model or a draft head. Errors: those of inspect_model() and of heads.
Report model_report(const std::string& path);
// Exit code 4: something is wrong.
Report check_report(const CheckOptions& options, const ProgressSink& progress);

// A report that a served session makes for a client: "info", "methods", "check". Files are those of
// `paths`. Errors: theirs; kNotSupported: there is no such report.
nlohmann::json served_report(const AllowedPaths& paths, const std::string& name,
                             const nlohmann::json& about);

}  // namespace triescope::app

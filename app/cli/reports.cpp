#include "app/cli/reports.h"

#include <iostream>

#include "app/remote/field_lists.h"
#include "core/base/error.h"

namespace triescope::app {

int print_report(const Report& report, bool as_json) {
  std::cout << (as_json ? report.json : report.text);
  return report.exit_code;
}

nlohmann::json served_report(const AllowedPaths& paths, const std::string& name,
                             const nlohmann::json& about) {
  std::string target;
  CheckOptions check;
  bool list = false;
  if (about.is_object()) {
    FieldReader read(about);
    read("target", target), read("list", list);
    read("device", check.device), read("model", check.model), read("threads", check.threads);
  }
  if (check.threads < 0 || check.threads > 4096) refuse_field("threads", "0 to 4096");
  Report report;
  if (name == "methods") {
    report = methods_report(target);
  } else if (name == "info" && list) {
    report = catalog_report([&](auto entries) { return paths.of(std::move(entries)); });
  } else if (name == "info") {
    report = model_report(target.empty() ? paths.model("") : paths.draft(target));
  } else if (name == "check") {
    if (!check.model.empty()) check.model = paths.model(check.model);
    report = check_report(check, {});
  } else {
    throw Error(ErrorCode::kNotSupported,
                "the other machine makes no report '" + name.substr(0, 40) + "'");
  }
  return {{"json", report.json}, {"text", report.text}, {"exit_code", report.exit_code}};
}

}  // namespace triescope::app

// `triescope methods` and `triescope info`.
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>

#include "app/cli/commands.h"
#include "app/cli/head_info.h"
#include "app/cli/remote_options.h"
#include "app/cli/reports.h"
#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/capture/capture.h"
#include "core/capture/code_names.h"
#include "core/files/draft_head/head_file.h"
#include "core/methods/registry.h"
#include "core/model/memory_need.h"
#include "viz/panels/panel.h"
#include "viz/panels/panel_rows.h"

namespace triescope::app {
namespace {

using nlohmann::json;

const char* kind_name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kInteger:
      return "integer";
    case ParameterKind::kNumber:
      return "number";
    case ParameterKind::kBoolean:
      return "boolean";
    case ParameterKind::kChoice:
      return "choice";
    case ParameterKind::kText:
      return "text";
    case ParameterKind::kIntegerList:
      return "integer list";
  }
  return "";
}

json parameter_json(const Parameter& parameter) {
  json result = {{"name", parameter.name},
                 {"title", parameter.title},
                 {"kind", kind_name(parameter.kind)},
                 {"default", parameter.default_value},
                 {"help", parameter.help}};
  if (std::isfinite(parameter.minimum)) result["minimum"] = parameter.minimum;
  if (std::isfinite(parameter.maximum)) result["maximum"] = parameter.maximum;
  if (!parameter.zero_is.empty()) result["zero_is"] = parameter.zero_is;
  if (!parameter.choices.empty()) result["choices"] = parameter.choices;
  return result;
}

json method_json(const MethodInfo& method) {
  json parameters = json::array();
  for (const Parameter& parameter : method.parameters)
    parameters.push_back(parameter_json(parameter));
  json policies = json::array();
  for (const KvPolicyKind kind : method.kv_policies) policies.push_back(to_string(kind));
  json needs = json::array();
  if (method.needs != Need::kNothing) needs.push_back(to_string(method.needs));
  return {{"name", method.name},
          {"title", method.title},
          {"summary", method.summary},
          {"paper", method.paper},
          {"lossless", method.lossless},
          {"drafts", method.drafts()},
          {"kind", capture::to_string(method.kind)},
          {"needs", needs},
          {"takes_companion", method.takes_companion},
          {"parameters", parameters},
          {"kv_policies", policies}};
}

void print_parameters(std::ostream& out, std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) {
    const std::string range = range_text(parameter);
    out << "    " << parameter.title << ": " << parameter.name << " = "
        << value_text(parameter, parameter.default_value) << "  ("
        << (range.empty() ? kind_name(parameter.kind) : range) << ")\n        " << parameter.help
        << "\n";
  }
}

void print_method(std::ostream& out, const MethodInfo& method) {
  out << method.name << " — " << method.title << (method.lossless ? "  [lossless]" : "  [lossy]")
      << "\n";
  out << "  " << method.summary << "\n";
  if (!method.paper.empty()) out << "  Paper: " << method.paper << "\n";
  if (method.needs != Need::kNothing) out << "  Needs: " << to_string(method.needs) << "\n";
  if (method.takes_companion) out << "  Takes: a draft model or a draft head, or none\n";
  out << "  KV policies:";
  for (const KvPolicyKind kind : method.kv_policies) out << " " << to_string(kind);
  out << "\n  Parameters:\n";
  print_parameters(out, method.parameters);
}

}  // namespace

Report methods_report(const std::string& name) {
  std::vector<const MethodInfo*> chosen;
  if (!name.empty()) {
    chosen.push_back(&find_method(name));
  } else {
    for (const MethodInfo& method : methods()) chosen.push_back(&method);
  }
  json list = json::array(), common = json::array();
  for (const MethodInfo* method : chosen) list.push_back(method_json(*method));
  for (const Parameter& parameter : common_parameters())
    common.push_back(parameter_json(parameter));
  std::ostringstream out;
  for (const MethodInfo* method : chosen) {
    print_method(out, *method);
    out << "\n";
  }
  out << "Every method also takes:\n";
  print_parameters(out, common_parameters());
  return {dump_json(json{{"methods", list}, {"common_parameters", common}}, 2) + "\n", out.str()};
}

namespace {

bool is_capture_path(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[16] = {};
  file.read(head, sizeof head);
  return std::string_view(head, 15) == "SQLite format 3";
}

json capture_json(const capture::Capture& file) {
  const capture::RunInfo& run = file.run();
  const capture::Counts counts = file.counts();
  json missing = json::object();
  for (const viz::PanelInfo& panel : viz::panel_infos())
    if (const auto tables = viz::missing_tables(file, panel); !tables.empty())
      missing[panel.name] = tables;
  json drafters = json::array();
  for (const capture::DrafterRow& drafter : file.drafters()) drafters.push_back(drafter.name);
  const capture::ProgramRow& program = file.program();
  return {{"path", file.path()},
          {"created", run.created_utc},
          {"program", program.name + (program.version.empty() ? "" : " " + program.version)},
          {"status",
           capture::code_names<capture::RunStatus>()[static_cast<std::size_t>(file.status())]},
          {"message", file.status_message()},
          {"model", json_or_null(run.model_json)},
          {"method", run.method},
          {"kind", capture::to_string(run.kind)},
          {"drafters", drafters},
          {"settings", json_or_null(run.settings_json)},
          {"seed", run.seed},
          {"versions", json_or_null(run.versions_json)},
          {"kv_policy", run.kv_policy},
          {"prompt_tokens", run.prompt_tokens.size()},
          {"max_new_tokens", run.max_new_tokens},
          {"counts",
           {{"steps", counts.steps},
            {"nodes", counts.nodes},
            {"verdicts", counts.verdicts},
            {"candidates", counts.candidates},
            {"slots", counts.slots},
            {"sequences", counts.sequences}}},
          {"missing_rows", missing},  // by panel: tables without rows
          {"bookmarks", file.bookmarks().size()}};
}

// Prints a flat object as lines "key  value", with nested objects indented.
void print_fields(std::ostream& out, const json& object, const std::string& indent = "") {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      out << indent << key << ":\n";
      print_fields(out, value, indent + "  ");
    } else {
      out << indent << key << std::string(key.size() < 18 ? 18 - key.size() : 1, ' ')
          << json_text(value) << "\n";
    }
  }
}

// Adds what the model would take on the CPU (in fp32 unless its file says otherwise) and on the
// first GPU in its default dtype there, what is free on each, and, if the model does not fit, what
// would.
json json_with_memory(const ModelInfo& info) {
  const LoadOptions on_cpu, on_gpu = {.device = "cuda:0", .dtype = default_dtype("cuda:0")};
  const MemoryNeed need = memory_need(info, on_cpu), gpu = memory_need(info, on_gpu);
  const std::int64_t free = free_memory(on_cpu.device), gpu_free = free_memory(on_gpu.device);
  json memory = {{"weights", need.weights},
                 {"scratch", need.scratch},
                 {"kv_per_token", need.kv_per_token},
                 {"free", free},
                 {"gpu_weights", gpu.weights},
                 {"gpu_scratch", gpu.scratch},
                 {"gpu_kv_per_token", gpu.kv_per_token}};
  if (gpu_free >= 0) memory["gpu_free"] = gpu_free;
  if (const std::string why = why_it_does_not_fit(info, on_cpu, free); !why.empty())
    memory["does_not_fit"] = why;
  if (const std::string why = why_it_does_not_fit(info, on_gpu, gpu_free); !why.empty())
    memory["gpu_does_not_fit"] = why;
  json result = model_details(info);
  result["memory"] = std::move(memory);
  return result;
}

Report fields_report(const json& fields) {
  std::ostringstream out;
  print_fields(out, fields);
  return {dump_json(fields, 2) + "\n", out.str()};
}

}  // namespace

Report model_report(const std::string& path) {
  return fields_report(formats::is_draft_head(path) ? head_json(path)
                                                    : json_with_memory(inspect_model(path)));
}

namespace {

int run_info(const std::string& target, bool list, bool as_json) {
  if (list) return print_report(catalog_report([](auto entries) { return entries; }), as_json);
  if (!target.empty() && is_capture_path(target))
    return print_report(fields_report(capture_json(*capture::Capture::open(target))), as_json);
  return print_report(model_report(target.empty() ? resolve_model("")
                                                  : resolve_draft(target, "model or draft head")),
                      as_json);
}

}  // namespace

void add_methods_command(CLI::App& root, CommandLine& line) {
  struct Options {
    std::string name;
    bool as_json = false;
    RemoteOptions remote;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      root.add_subcommand("methods", "every method with its parameters, ranges, defaults, paper");
  command->add_option("NAME", options->name, "one method alone");
  options->remote.add_to(*command);
  command->add_flag("--json", options->as_json, "as JSON");
  command->callback([options, &line] {
    line.action = [options] {
      if (options->remote.place().named())
        return print_report(remote_report(options->remote, "methods", {{"target", options->name}}),
                            options->as_json);
      return print_report(methods_report(options->name), options->as_json);
    };
  });
}

void add_info_command(CLI::App& root, CommandLine& line) {
  struct Options {
    std::string target;
    bool list = false, as_json = false;
    RemoteOptions remote;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand("info", "what is in a model, a draft head or a capture");
  command->add_option(
      "TARGET", options->target,
      "model or draft head (path or short name) or .tscap file; none = the default model");
  command->add_flag("--list", options->list,
                    "the models, draft heads and draft models known by a short name");
  command->add_flag("--json", options->as_json, "as JSON");
  options->remote.add_to(*command);
  command->callback([options, &line] {
    line.action = [options] {
      if (options->remote.place().named())
        return print_report(remote_report(options->remote, "info",
                                          {{"target", options->target}, {"list", options->list}}),
                            options->as_json);
      return run_info(options->target, options->list, options->as_json);
    };
  });
}

}  // namespace triescope::app

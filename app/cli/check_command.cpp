// `triescope check`: this machine, in a minute.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "app/check/check.h"
#include "app/cli/commands.h"
#include "app/cli/remote_options.h"
#include "app/cli/reports.h"
#include "app/cli/terminal.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

ordered_json comparison_json(const CheckComparison& one) {
  ordered_json json = {{"where", one.where},
                       {"what", one.what},
                       {"difference", one.difference},
                       {"allowed", one.allowed},
                       {"holds", one.holds()}};
  if (!one.error.empty()) json["error"] = one.error;
  return json;
}

ordered_json report_json(const CheckReport& report) {
  ordered_json json = report.machine;
  json["comparisons"] = ordered_json::array();
  for (const CheckComparison& one : report.comparisons)
    json["comparisons"].push_back(comparison_json(one));
  json["model"] = report.model;
  json["skipped"] = report.skipped;
  json["advice"] = report.advice;
  json["holds"] = report.holds();
  json["verdict"] = report.verdict();
  return json;
}

void print_line(std::FILE* out, const char* name, const std::string& text) {
  std::fprintf(out, "%-17s %s\n", name, text.c_str());
}

void print_machine(std::FILE* out, const ordered_json& machine) {
  for (const auto& [name, version] : machine["versions"].items())
    if (name != "kernels" && !json_text(version).empty())
      print_line(out, name.c_str(), json_text(version));
  for (const auto& device : machine["devices"]) {
    char memory[64];
    int length =
        std::snprintf(memory, sizeof memory, ", %.1f GB", device["bytes"].get<double>() / 1e9);
    if (device.contains("free_bytes"))
      std::snprintf(memory + length, sizeof memory - static_cast<std::size_t>(length),
                    ", %.1f free", device["free_bytes"].get<double>() / 1e9);
    print_line(out, json_text(device["id"]).c_str(), json_text(device["name"]) + memory);
  }
  print_line(out, "NVIDIA driver", json_text(machine["driver"]));
  print_line(out, "CUDA kernels", json_text(machine["cuda_module"]));
  char limits[120];
  std::snprintf(limits, sizeof limits,
                "%s, %d threads: memory is read at %.1f GB/s, %.0f billion multiply-adds a second",
                json_text(machine["instruction_set"]).c_str(), machine["threads"].get<int>(),
                machine["read_bytes_per_second"].get<double>() / 1e9,
                machine["multiply_adds_per_second"].get<double>() / 1e9);
  print_line(out, "processor", limits);
}

// Prints a line for each place, and one for each comparison that does not hold.
void print_comparisons(std::FILE* out, const std::vector<CheckComparison>& comparisons) {
  for (std::size_t i = 0; i < comparisons.size();) {
    const std::string& where = comparisons[i].where;
    std::size_t end = i;
    int held = 0;
    double largest = 0;
    for (; end < comparisons.size() && comparisons[end].where == where; ++end) {
      held += comparisons[end].holds();
      largest = std::max(largest, comparisons[end].difference);
    }
    std::fprintf(out, "%-17s %d of %zu hold, largest difference %.1e\n", where.c_str(), held,
                 end - i, largest);
    for (; i < end; ++i) {
      const CheckComparison& one = comparisons[i];
      if (one.holds()) continue;
      if (one.error.empty())
        std::fprintf(out, "  WRONG: %s: difference %.2e, expected at most %.0e\n", one.what.c_str(),
                     one.difference, one.allowed);
      else
        std::fprintf(out, "  WRONG: %s: %s\n", one.what.c_str(), one.error.c_str());
    }
  }
}

void print_model(std::FILE* out, const ordered_json& model) {
  std::fprintf(out, "%-17s %s: opens in %.1f s; %.0f tokens a second of a prompt, %.1f written",
               "model", json_text(model["name"]).c_str(), model["load_ms"].get<double>() / 1e3,
               model["prompt_tokens_per_second"].get<double>(),
               model["tokens_per_second"].get<double>());
  if (model.contains("share_of_limit"))
    std::fprintf(out, " (%.0f %% of what reading the file once a token allows)",
                 100 * model["share_of_limit"].get<double>());
  std::fprintf(out, "\n");
}

// The text that a check prints.
std::string check_text(const CheckReport& report) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = ::open_memstream(&text, &size);
  if (out == nullptr) throw std::bad_alloc();
  print_machine(out, report.machine);
  print_comparisons(out, report.comparisons);
  if (!report.model.is_null()) print_model(out, report.model);
  for (const std::string& skipped : report.skipped) print_line(out, "skipped", skipped);
  for (const std::string& advice : report.advice) print_line(out, "advice", advice);
  std::fprintf(out, "\n%s\n", report.verdict().c_str());
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

}  // namespace

Report check_report(const CheckOptions& options, const ProgressSink& progress) {
  const CheckReport report = check_machine(options, progress);
  return {dump_json(report_json(report), 2) + "\n", check_text(report), report.holds() ? 0 : 4};
}

void add_check_command(CLI::App& root, CommandLine& line) {
  struct Options {
    CheckOptions check;
    bool as_json = false;
    RemoteOptions remote;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand(
      "check",
      "checks this machine: what is there, every kernel against its reference, a tiny model on the "
      "CPU and on the GPU; with --model its speed. Exit code 4 if something is wrong");
  command->add_option("--device", options->check.device,
                      "cpu, cuda, cuda:1 (default: the first GPU that answers, else cpu)");
  command->add_option(
      "--model", options->check.model,
      "a model to time as well: a short name, a .gguf file or a Hugging Face folder");
  command->add_option("--threads", options->check.threads, "CPU threads, 0 = all cores")
      ->check(CLI::Range(0, 4096));
  command->add_flag("--json", options->as_json, "everything as JSON: attach it to a report");
  options->remote.add_to(*command);
  command->callback([options, &line] {
    line.action = [options, &line] {
      const CheckOptions& check = options->check;
      if (options->remote.place().named())
        return print_report(
            remote_report(
                options->remote, "check",
                {{"device", check.device}, {"model", check.model}, {"threads", check.threads}}),
            options->as_json);
      const Report report = check_report(check, terminal_progress(line.quiet || options->as_json));
      clear_progress();
      return print_report(report, options->as_json);
    };
  });
}

}  // namespace triescope::app

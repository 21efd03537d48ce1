// `triescope explain`: what a run did in one phase, or in every one, in words.
#include <algorithm>
#include <iostream>
#include <optional>

#include "app/cli/commands.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/capture/phase_names.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::app {
namespace {

using capture::Phase;
using capture::Tick;

struct ExplainOptions {
  std::string capture, phase, format = "text";
  int step = -1;
};

enum class Format { kText, kMarkdown, kJson };

// The number of a name. `what` names the option; the names are in the order of their numbers.
int named(const std::string& what, const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kInvalidArgument, what + ": expected one of " + list + "; found '" + name +
                                               "'" + did_you_mean(name, names));
}

Phase phase_named(const std::string& name) {
  return static_cast<Phase>(named("--phase", name, capture::phase_names()));
}

// The cursors to be told: behind each requested phase that exists.
std::vector<Tick> cursors_of(const capture::Capture& capture, int step,
                             std::optional<Phase> phase) {
  std::vector<Tick> cursors;
  if (step < 0 && !phase) cursors.push_back(0);
  bool has_step = false;
  for (const capture::PhaseRow& row : capture.phases()) {
    if (step >= 0 && capture::step_of(row.tick) != step) continue;
    has_step = true;
    if (!phase || capture::phase_of(row.tick) == *phase) cursors.push_back(row.tick + 1);
  }
  if (step >= 0 && !has_step)
    throw Error(
        ErrorCode::kInvalidArgument,
        "--step: " + capture.path() +
            (capture.phases().empty()
                 ? " has no step"
                 : " has the steps " +
                       std::to_string(capture::step_of(capture.phases().front().tick)) + " to " +
                       std::to_string(capture::step_of(capture.phases().back().tick))) +
            "; found " + std::to_string(step));
  if (cursors.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "--phase: the run ended before this phase" +
                    (step >= 0 ? " of step " + std::to_string(step) : std::string()));
  return cursors;
}

int run_explain(const ExplainOptions& options) {
  // Wrong names are refused before any file is opened.
  const auto format =
      static_cast<Format>(named("--format", options.format, {"text", "markdown", "json"}));
  std::optional<Phase> phase;
  if (!options.phase.empty()) phase = phase_named(options.phase);
  const viz::Sentences& sentences = viz::Sentences::standard();
  const auto capture = capture::Capture::open(options.capture);
  bool first = true;
  for (const Tick cursor : cursors_of(*capture, options.step, phase)) {
    const viz::Narration narration = viz::narrate(*capture, cursor, sentences);
    if (format == Format::kJson) {
      std::cout << (first ? "[" : ",\n") << viz::narration_as_json(narration);
    } else {
      std::cout << (first ? "" : "\n")
                << (format == Format::kText ? viz::narration_as_text(narration)
                                            : viz::narration_as_markdown(narration));
    }
    first = false;
  }
  if (format == Format::kJson) std::cout << "]\n";
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = root.add_subcommand("explain", "what a run did, step by step, in words");
  command->add_option("CAPTURE", options->capture, ".tscap file")->required()->check(file_name());
  command->add_option("--step", options->step, "of this step alone; default: all")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--phase", options->phase,
                      "of this phase alone: draft, forward, accept, commit or observe; default: "
                      "all five");
  command
      ->add_option("--format", options->format,
                   "text; markdown, with links as ts:node/7; json, one entry a phase, every value "
                   "with its number and what it belongs to")
      ->capture_default_str();
  command->callback(
      [options, &line] { line.action = [options] { return run_explain(*options); }; });
}

}  // namespace triescope::app

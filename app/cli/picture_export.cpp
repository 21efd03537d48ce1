#include "app/cli/picture_export.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/terminal.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/export/export.h"
#include "viz/export/file_ending.h"
#include "viz/panels/charts.h"
#include "viz/query/comparison.h"

namespace triescope::app {
namespace {

// The only panel of a picture, or kEveryPanel.
const std::string& single_panel(const ExportCommandOptions& options) {
  if (options.panels.size() == 1) return options.panels.front();
  std::string found;
  for (const std::string& panel : options.panels) found += (found.empty() ? "" : ", ") + panel;
  throw Error(ErrorCode::kInvalidArgument, "--panel: expected one of " + panel_list() +
                                               ", or all; found " +
                                               (found.empty() ? "none" : found));
}

// The runs of a picture: one, or two side by side.
struct PictureRuns {
  std::unique_ptr<capture::Capture> capture, other;
};

PictureRuns open_runs(const ExportCommandOptions& options) {
  PictureRuns runs;
  runs.capture = capture::Capture::open(options.capture);
  if (!options.other.empty()) runs.other = capture::Capture::open(options.other);
  for (const auto* run : {&runs.capture, &runs.other})
    if (*run && !options.whose.empty()) check_has_rows(**run, options.whose);
  return runs;
}

void export_picture(const ExportCommandOptions& options, const PictureRuns& runs,
                    const std::string& name, const viz::Panel& panel, const std::string& path,
                    viz::ExportOptions settings, const ProgressSink& progress) {
  const capture::Capture& capture = *runs.capture;
  if (!options.steps.empty()) settings.range = parse_steps(options.steps, capture);
  // A tree that is limited to some steps is shown as those steps left it.
  if (settings.range && !settings.step && panel.info().grows)
    settings.step = settings.range->second;
  if (!runs.other) return viz::export_panel(capture, name, path, settings, progress);
  viz::ExportRun left, right;
  left.capture = &capture;
  left.cursor = viz::cursor_after(capture, settings.step);
  left.title = viz::title_of(capture);
  right.capture = runs.other.get();
  // As in the window: the cursor at which both have emitted equally many tokens. Without --step,
  // each run is shown at its own end.
  right.cursor = settings.step
                     ? viz::matching_tick(capture, left.cursor, *runs.other, viz::Along::kTokens)
                     : runs.other->end_tick();
  right.title = viz::title_of(*runs.other);
  left.range = right.range = settings.range;
  left.view_state = right.view_state = settings.view_state;
  viz::export_pair(left, right, name, path, settings, progress);
}

// A file a panel: of figures.svg figures-trie.svg, figures-mask.svg and so on.
int every_panel_export(const ExportCommandOptions& options, const viz::ExportOptions& settings,
                       bool quiet) {
  if (is_standard_output(options.output))
    throw Error(ErrorCode::kInvalidArgument,
                "-o: expected NAME." + options.format + ", for files NAME-trie." + options.format +
                    ", NAME-mask." + options.format +
                    ", …; found -, standard output, which takes one file");
  if (!options.whose.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "--whose: expected with one panel; found --panel all, of which some show no "
                "model's own rows");
  const auto file = [&](const std::string& name) {
    return viz::file_of_panel(options.output, options.format, name);
  };
  const auto names = viz::picture_names();
  file(names.front());  // a wrong name is refused before any file is opened
  const PictureRuns runs = open_runs(options);
  for (const std::string& name : names)
    export_picture(options, runs, name, *viz::make_picture(name), file(name), settings,
                   terminal_progress(quiet));
  if (!quiet)
    std::fprintf(stderr, "%s to %s: %zu files written\n", file(names.front()).c_str(),
                 file(names.back()).c_str(), names.size());
  return 0;
}

}  // namespace

std::string panel_list() {
  std::string names;
  for (const std::string& name : viz::picture_names()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

std::string view_state_of(const std::string& name, viz::Panel& panel) {
  std::vector<std::string> names;
  std::string list;
  for (int i = 0; i < capture::kWhoseCount; ++i) {
    names.emplace_back(capture::to_string(static_cast<capture::Whose>(i)));
    list += (list.empty() ? "" : ", ") + names.back();
  }
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(ErrorCode::kInvalidArgument, "--whose: expected one of " + list + "; found '" +
                                                 name + "'" + did_you_mean(name, names));
  panel.set_view_state("whose=" + name);
  const std::string state = panel.view_state();
  if (state.find("whose=" + name) != std::string::npos) return state;
  std::string switched;
  for (const auto& other : viz::make_panels()) {
    other->set_view_state("whose=" + name);
    if (other->view_state().find("whose=") != std::string::npos)
      switched += (switched.empty() ? "" : ", ") + other->info().name;
  }
  throw Error(ErrorCode::kInvalidArgument, "--whose: the panel " + panel.info().name +
                                               " shows no model's own rows; panels that do are " +
                                               switched);
}

void check_has_rows(const capture::Capture& capture, const std::string& whose) {
  std::string list;
  for (const capture::Whose owner : capture.owners()) {
    if (whose == capture::to_string(owner)) return;
    list += (list.empty() ? "" : ", ") + std::string(capture::to_string(owner));
  }
  throw Error(ErrorCode::kInvalidArgument,
              "--whose: " + capture.path() + " has rows of " + list + "; found '" + whose + "'");
}

int picture_export(const ExportCommandOptions& options, bool quiet) {
  const std::string& name = single_panel(options);
  // Wrong names are refused before any file is opened.
  const auto panel = name == kEveryPanel ? nullptr : viz::make_picture(name);
  const std::string view_state =
      panel && !options.whose.empty() ? view_state_of(options.whose, *panel) : "";
  viz::ExportOptions settings = picture_options(options.output, options.size, options.format);
  settings.theme = viz::theme_name_from_string(options.theme);
  settings.scale = options.scale;
  settings.part = viz::export_part_from_string(options.part);
  settings.notes = options.notes;
  settings.view_state = view_state;
  if (options.step >= 0) settings.step = options.step;
  if (!panel) return every_panel_export(options, settings, quiet);
  const PictureRuns runs = open_runs(options);
  OutputFile output(options.output);
  export_picture(options, runs, name, *panel, output.path(), settings, terminal_progress(quiet));
  output.finish(quiet);
  return 0;
}

}  // namespace triescope::app

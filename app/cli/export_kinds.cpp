#include "app/cli/export_kinds.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/picture_export.h"
#include "app/cli/terminal.h"
#include "core/base/error.h"
#include "viz/export/export.h"
#include "viz/export/file_ending.h"
#include "viz/export/frames.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"
#include "viz/panels/charts.h"
#include "viz/panels/panel.h"
#include "viz/query/step_range.h"

namespace triescope::app {
namespace {

constexpr const char *kRunData = "jsonl", *kHandout = "html", *kPngFrames = "png-frames";

int run_data_export(const ExportCommandOptions& options, bool quiet) {
  if (!options.of_panels.empty())
    throw Error(ErrorCode::kInvalidArgument,
                options.of_panels + ": expected with the picture of a panel; found --format " +
                    kRunData + ", the whole run as data, which takes --steps alone");
  const auto capture = capture::Capture::open(options.capture);
  viz::StepRange range;
  if (!options.steps.empty()) range = parse_steps(options.steps, *capture);
  OutputFile output(options.output);
  viz::export_run_data(*capture, output.path(), range, terminal_progress(quiet));
  output.finish(quiet);
  return 0;
}

// Error{kInvalidArgument}: --panel all, which is of pictures of one step.
void check_names_panels(const ExportCommandOptions& options) {
  if (std::ranges::find(options.panels, kEveryPanel) != options.panels.end())
    throw Error(ErrorCode::kInvalidArgument,
                std::string("--panel all: expected with --format svg, pdf, png or csv; found "
                            "--format ") +
                    options.format + ", which takes panels by name");
}

int handout_export(const ExportCommandOptions& options, bool quiet) {
  check_names_panels(options);
  if (!options.of_pictures.empty())
    throw Error(ErrorCode::kInvalidArgument,
                options.of_pictures + ": expected with the picture of a panel; found --format " +
                    kHandout + ", a page of the run, which takes --panel and --steps alone");
  viz::HandoutOptions settings;
  settings.panels = options.panels;
  for (const std::string& panel : settings.panels) viz::make_panel(panel);
  const auto capture = capture::Capture::open(options.capture);
  if (!options.steps.empty()) settings.steps = parse_steps(options.steps, *capture);
  OutputFile output(options.output);
  viz::export_handout(*capture, output.path(), settings, terminal_progress(quiet));
  output.finish(quiet);
  return 0;
}

int frames_export(const ExportCommandOptions& options, bool quiet) {
  check_names_panels(options);
  for (const auto& [name, given] :
       {std::pair{"OTHER", !options.other.empty()}, std::pair{"--step", options.step >= 0},
        std::pair{"--part", options.part != "whole"}})
    if (given)
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(name) + ": expected with the picture of one step; found --format " +
                      options.format + ", frames of one run, which takes --steps");
  if (options.format == kPngFrames && is_standard_output(options.output))
    throw Error(ErrorCode::kInvalidArgument,
                "-o: expected NAME.png, for files NAME-000.png, NAME-001.png, …; found -, standard "
                "output, which takes one file. Take --format gif for one file of all steps");
  viz::FrameOptions settings;
  settings.panels = options.panels;
  settings.theme = viz::theme_name_from_string(options.theme);
  settings.scale = options.scale;
  if (!options.size.empty())
    std::tie(settings.width_px, settings.height_px) = parse_size(options.size);
  for (const std::string& name : settings.panels) {
    const auto panel = viz::make_picture(name);
    settings.view_states.push_back(options.whose.empty() ? ""
                                                         : view_state_of(options.whose, *panel));
  }
  const auto capture = capture::Capture::open(options.capture);
  if (!options.whose.empty()) check_has_rows(*capture, options.whose);
  settings.steps = options.steps.empty() ? std::pair(0, capture->last_step())
                                         : parse_steps(options.steps, *capture);
  if (options.format == kGifFormat) {
    OutputFile output(options.output);
    viz::export_gif(*capture, output.path(), settings, options.delay, options.loops,
                    terminal_progress(quiet));
    output.finish(quiet);
    return 0;
  }
  const auto files =
      viz::export_png_frames(*capture, options.output, settings, terminal_progress(quiet));
  const std::string written = files.front() + (files.size() > 1 ? " to " + files.back() : "");
  if (!quiet) std::fprintf(stderr, "%s written\n", written.c_str());
  return 0;
}

}  // namespace

int run_export(const ExportCommandOptions& options, bool quiet) {
  viz::check_file_ending(options.output, options.format);
  if (options.format == kRunData) return run_data_export(options, quiet);
  if (options.format == kHandout) return handout_export(options, quiet);
  if (options.format == kGifFormat || options.format == kPngFrames)
    return frames_export(options, quiet);
  return picture_export(options, quiet);
}

}  // namespace triescope::app

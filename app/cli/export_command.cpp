// `triescope export`: writes the picture or figures of one panel, or the whole run as a page or as
// data, into a file.
#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/terminal.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/export/export.h"
#include "viz/export/file_ending.h"
#include "viz/export/frames.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"
#include "viz/panels/charts.h"
#include "viz/panels/panel.h"
#include "viz/query/comparison.h"
#include "viz/query/step_range.h"

namespace triescope::app {
namespace {

constexpr const char *kRunData = "jsonl", *kHandout = "html", *kGif = "gif",
                     *kPngFrames = "png-frames";

struct ExportCommandOptions {
  std::string capture, other, format, output, theme = "light", size, steps, whose, part = "whole";
  std::vector<std::string> panels;
  int step = -1;
  float scale = 1;
  bool notes = false;
  int delay = 800, loops = 0;
  // the first given option that only a panel, or only a picture, has
  std::string of_panels, of_pictures;
};

// The view state in which the panel shows the rows of `name`: "target", "draft" or "head".
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

std::string panel_list() {
  std::string names;
  for (const std::string& name : viz::picture_names()) names += (names.empty() ? "" : ", ") + name;
  return names;
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

int handout_export(const ExportCommandOptions& options, bool quiet) {
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
  if (options.format == kGif) {
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

// The only panel of a picture.
const std::string& single_panel(const ExportCommandOptions& options) {
  if (options.panels.size() == 1) return options.panels.front();
  std::string found;
  for (const std::string& panel : options.panels) found += (found.empty() ? "" : ", ") + panel;
  throw Error(ErrorCode::kInvalidArgument, "--panel: expected one of " + panel_list() + "; found " +
                                               (found.empty() ? "none" : found));
}

int run_export(const ExportCommandOptions& options, bool quiet) {
  viz::check_file_ending(options.output, options.format);
  if (options.format == kRunData) return run_data_export(options, quiet);
  if (options.format == kHandout) return handout_export(options, quiet);
  if (options.format == kGif || options.format == kPngFrames) return frames_export(options, quiet);
  const std::string& name = single_panel(options);
  // Wrong names are refused before any file is opened.
  const auto panel = viz::make_picture(name);
  viz::ExportOptions settings = picture_options(options.output, options.size, options.format);
  settings.theme = viz::theme_name_from_string(options.theme);
  settings.scale = options.scale;
  settings.part = viz::export_part_from_string(options.part);
  settings.notes = options.notes;
  if (options.step >= 0) settings.step = options.step;
  if (!options.whose.empty()) settings.view_state = view_state_of(options.whose, *panel);
  const auto capture = capture::Capture::open(options.capture);
  if (!options.whose.empty()) check_has_rows(*capture, options.whose);
  if (!options.steps.empty()) settings.range = parse_steps(options.steps, *capture);
  // A tree that is limited to some steps is shown as those steps left it.
  if (settings.range && !settings.step && panel->info().grows)
    settings.step = settings.range->second;
  OutputFile output(options.output);
  if (options.other.empty()) {
    viz::export_panel(*capture, name, output.path(), settings, terminal_progress(quiet));
  } else {
    const auto other = capture::Capture::open(options.other);
    if (!options.whose.empty()) check_has_rows(*other, options.whose);
    viz::ExportRun left, right;
    left.capture = capture.get();
    left.cursor = viz::cursor_after(*capture, settings.step);
    left.title = viz::title_of(*capture);
    right.capture = other.get();
    // As in the window: the cursor at which both have emitted equally many tokens. Without --step,
    // each run is shown at its own end.
    right.cursor = settings.step
                       ? viz::matching_tick(*capture, left.cursor, *other, viz::Along::kTokens)
                       : other->end_tick();
    right.title = viz::title_of(*other);
    left.range = right.range = settings.range;
    left.view_state = right.view_state = settings.view_state;
    viz::export_pair(left, right, name, output.path(), settings, terminal_progress(quiet));
  }
  output.finish(quiet);
  return 0;
}

}  // namespace

std::pair<std::int32_t, std::int32_t> parse_steps(const std::string& text,
                                                  const capture::Capture& capture) {
  int first = 0, last = 0, used = 0;
  if (std::sscanf(text.c_str(), "%d:%d%n", &first, &last, &used) == 2 &&
      used == static_cast<int>(text.size()) && first >= 0 && first <= last &&
      last <= capture.last_step())
    return {first, last};
  throw Error(ErrorCode::kInvalidArgument,
              "--steps: expected FIRST:LAST, two steps from 0 to " +
                  std::to_string(capture.last_step()) +
                  " (this capture's last) with FIRST not after LAST; found '" + text + "'");
}

void add_export_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<ExportCommandOptions>();
  CLI::App* command = root.add_subcommand(
      "export",
      "the picture of one panel of a capture, an animation, or the run as a page or as data");
  command->add_option("CAPTURE", options->capture, ".tscap file")->required()->check(file_name());
  command
      ->add_option("OTHER", options->other,
                   "a second .tscap file: both runs side by side, differences marked")
      ->check(file_name());
  command
      ->add_option(
          "--panel", options->panels,
          "one of: " + panel_list() +
              "; gif and png-frames: one or two; html: several, with commas, the first at the "
              "top (default: by method)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--format", options->format,
          "svg, pdf, png or csv of a panel; gif or png-frames: one panel or two by step, for "
          "slides; html: a handout of the whole run, one page "
          "without a network; jsonl: the whole run as data, a line a step (without "
          "--panel)")
      ->required();
  command
      ->add_option(
          "-o,--output", options->output,
          "file to write, - = standard output; png-frames: NAME.png, for NAME-000.png, NAME-001.png, …")
      ->required()
      ->check(file_name());
  command
      ->add_option("--step", options->step,
                   "the state after this step of CAPTURE; default: the last")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--steps", options->steps,
                      "FIRST:LAST: the steps of CAPTURE that figures are limited to, as a range "
                      "dragged on the window's timeline does (of the trie: their nodes and the way "
                      "to them); gif, png-frames, html, jsonl: the "
                      "steps shown; default: all");
  command->add_option("--whose", options->whose,
                      "target, draft or head: whose forwards, slots, memory or candidates the "
                      "panel shows; default: the target's");
  command->add_option("--theme", options->theme, "dark, light or projector (contrast of 7 or more)")
      ->check(CLI::IsMember({"dark", "light", "projector"}))
      ->capture_default_str();
  command
      ->add_option(
          "--part", options->part,
          "whole; step: of the trie the nodes of the step shown and the way to them; seen: "
          "what a pane of 960x540 px, or of --size, shows")
      ->check(CLI::IsMember({"whole", "step", "seen"}))
      ->capture_default_str();
  command->add_option(
      "--size", options->size,
      "WIDTHxHEIGHT in px; default: the whole picture. Too small for it: a section in "
      "letters that can be read, with how much it lacks");
  command->add_flag_callback(
      "--list",
      [] {
        for (const std::string& name : viz::picture_names())
          std::printf("%-23s %s\n", name.c_str(), viz::make_picture(name)->info().title.c_str());
        throw CLI::Success();
      },
      "the panels and charts that --panel takes");
  command->add_flag("--notes", options->notes,
                    "bookmarks as numbered marks where their step or node is drawn, their notes "
                    "below; of figures along the steps or of nodes");
  command->add_option("--scale", options->scale, "PNG pixels per px")
      ->check(number_within(0.25, 8.0))
      ->capture_default_str();
  command->add_option("--delay", options->delay, "gif: milliseconds a step is shown")
      ->check(CLI::Range(20, 60000))
      ->capture_default_str();
  command->add_option("--loop", options->loops, "gif: how often it is shown; 0 = without end")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->callback([options, command, &line] {
    for (const char* name : {"--delay", "--loop"})
      if (command->count(name) > 0 && options->format != kGif)
        throw Error(
            ErrorCode::kInvalidArgument,
            std::string(name) + ": expected with --format gif; found --format " + options->format);
    for (const char* name : {"OTHER", "--panel", "--step", "--whose", "--theme", "--part", "--size",
                             "--scale", "--notes"}) {
      if (command->count(name) == 0) continue;
      if (options->of_panels.empty()) options->of_panels = name;
      if (options->of_pictures.empty() && std::string_view(name) != "--panel")
        options->of_pictures = name;
    }
    line.action = [options, &line] { return run_export(*options, line.quiet); };
  });
}

}  // namespace triescope::app

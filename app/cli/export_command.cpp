// The options of `triescope export`.
#include <cstdio>
#include <memory>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/export_kinds.h"
#include "core/base/error.h"
#include "viz/panels/charts.h"
#include "viz/panels/panel.h"

namespace triescope::app {

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
              "; all: a file for each, NAME-trie.svg, NAME-mask.svg, …; gif and png-frames: one or two; html: several, with commas, the first at the "
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
      if (command->count(name) > 0 && options->format != kGifFormat)
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

// Export: writes the picture of one panel to a file, drawn by the panel's own code. Model, method,
// seed, version and step are written into the file (SVG/PDF/PNG metadata, CSV comment lines) and
// into a caption under the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/capture/capture.h"
#include "viz/draw/scene.h"
#include "viz/draw/theme.h"
#include "viz/panels/panel.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

enum class ExportFormat : std::uint8_t { kSvg, kPdf, kPng, kCsv };
ExportFormat export_format_from_string(
    const std::string& s);  // Error{kInvalidArgument}: lists the formats

// How much of a picture an export shows.
enum class ExportPart : std::uint8_t {
  kWhole,  // everything; for the trie the steps of `range`, if one is given
  kStep,   // for the trie the nodes of the shown step, and the way to them
  kSeen,   // what a pane of this size shows
};
ExportPart export_part_from_string(
    const std::string& s);  // "whole", "step", "seen"; Error{kInvalidArgument}

// In px: a picture, or a frame, for a slide.
inline constexpr Point kSlide{960, 540};

struct ExportOptions {
  ExportFormat format = ExportFormat::kSvg;
  std::optional<std::int32_t> step;  // state after this step; default: the last
  ThemeName theme = ThemeName::kLight;
  ExportPart part = ExportPart::kWhole;
  // 0 = the panel's whole extent; for kSeen a slide's size. If a size is too small, the picture
  // shows a section in readable letters.
  float width_px = 0, height_px = 0;
  float em = 14;
  float scale = 1;         // PNG pixels per px
  std::string view_state;  // of the panel on the screen (folds); "" = default
  // Steps to which the figures are limited, as dragged on the timeline.
  StepRange range;
  bool own_scales = false;  // for two runs: each has axes of its own
  bool notes = false;       // bookmarks as numbered marks, their notes below (note_marks.h)
};

// `panel`: one of picture_names(). Errors: kInvalidArgument (no such panel; step out of range: says
// the range), kIoError. Writes to a temporary file and renames it, so a failure leaves no half
// picture. A target that exists and is not a file (a device, a pipe) is written to, never replaced.
void export_panel(const capture::Capture& capture, const std::string& panel,
                  const std::string& path, const ExportOptions& options,
                  const ProgressSink& progress = {});

// One of two runs side by side in a picture.
struct ExportRun {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = 0;
  std::string title;  // stands above its picture and in its rows of a CSV
  std::string view_state;
  StepRange range;
};
// The method and the file.
std::string title_of(const capture::Capture& capture);

// Writes the same panel of two runs into one picture, side by side, with the differences marked;
// the sizes are those of the whole. CSV: one table whose first column names the run. `step`,
// `view_state` and `range` of the options are ignored.
void export_pair(const ExportRun& left, const ExportRun& right, const std::string& panel,
                 const std::string& path, const ExportOptions& options,
                 const ProgressSink& progress = {});

// A panel as it stands on the screen: its own state, scene and size. It is drawn on the calling
// thread.
struct SeenPanel {
  Panel* panel = nullptr;
  Scene scene;
  Point size;
  std::string title;  // stands above it if there are two
};
// One panel, or two side by side. `step`, `range`, `view_state`, `em` and the sizes of the options
// are ignored.
void export_seen(const std::vector<SeenPanel>& panels, const std::string& path,
                 ExportOptions options);

// The cursor that shows everything up to the end of `step`. Empty: the end of the run.
// Error{kInvalidArgument}: no such step; says the range.
capture::Tick cursor_after(const capture::Capture& capture, std::optional<std::int32_t> step);

}  // namespace triescope::viz

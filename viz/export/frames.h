// Frames: panels by step as pictures of one size, for slides: one panel, or two side by side. A
// panel fits its part of the frame and follows the run as in the window; the step is named below.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/capture/capture.h"
#include "viz/draw/theme.h"

namespace triescope::viz {

struct FrameOptions {
  std::vector<std::string> panels;              // one or two
  std::pair<std::int32_t, std::int32_t> steps;  // first and last
  ThemeName theme = ThemeName::kLight;
  float width_px = 0, height_px = 0;  // 0 = 960 × 540 for one panel, 1280 × 540 for two
  float em = 14;
  float scale = 1;                            // pixels per px
  std::vector<std::string> view_states = {};  // by panel; empty = default
};

// Writes an animation that shows each step for `delay_ms`; `loops`: how often it plays, 0 =
// forever. Errors: kInvalidArgument (no such panel, none or more than two, no step, more frames or
// pixels than kMaxFrames and kMaxFramePixels), kIoError. Written whole or not at all (WholeFile).
void export_gif(const capture::Capture& capture, const std::string& path,
                const FrameOptions& options, int delay_ms, int loops,
                const ProgressSink& progress = {});

// Writes one PNG for each step: "out/trie.png" becomes out/trie-000.png, out/trie-001.png, …,
// numbered by step. Returns the files. Errors: those of export_gif(); kInvalidArgument: `path` does
// not end in .png.
std::vector<std::string> export_png_frames(const capture::Capture& capture, const std::string& path,
                                           const FrameOptions& options,
                                           const ProgressSink& progress = {});

inline constexpr std::int32_t kMaxFrames = 1000;
inline constexpr double kMaxFramePixels = 16e6;

}  // namespace triescope::viz

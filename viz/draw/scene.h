// Scene: what every panel gets to draw: a capture, one cursor, one focus, a theme, a text size. A
// panel's only state is its view (zoom, folds), so the picture is a function of scene and view
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/theme.h"
#include "viz/query/comparison.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// The one focus of all panels, a node: the hovered one, else the locked one. Prompt token i is
// -2 - i; -1 = none.
struct Focus {
  std::int32_t hovered = -1;
  std::int32_t locked = -1;
  std::int32_t node() const { return hovered != -1 ? hovered : locked; }
};

// A place where a breakpoint stopped the run, or will; shown in the timeline.
struct BreakMark {
  capture::Tick tick = 0;
  std::string text;  // "a draft is rejected: node 4 '·the'"
  bool hit = true;   // false: it waits for its step
};

// How much room a legend may take.
enum class LegendRoom : std::uint8_t {
  kPane,     // what the pane's height allows
  kTwoRows,  // two at most, in the smallest letters and close together: two runs before an audience
  kRow,      // one row
  kNone,     // the same legend stands beside it
};

struct Scene {
  const capture::Capture* capture = nullptr;  // null: empty state
  capture::Tick cursor = 0;                   // shows everything with tick < cursor
  Focus focus;
  Theme theme;
  float em = 14;  // text size in px; all sizes derive from it
  // Steps to which the figures shown are limited (dragged on a ruler); empty: the whole run.
  StepRange range;
  const Twins* twins = nullptr;  // this run as seen from another beside it; null = no other run
  // A run beside this one that shares its axes: each chart shows as much as both need. Null = its
  // own axes.
  struct Beside {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = 0;
    StepRange range = {};
  };
  Beside beside = {};
  LegendRoom legend = LegendRoom::kPane;
  std::span<const BreakMark> breaks = {};
  bool animate = true;
  bool export_mode = false;  // draw the whole extent, with a caption line; no hover
  // One picture of several along the run, which is looked at outside of the window. In export_mode
  // the cursor is marked in pictures of the whole run, and what was drawn once keeps its size and
  // place; otherwise the panel fits its area and follows the run, as in the window.
  bool series = false;
  // An audience watches, step after step: what was placed stays in place from cursor to cursor, and
  // sizes are those that the whole run needs.
  bool steady = false;
  // Changes between this tick and the cursor are lit; negative: nothing is lit.
  capture::Tick lit_from = -1;

  bool lights() const { return capture && lit_from >= 0 && lit_from < cursor; }
  bool lights(capture::Tick tick) const { return lights() && tick >= lit_from && tick < cursor; }
  bool has_buttons() const { return !export_mode && !series; }

  bool in_range(std::int32_t step) const { return is_within(range, step); }

  // The scene of the run beside this one.
  Scene of_beside() const {
    Scene other = *this;
    other.capture = beside.capture;
    other.cursor = beside.cursor;
    other.range = beside.range;
    other.beside = {};
    other.twins = nullptr;
    return other;
  }

  // Whether one of the two runs kept the node and the other did not.
  bool differs(std::int32_t node) const { return twins && twins->differs(node); }

  // The step in which the cursor stands, or which it has just finished: its pictures are shown. -1
  // = none yet.
  std::int32_t shown_step() const {
    return capture && cursor > 0 ? capture::step_of(cursor - 1) : -1;
  }
};

// The user's input over a panel in this frame.
struct Input {
  Point mouse;
  bool inside = false;           // the mouse is over the panel and nothing covers it
  bool node_only = false;        // the node under the mouse is asked for; a tooltip may stay away
  float wheel = 0, wheel_x = 0;  // notches
  // the left button's unless named otherwise
  bool clicked = false, double_clicked = false, right_clicked = false;
  bool dragging =
      false;         // moved with the left button down since a press inside; true on its release
  Point pressed;     // where that press was
  Point drag_delta;  // since the last frame
  bool released = false;
  bool shift = false, ctrl = false;
  bool zoom_in = false, zoom_out = false, pan_left = false, pan_right = false,
       fit = false;                     // W S A D F
  bool fold = false;                    // Z: folds what the panel can fold, in its next way
  bool previous = false, next = false;  // , .
};

// A panel's requests in return.
struct Reaction {
  std::optional<std::int32_t> hover;    // node under the mouse; -1 = none
  std::optional<std::int32_t> lock;     // click: lock this node (-1 = clear the focus)
  std::optional<capture::Tick> cursor;  // scrub
  StepRange range;
  bool clear_range = false;
  std::string panel;                 // show this panel; "" = none
  std::vector<std::string> tooltip;  // lines; formulas included
  bool wants_redraw = false;         // an animation runs
};

}  // namespace triescope::viz

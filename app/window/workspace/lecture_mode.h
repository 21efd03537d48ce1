// LectureMode: shows a run to an audience: one or two panels and the narration, large, and nothing
// else. The lecturer has a presenter view. Two compared runs stand side by side, the same panel of
// each with its narration; the comparison stays as it was, and its alignment moves both. This class
// says what is shown; ui_lecture.cpp and ui_presenter_view.cpp draw it. The window's own layout is
// not touched, and leaving shows it as it was. The panels are its own too: zoom and scroll begin
// fresh and change nothing outside. Window thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/window/workspace/transport.h"
#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"
#include "viz/panels/panel.h"

namespace triescope::app {

class LectureMode {
 public:
  // A panel as it was drawn last.
  struct Shown {
    std::string name;  // the second run's: "other trie"
    viz::Rect area;
    float em = 0;
  };
  // How much larger than its em a panel is drawn, and the inputs that this was found for.
  struct Enlarged {
    std::uint64_t document = 0;  // its serial
    std::string panel;
    capture::Tick end = -1;
    viz::Point room;
    float em = 0, scale = 1;
  };

  LectureMode(Documents& documents, Comparison& comparison, Transport& transport)
      : documents_(documents), comparison_(comparison), transport_(transport) {}

  bool is_on() const { return on_; }
  // Shows the active capture with these panels; with none given, those that suit its method. Does
  // nothing without a capture.
  void enter(std::vector<std::string> panels = {});
  void leave();

  // --- the run ---
  // Moves the cursor one position on, or back. A blank screen only shows its picture again.
  void next();
  void back();

  // --- what is shown ---
  // One or two panels; one while two runs are compared.
  const std::vector<std::string>& panels() const { return panels_; }
  // Shows the first of them where there are more than fit. Error{kInvalidArgument}: not a panel.
  void set_panels(std::vector<std::string> panels);
  // Shows the panel as the last one. A panel that is shown goes, unless it is the only one.
  void toggle_panel(const std::string& name);
  void show_panel(const std::string& name);  // as the last one, unless it is shown already
  void next_panels();                        // the next arrangement that suits the method
  bool is_blank() const { return blank_; }
  void toggle_blank() { blank_ = !blank_; }
  bool has_spotlight() const { return spotlight_; }
  void toggle_spotlight();
  float spotlight_radius() const { return spotlight_radius_; }  // share of the window's height
  void resize_spotlight(float notches);
  bool has_presenter_view() const { return on_ && presenter_view_; }
  void set_presenter_view(bool open) { presenter_view_ = open; }
  // Ends the innermost thing: the blank screen, the spotlight, lecture mode.
  void escape();
  float scale() const { return scale_; }
  void set_scale(float scale);  // of the letters, 1 to 2

  // --- time ---
  void see_clock(double seconds) { now_ = seconds; }  // steady; once a round of the window
  double elapsed() const { return now_ - began_; }    // seconds since entering, or the last reset
  void reset_time() { began_ = now_; }
  double seconds_to_tick()
      const;  // until the presenter view's clock changes; negative = there is none

  // --- drawing ---
  // The tick since which changes are lit: the cursor's position before, or the last phase where the
  // cursor jumped. Called once a frame.
  capture::Tick lit_from(const Document& document);
  viz::Panel& panel(const std::string& name, const Document& document);
  // A panel for the presenter's picture of what comes next.
  viz::Panel& next_panel(const std::string& name, const Document& document);
  std::vector<Enlarged> enlarged;
  std::vector<Shown> shown;  // in the last frame
  float presenter_em = 0;    // px, of the presenter view's letters in the last frame

  nlohmann::json state_json() const;  // null while it is off

 private:
  std::size_t most_panels() const;
  // The cursor at which a document was seen last, and the tick since which its changes are lit.
  struct Seen {
    std::uint64_t document = 0;
    capture::Tick cursor = -1, lit_from = -1;
  };
  // The panels drawn for a document.
  struct Own {
    std::uint64_t document = 0;
    std::vector<std::unique_ptr<viz::Panel>> panels;
  };

  static viz::Panel& panel_of(std::vector<Own>& all, const std::string& name,
                              const Document& document);

  Documents& documents_;
  Comparison& comparison_;
  Transport& transport_;
  bool on_ = false, blank_ = false, spotlight_ = false, presenter_view_ = false;
  std::vector<std::string> panels_;
  float spotlight_radius_ = 0.2f, scale_ = 1;
  double now_ = 0, began_ = 0;
  // One entry a shown document, the newest in front.
  std::vector<Seen> seen_;
  std::vector<Own> own_, next_;
};

}  // namespace triescope::app

// Panel: one picture of a capture. Each <name>_panel.cpp in viz/panels holds one subclass;
// make_panels() lists them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

struct PanelInfo {
  std::string name;    // "trie": command line, scripts, layout file
  std::string title;   // "Trie"
  std::string help;    // one or two sentences: what it shows, how to read it
  std::string to_try;  // one thing to do with it, in the imperative
  std::string empty;   // what to do when there is nothing to show
  // The capture's tables without which it is empty; none where it draws something of every capture.
  std::vector<std::string> rows = {};
  bool zooms = false;  // answers to the keys that zoom and fit
  bool grows =
      false;  // its whole picture grows with the run: a figure can be limited to some steps
};

class Panel {
 public:
  virtual ~Panel() = default;
  virtual const PanelInfo& info() const = 0;
  // Draws into `area`. Cost follows pixels, not data. Same scene and view state = same picture.
  virtual void draw(Canvas& canvas, Rect area, const Scene& scene) = 0;
  // Mouse and keys over the panel; called before draw with the same area.
  virtual Reaction input(const Input& input, Rect area, const Scene& scene) {
    (void)input, (void)area, (void)scene;
    return {};
  }
  // The size of the whole picture at scene.em, for an export without --size.
  virtual Point extent(Canvas& canvas, const Scene& scene) const = 0;
  // The content as rows with a header line (RFC 4180, '.' decimals).
  virtual std::string csv(const Scene& scene) const = 0;
  // The model whose rows are shown ("target", "draft model"), in a panel that can show several and
  // where the capture holds several; else "".
  virtual std::string whose(const Scene& scene) const {
    (void)scene;
    return {};
  }
  // A curve that can be hidden by a click on the legend or from the tab's menu. Most panels have
  // none.
  struct Curve {
    std::string name;
    bool is_shown;
  };
  virtual std::vector<Curve> curves(const Scene& scene) const {
    (void)scene;
    return {};
  }
  // Hides the curve of this name, or shows it again.
  virtual void flip_curve(const std::string& name) { (void)name; }
  // The view state as text, which the layout remembers, and back. Unknown parts are ignored.
  virtual std::string view_state() const { return {}; }
  virtual void set_view_state(const std::string& state) { (void)state; }
};

// All panels, in display order.
std::vector<std::unique_ptr<Panel>> make_panels();
// Their names and what they say of themselves, in the same order: made once.
const std::vector<std::string>& panel_names();
const std::vector<PanelInfo>& panel_infos();
std::unique_ptr<Panel> make_panel(
    const std::string& name);  // Error{kInvalidArgument}: lists the names

}  // namespace triescope::viz

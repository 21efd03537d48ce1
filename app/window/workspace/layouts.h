// Layouts: where the panels stand now, and the named arrangements: first the presets, then the
// user's. It keeps which panels were in front when a layout is left. Draws nothing; window thread
// only.
#pragma once

#include <string>
#include <vector>

#include "app/window/workspace/messages.h"
#include "app/window/workspace/pane_docking.h"
#include "app/window/workspace/preferences.h"

namespace triescope::app {

class Layouts {
 public:
  // Reads the preferences. An entry that is not a layout is left out, with a message.
  Layouts(Preferences& preferences, Messages& log);

  PaneLayout now;
  std::string name = "debug";  // the layout it came from; "" = changed by docking since
  std::string maximised;       // panel name; "" = none

  // Arranges the panels as the preset, or the user's layout of that name, was made.
  // Error{kNotFound}: no layout has this name; lists them.
  void use(const std::string& name);
  // Brings those panels to the front that were there when this layout was left.
  void restore_tabs();
  // Keeps the present layout. Error{kInvalidArgument}: the name is empty, or a preset's.
  void save(const std::string& name);
  void forget(const std::string& name);
  std::vector<std::string> own_names() const;
  // In the order of the keys Ctrl+1 to Ctrl+9.
  std::vector<std::string> names() const;

  void dock(const std::string& panel, PaneNode& target, DropSide side);
  void undock(const std::string& panel, viz::Rect area);
  void move(const std::string& panel, PaneMove move);
  // Shows one to three panels large, the first on top. All others are tabs of the last pane.
  void show_large(const std::vector<std::string>& panels);
  // Brings a panel to the front of its pane. False: the layout lacks it.
  bool show(const std::string& panel);

  // A lesson's arrangement, from lend() to take_back(), is not the user's: nothing of it is kept.
  void lend();
  void take_back();
  void remember();  // writes the user's layouts into the preferences

 private:
  void read();
  void keep_tabs();  // of the layout that is about to be left
  void set(PaneLayout layout, const std::string& name);

  Preferences& preferences_;
  Messages& log_;
  bool lent_ = false;
  nlohmann::json layout_before_;  // the user's, while it is lent
  std::string name_before_;
};

}  // namespace triescope::app

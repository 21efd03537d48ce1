// Layouts by name, and panels that move between panes and windows.
#include <algorithm>

#include "app/window/workspace.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"

namespace triescope::app {
namespace {

bool is_preset(const std::string& name) {
  const auto& presets = preset_names();
  return std::find(presets.begin(), presets.end(), name) != presets.end();
}

}  // namespace

void Workspace::read_layouts() {
  std::string refused;
  if (!preferences.layouts.is_object()) {
    refused = "the layouts by name";
    preferences.layouts = nlohmann::json::object();
  }
  for (auto it = preferences.layouts.begin(); it != preferences.layouts.end();) {
    if (!is_preset(it.key()) && pane_layout_from_json(it.value(), viz::panel_names())) {
      ++it;
      continue;
    }
    refused += (refused.empty() ? "'" : ", '") + it.key() + "'";
    it = preferences.layouts.erase(it);
  }
  auto last = pane_layout_from_json(preferences.layout, viz::panel_names());
  if (last) {
    layout = std::move(*last);
    layout_name = preferences.layout_name;
  } else {
    layout = {preset_layout("debug"), {}};
    layout_name = "debug";
    if (!preferences.layout.is_null())
      refused += (refused.empty() ? "" : ", ") + std::string("the last one");
  }
  if (!refused.empty())
    say(LogLevel::kWarning, "window.json: not a layout: " + refused +
                                "; expected panes with panels' names; they are left out");
}

std::vector<std::string> Workspace::own_layouts() const {
  std::vector<std::string> names;
  for (const auto& entry : preferences.layouts.items()) names.push_back(entry.key());
  return names;
}

std::vector<std::string> Workspace::layout_names() const {
  std::vector<std::string> names = preset_names();
  for (const auto& entry : preferences.layouts.items()) names.push_back(entry.key());
  return names;
}

void Workspace::keep_tabs() {
  // What a lesson arranged is not the user's.
  if (!layout_name.empty() && !lesson.is_open())
    preferences.layout_tabs[layout_name] = front_panels(layout);
}

void Workspace::go_to_layout(const std::string& name) {
  const bool again = name == layout_name;
  use_layout(name);
  const auto kept = preferences.layout_tabs.find(name);
  if (!again && kept != preferences.layout_tabs.end()) bring_to_front(layout, kept->second);
}

void Workspace::use_layout(const std::string& name) {
  if (name == "compare") return compare(partner());
  if (!is_preset(name) && !preferences.layouts.contains(name)) {
    const std::vector<std::string> known = layout_names();
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    throw Error(ErrorCode::kNotFound,
                "layout '" + name + "' is not one of: " + list + did_you_mean(name, known));
  }
  stop_comparing();
  keep_tabs();
  layout =
      is_preset(name)
          ? PaneLayout{preset_layout(name), {}}
          : std::move(*pane_layout_from_json(preferences.layouts.at(name), viz::panel_names()));
  layout_name = name;
  maximised.clear();
}

void Workspace::show_panels(const std::vector<std::string>& panels) {
  // A lesson arranges what the audience sees; the window's own layout stays.
  if (lecture.is_on()) return lecture.set_panels(panels);
  std::vector<std::string> last = {panels.back()};
  for (const std::string& name : viz::panel_names())
    if (std::find(panels.begin(), panels.end(), name) == panels.end()) last.push_back(name);
  std::unique_ptr<PaneNode> root = make_leaf(std::move(last));
  if (panels.size() > 2)
    root = make_split(/*side_by_side=*/true, 0.5f, make_leaf({panels[1]}), std::move(root));
  if (panels.size() > 1)
    root = make_split(/*side_by_side=*/false, 0.55f, make_leaf({panels[0]}), std::move(root));
  stop_comparing();
  keep_tabs();
  layout = {std::move(root), {}};
  layout_name.clear();
  maximised.clear();
}

bool Workspace::show_panel(const std::string& panel) {
  if (lecture.is_on()) {
    lecture.show_panel(panel);
    return true;
  }
  return app::show_panel(layout, panel);
}

void Workspace::go_to_panel(const std::string& panel) {
  // Of a maximised pane every panel is a tab.
  if (!maximised.empty() && !lecture.is_on())
    maximised = panel;
  else
    show_panel(panel);
}

viz::ThemeName Workspace::theme() const {
  return lecture.is_on() ? preferences.lecture_theme : preferences.theme;
}

void Workspace::set_theme(viz::ThemeName theme) {
  (lecture.is_on() ? preferences.lecture_theme : preferences.theme) = theme;
}

void Workspace::save_layout(const std::string& name) {
  if (name.empty() || is_preset(name))
    throw Error(ErrorCode::kInvalidArgument,
                name.empty() ? "a layout needs a name"
                             : "'" + name + "' is a layout of the program: choose another name");
  preferences.layouts[name] = layout_to_json(layout);
  layout_name = name;
}

void Workspace::forget_layout(const std::string& name) {
  preferences.layouts.erase(name);
  preferences.layout_tabs.erase(name);
  if (layout_name == name) layout_name.clear();
}

void Workspace::dock(const std::string& panel, PaneNode& target, DropSide side) {
  keep_tabs();
  dock_panel(layout, panel, target, side);
  layout_name.clear();
}

void Workspace::move_panel(const std::string& panel, PaneMove move) {
  keep_tabs();
  if (!app::move_panel(layout, panel, move))
    return say(LogLevel::kInfo, move == PaneMove::kNextPane ? "there is no other pane"
                                                            : "this panel is alone in its pane");
  layout_name.clear();
}

void Workspace::undock(const std::string& panel, viz::Rect area) {
  keep_tabs();
  if (!undock_panel(layout, panel, area))
    return say(LogLevel::kInfo, "this is the only panel of its window");
  layout_name.clear();
}

}  // namespace triescope::app

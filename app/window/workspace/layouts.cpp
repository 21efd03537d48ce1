#include "app/window/workspace/layouts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/panels/panels.h"

namespace triescope::app {
namespace {

bool is_preset(const std::string& name) {
  const auto& presets = preset_names();
  return std::find(presets.begin(), presets.end(), name) != presets.end();
}

}  // namespace

Layouts::Layouts(Preferences& preferences, Messages& log) : preferences_(preferences), log_(log) {
  read();
}

void Layouts::read() {
  std::string refused;
  if (!preferences_.layouts.is_object()) {
    refused = "the layouts by name";
    preferences_.layouts = nlohmann::json::object();
  }
  for (auto it = preferences_.layouts.begin(); it != preferences_.layouts.end();) {
    if (!is_preset(it.key()) && pane_layout_from_json(it.value(), viz::panel_names())) {
      ++it;
      continue;
    }
    refused += (refused.empty() ? "'" : ", '") + it.key() + "'";
    it = preferences_.layouts.erase(it);
  }
  auto last = pane_layout_from_json(preferences_.layout, viz::panel_names());
  if (last) {
    now = std::move(*last);
    name = preferences_.layout_name;
  } else {
    now = {preset_layout("debug"), {}};
    if (!preferences_.layout.is_null())
      refused += (refused.empty() ? "" : ", ") + std::string("the last one");
  }
  if (!refused.empty())
    log_.say(LogLevel::kWarning, "window.json: not a layout: " + refused +
                                     "; expected panes with panels' names; they are left out");
}

std::vector<std::string> Layouts::own_names() const {
  std::vector<std::string> own;
  for (const auto& entry : preferences_.layouts.items()) own.push_back(entry.key());
  return own;
}

std::vector<std::string> Layouts::names() const {
  std::vector<std::string> all = preset_names();
  for (const auto& entry : preferences_.layouts.items()) all.push_back(entry.key());
  return all;
}

void Layouts::keep_tabs() {
  if (!name.empty() && !lent_) preferences_.layout_tabs[name] = front_panels(now);
}

void Layouts::set(PaneLayout layout, const std::string& as) {
  keep_tabs();
  now = std::move(layout);
  name = as;
  maximised.clear();
}

void Layouts::use(const std::string& wanted) {
  if (is_preset(wanted)) return set({preset_layout(wanted), {}}, wanted);
  if (preferences_.layouts.contains(wanted))
    return set(
        std::move(*pane_layout_from_json(preferences_.layouts.at(wanted), viz::panel_names())),
        wanted);
  const std::vector<std::string> known = names();
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kNotFound,
              "layout '" + wanted + "' is not one of: " + list + did_you_mean(wanted, known));
}

void Layouts::restore_tabs() {
  const auto kept = preferences_.layout_tabs.find(name);
  if (kept != preferences_.layout_tabs.end()) bring_to_front(now, kept->second);
}

void Layouts::show_large(const std::vector<std::string>& panels) {
  std::vector<std::string> last = {panels.back()};
  for (const std::string& one : viz::panel_names())
    if (std::find(panels.begin(), panels.end(), one) == panels.end()) last.push_back(one);
  std::unique_ptr<PaneNode> root = make_leaf(std::move(last));
  if (panels.size() > 2)
    root = make_split(/*side_by_side=*/true, 0.5f, make_leaf({panels[1]}), std::move(root));
  if (panels.size() > 1)
    root = make_split(/*side_by_side=*/false, 0.55f, make_leaf({panels[0]}), std::move(root));
  set({std::move(root), {}}, "");
}

bool Layouts::show(const std::string& panel) { return show_panel(now, panel); }

void Layouts::save(const std::string& as) {
  if (as.empty() || is_preset(as))
    throw Error(ErrorCode::kInvalidArgument,
                as.empty() ? "a layout needs a name"
                           : "'" + as + "' is a layout of the program: choose another name");
  preferences_.layouts[as] = layout_to_json(now);
  name = as;
}

void Layouts::forget(const std::string& one) {
  preferences_.layouts.erase(one);
  preferences_.layout_tabs.erase(one);
  if (name == one) name.clear();
}

void Layouts::dock(const std::string& panel, PaneNode& target, DropSide side) {
  keep_tabs();
  dock_panel(now, panel, target, side);
  name.clear();
}

void Layouts::move(const std::string& panel, PaneMove where) {
  keep_tabs();
  if (!move_panel(now, panel, where))
    return log_.say(LogLevel::kInfo, where == PaneMove::kNextPane
                                         ? "there is no other pane"
                                         : "this panel is alone in its pane");
  name.clear();
}

void Layouts::undock(const std::string& panel, viz::Rect area) {
  keep_tabs();
  if (!undock_panel(now, panel, area))
    return log_.say(LogLevel::kInfo, "this is the only panel of its window");
  name.clear();
}

void Layouts::lend() {
  if (std::exchange(lent_, true)) return;
  layout_before_ = layout_to_json(now);
  name_before_ = name;
}

void Layouts::take_back() {
  if (!std::exchange(lent_, false)) return;
  if (auto before = pane_layout_from_json(layout_before_, viz::panel_names()))
    now = std::move(*before);
  name = name_before_;
  maximised.clear();
}

void Layouts::remember() {
  preferences_.layout = lent_ ? layout_before_ : layout_to_json(now);
  preferences_.layout_name = lent_ ? name_before_ : name;
}

}  // namespace triescope::app

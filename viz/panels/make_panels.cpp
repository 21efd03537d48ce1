// The list of all panels.
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/panels/panels.h"

namespace triescope::viz {

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
  panels.push_back(make_trie_panel());
  panels.push_back(make_mask_panel());
  panels.push_back(make_positions_panel());
  panels.push_back(make_kv_panel());
  panels.push_back(make_memory_panel());
  panels.push_back(make_verdict_panel());
  panels.push_back(make_drafts_panel());
  panels.push_back(make_acceptance_panel());
  panels.push_back(make_what_if_panel());
  panels.push_back(make_cost_panel());
  panels.push_back(make_candidates_panel());
  panels.push_back(make_experts_panel());
  panels.push_back(make_text_panel());
  panels.push_back(make_narration_panel());
  panels.push_back(make_inspector_panel());
  panels.push_back(make_summary_panel());
  panels.push_back(make_timeline_panel());
  panels.push_back(make_log_panel());
  panels.push_back(make_doctor_panel());
  return panels;
}

const std::vector<std::string>& panel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PanelInfo& info : panel_infos()) all.push_back(info.name);
    return all;
  }();
  return names;
}

const std::vector<PanelInfo>& panel_infos() {
  static const std::vector<PanelInfo> infos = [] {
    std::vector<PanelInfo> all;
    for (const auto& panel : make_panels()) all.push_back(panel->info());
    return all;
  }();
  return infos;
}

std::unique_ptr<Panel> make_panel(const std::string& name) {
  for (auto& panel : make_panels())
    if (panel->info().name == name) return std::move(panel);
  std::string list;
  for (const std::string& known : panel_names()) list += (list.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::kInvalidArgument,
              "panel '" + name + "' is not one of: " + list + did_you_mean(name, panel_names()));
}

}  // namespace triescope::viz

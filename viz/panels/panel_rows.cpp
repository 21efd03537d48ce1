#include "viz/panels/panel_rows.h"

#include <algorithm>

#include "core/capture/schema.h"

namespace triescope::viz {
std::vector<std::string> missing_tables(const capture::Capture& capture, const PanelInfo& panel) {
  std::vector<std::string> missing = panel.rows;
  std::erase_if(missing, [&](const std::string& table) { return capture.rows_in(table) > 0; });
  return missing;
}

std::string missing_rows_text(const capture::Capture& capture, const PanelInfo& panel) {
  std::string names;
  capture::Level level = capture::Level::kOff;
  for (const std::string& name : missing_tables(capture, panel)) {
    names += (names.empty() ? "" : " and ") + name;
    const auto table = std::ranges::find(capture::tables(), name, &capture::Table::name);
    if (table != capture::tables().end()) level = std::max(level, table->level);
  }
  if (names.empty()) return "";
  return "The capture has no rows in " + names + ": triescope writes them with --capture-level " +
         capture::to_string(level) + ", another recorder as docs/capture.md says.";
}

std::string empty_text(const capture::Capture* capture, const PanelInfo& panel,
                       const std::string& otherwise) {
  // A run that has only begun has no rows yet.
  const bool begins =
      !capture || (capture->status() == capture::RunStatus::kRunning && capture->last_step() < 1);
  if (begins || capture->last_step() < 0) return otherwise;
  const std::string missing = missing_rows_text(*capture, panel);
  return missing.empty() ? otherwise : missing;
}

}  // namespace triescope::viz

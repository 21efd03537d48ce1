// The text where a capture has none of the rows that a panel draws (PanelInfo::rows).
#pragma once

#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

// The panel's tables that have no rows.
std::vector<std::string> missing_tables(const capture::Capture& capture, const PanelInfo& panel);
// "The capture has no rows in slot: triescope writes them with --capture-level full, ..."; "" = none is
// missing.
std::string missing_rows_text(const capture::Capture& capture, const PanelInfo& panel);
// The text of an empty picture: which rows are missing, or `otherwise` where they may still come or have come.
std::string empty_text(const capture::Capture* capture, const PanelInfo& panel,
                       const std::string& otherwise);

}  // namespace triescope::viz

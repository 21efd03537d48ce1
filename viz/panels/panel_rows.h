// Which rows of a capture a panel draws, and what is said where it has none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The tables without which the panel is empty; none where it draws something of every capture.
std::vector<std::string> tables_of_panel(std::string_view panel);
// Those of them that have no rows.
std::vector<std::string> missing_tables(const capture::Capture& capture, std::string_view panel);
// "The capture has no rows in slot: triescope writes them with --capture-level full, ..."; "" = none is
// missing.
std::string missing_rows_text(const capture::Capture& capture, std::string_view panel);
// What an empty picture says: which rows are missing, or `otherwise` where they may still come or have come.
std::string empty_text(const capture::Capture* capture, std::string_view panel,
                       const std::string& otherwise);

}  // namespace triescope::viz

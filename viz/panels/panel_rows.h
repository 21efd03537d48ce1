// Knows which rows of a capture each panel draws, and what it says where there are none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The tables without which the panel is empty; none for a panel that draws something of every
// capture.
std::vector<std::string> tables_of_panel(std::string_view panel);
// The ones among them that have no rows.
std::vector<std::string> missing_tables(const capture::Capture& capture, std::string_view panel);
// "The capture has no rows in slot: triescope writes them with --capture-level full, ..."; "" where
// no table is missing.
std::string missing_rows_text(const capture::Capture& capture, std::string_view panel);
// The text of an empty picture: the rows that are missing, or `otherwise` where they are there or
// may still come.
std::string empty_text(const capture::Capture* capture, std::string_view panel,
                       const std::string& otherwise);

}  // namespace triescope::viz

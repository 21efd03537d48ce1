// The pictures and figures of panels, one panel or all, that `triescope export` writes.
#pragma once

#include <string>

#include "app/cli/export_kinds.h"
#include "core/capture/capture.h"
#include "viz/panels/panel.h"

namespace triescope::app {

inline constexpr const char* kEveryPanel = "all";

// The view state in which the panel shows the rows of `name`: "target", "draft" or "head".
// Error{kInvalidArgument}: no such name, or a panel that shows no model's own rows.
std::string view_state_of(const std::string& name, viz::Panel& panel);

// Error{kInvalidArgument}: the capture has no rows of that owner.
void check_has_rows(const capture::Capture& capture, const std::string& whose);

// Writes one panel's file, or a file of every panel. Returns the exit code. Errors: those of run_export().
int picture_export(const ExportCommandOptions& options, bool quiet);

}  // namespace triescope::app

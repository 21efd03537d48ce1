// A run's row for the table of runs from its capture alone, with the figures of `decode --json` that a
// capture knows. Pure.
#pragma once

#include <string>

#include "app/study/study_store.h"
#include "core/capture/capture.h"

namespace triescope::app {

// `path`: what the column `capture` holds, and what keeps runs apart that are alike in all else.
// Figures that a capture does not know (loading, lossless) are null.
StudyRow row_of_capture(const capture::Capture& capture, const std::string& path);

// Drafts by depth: [{"depth", "reached", "accepted"} …], from a capture that has its tree.
nlohmann::json depths_of(const capture::Capture& capture);

}  // namespace triescope::app

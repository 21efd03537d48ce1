// Export of a picture that is not of one capture: a study's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "viz/export/export.h"

namespace triescope::viz {

// `facts` say how it was made and stand in the file and under the picture; `created` says when (ISO
// 8601). `step`, `part`, `view_state` and `range` of the options are ignored. Errors: those of
// export_panel().
void export_picture(Panel& picture, const std::vector<std::pair<std::string, std::string>>& facts,
                    const std::string& created, const std::string& path,
                    const ExportOptions& options, const ProgressSink& progress = {});

}  // namespace triescope::viz

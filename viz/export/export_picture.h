// Export of a picture that is of no capture: a study's bars, a plot (viz/plots).
#pragma once

#include <string>

#include "viz/export/export.h"
#include "viz/export/run_facts.h"

namespace triescope::viz {

// `facts` say how it was made and stand in the file and under the picture; `created` says when (ISO
// 8601; "": it does not say). `step`, `part`, `view_state` and `range` of the options are ignored. Errors: those of
// export_panel().
void export_picture(Panel& picture, const Facts& facts, const std::string& created,
                    const std::string& path, const ExportOptions& options,
                    const ProgressSink& progress = {});

}  // namespace triescope::viz

// The folders in which the catalog looks (catalog.h).
#pragma once

#include <filesystem>
#include <vector>

namespace triescope::app {

// Of models: those that $TRIESCOPE_MODELS names (with ':' between them), those beside the program,
// and the user's.
std::vector<std::filesystem::path> model_folders();
// Of what drafts: those that come with the program, then those that set-up makes.
std::vector<std::filesystem::path> draft_folders();

}  // namespace triescope::app

// Where this user's files are. Pure except for the environment.
#pragma once

#include <filesystem>

namespace triescope::app {

// $XDG_CONFIG_HOME/triescope, else ~/.config/triescope; without a home, a folder among the
// temporary files. The folder is not created.
std::filesystem::path config_folder();
// The same with $XDG_CACHE_HOME and ~/.cache.
std::filesystem::path cache_folder();

}  // namespace triescope::app

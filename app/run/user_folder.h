// Where this user's files go. Pure but for the environment.
#pragma once

#include <filesystem>

namespace triescope::app {

// $XDG_CONFIG_HOME/triescope, else ~/.config/triescope; without a home, below the folder for
// temporary files. Nothing is made.
std::filesystem::path config_folder();
// The same with $XDG_CACHE_HOME and ~/.cache.
std::filesystem::path cache_folder();

}  // namespace triescope::app

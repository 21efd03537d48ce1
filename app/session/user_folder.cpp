#include "app/session/user_folder.h"

#include <cstdlib>

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

fs::path user_folder(const char* variable, const char* fallback) {
  if (const char* value = std::getenv(variable); value && *value)
    return fs::path(value) / "triescope";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / fallback / "triescope";
  return fs::temp_directory_path() / "triescope";
}

}  // namespace

fs::path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }
fs::path cache_folder() { return user_folder("XDG_CACHE_HOME", ".cache"); }

}  // namespace triescope::app

#include "app/session/folders.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"

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

ScratchFolder::ScratchFolder(const std::string& purpose) {
  std::string name = (fs::temp_directory_path() / ("triescope-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ErrorCode::kIoError, name + ": this folder cannot be made (" +
                                         std::strerror(errno) +
                                         "); set TMPDIR to a folder that can be written");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace triescope::app

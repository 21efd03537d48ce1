#include "app/session/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"

namespace triescope::app {

namespace fs = std::filesystem;

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

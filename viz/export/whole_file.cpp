#include "viz/export/whole_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/base/error.h"

namespace triescope::viz {
namespace {

namespace fs = std::filesystem;

std::string fresh_file() {
  std::string path = (fs::temp_directory_path() / "triescope-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0)
    throw Error(ErrorCode::kIoError, path + ": a temporary file cannot be made; is there space?");
  ::close(file);
  return path;
}

}  // namespace

WholeFile::WholeFile(std::string target) : target_(std::move(target)) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(target_, ignored);
  copies_ = fs::exists(status) && !fs::is_regular_file(status);
  path_ = copies_ ? fresh_file() : target_ + ".part" + std::to_string(::getpid());
}

WholeFile::~WholeFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void WholeFile::commit() {
  if (copies_) {
    std::ifstream from(path_, std::ios::binary);
    std::ofstream to(target_, std::ios::binary);
    to << from.rdbuf();
    if (!to.flush()) throw Error(ErrorCode::kIoError, target_ + ": cannot be written");
    return;
  }
  std::error_code ec;
  fs::rename(path_, target_, ec);
  if (ec) throw Error(ErrorCode::kIoError, target_ + ": cannot be written (" + ec.message() + ")");
}

}  // namespace triescope::viz

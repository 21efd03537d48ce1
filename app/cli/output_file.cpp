#include "app/cli/output_file.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <utility>

#include "app/cli/terminal.h"
#include "core/base/error.h"

namespace triescope::app {

OutputFile::OutputFile(std::string name) : path_(std::move(name)) {
  if (!is_standard_output(path_)) return;
  scratch_.emplace("output");
  path_ = scratch_->file("standard-output");
}

void OutputFile::finish(bool quiet) {
  if (!scratch_) {
    if (!quiet) std::fprintf(stderr, "%s written\n", path_.c_str());
    return;
  }
  // The file is not opened by a name such as /dev/stdout: that would empty a file to which others
  // append.
  std::ifstream file(path_, std::ios::binary);
  std::array<char, 1 << 16> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0)
    if (std::fwrite(part.data(), 1, static_cast<std::size_t>(file.gcount()), stdout) !=
        static_cast<std::size_t>(file.gcount()))
      break;
  flush_standard_output();
  if (!file.eof()) throw Error(ErrorCode::kIoError, path_ + ": cannot be read");
}

}  // namespace triescope::app

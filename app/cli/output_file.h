// OutputFile: the one file that a command writes, under the given name. "-" is standard output: the
// file is then a temporary one until it is complete, so that a failure writes nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/session/folders.h"

namespace triescope::app {

// A file that is really called "-" is "./-".
inline bool is_standard_output(std::string_view name) { return name == "-"; }

class OutputFile {
 public:
  explicit OutputFile(std::string name);  // Error{kIoError}: no room for temporary files

  const std::string& path() const { return path_; }  // where to write the file
  // Call it when the file is written: says so on stderr, or copies it to standard output.
  // Error{kIoError}.
  void finish(bool quiet);

 private:
  std::optional<ScratchFolder> scratch_;
  std::string path_;
};

}  // namespace triescope::app

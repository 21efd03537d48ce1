// OutputFile: the one file that a command writes, by the name given for it. "-" is standard output: then
// the file lies among the system's temporary ones until it is whole, so that a failure writes nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/run/scratch_folder.h"

namespace triescope::app {

// A file of this name is "./-".
inline bool is_standard_output(std::string_view name) { return name == "-"; }

class OutputFile {
 public:
  explicit OutputFile(std::string name);  // Error{kIoError}: no room for temporary files

  const std::string& path() const { return path_; }  // where to write it
  // It is written: says so on stderr, or copies it to standard output. Error{kIoError}.
  void finish(bool quiet);

 private:
  std::optional<ScratchFolder> scratch_;
  std::string path_;
};

}  // namespace triescope::app

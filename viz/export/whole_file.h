// WholeFile: a file that is there whole or not at all. What is written goes to a temporary beside the
// target and is renamed in commit(); without it the temporary is removed and the target stays as it
// was. A device, a pipe or a link (/dev/stdout is one) must not be replaced: for those the temporary
// lies in the system's folder for such, and is copied.
#pragma once

#include <string>

namespace triescope::viz {

class WholeFile {
 public:
  explicit WholeFile(std::string target);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  const std::string& path() const { return path_; }  // where to write
  void commit();                                     // Error{kIoError}

 private:
  std::string target_, path_;
  bool copies_ = false;
};

}  // namespace triescope::viz

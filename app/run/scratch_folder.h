// ScratchFolder: a folder of one's own among the system's temporary files, removed with all it holds at
// the end. For runs and models that nobody keeps.
#pragma once

#include <filesystem>
#include <string>

namespace triescope::app {

class ScratchFolder {
 public:
  // `purpose`: a word of its name, "lesson". Error{kIoError}: it cannot be made.
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace triescope::app

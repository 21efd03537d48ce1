// ScratchFolder: a private folder among the system's temporary files, removed with its contents at
// the end. For runs and models that nobody keeps.
#pragma once

#include <filesystem>
#include <string>

namespace triescope::app {

class ScratchFolder {
 public:
  // `purpose` is a word in its name, such as "lesson". Error{kIoError}: it cannot be made.
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

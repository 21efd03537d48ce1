// Where this user's files are, for a while or for good.
#pragma once

#include <filesystem>
#include <string>

namespace triescope::app {

// $XDG_CONFIG_HOME/triescope, else ~/.config/triescope; without a home, a folder among the
// temporary files. The folder is not created.
std::filesystem::path config_folder();
// The same with $XDG_CACHE_HOME and ~/.cache.
std::filesystem::path cache_folder();

// A private folder among the system's temporary files, removed with its contents at
// the end. For runs and models that nobody keeps.
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

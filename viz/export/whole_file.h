// WholeFile: a file that is written whole or not at all. Writing goes to a temporary file beside
// the target, which commit() renames; without commit() the temporary is removed and the target
// stays as it was. A device, a pipe or a link (/dev/stdout is one) must not be replaced: for those
// the temporary file is in the system's folder for such files, and is copied.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace triescope::viz {

class WholeFile {
 public:
  // A file that holds a run or a model is not taken for the place of a picture: nobody means to replace it, and it
  // may be the very file that is shown.
  enum class Replaces : std::uint8_t { kNoCaptureNorModel, kAny };
  // Errors: {kInvalidArgument}: it would replace one; {kIoError}: no file can be made there.
  explicit WholeFile(std::string target, Replaces replaces = Replaces::kNoCaptureNorModel);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  const std::string& path() const { return path_; }  // the path to write to
  void commit();                                     // Error{kIoError}
  // The same for a stream to that path, which is closed first.
  void commit(std::ofstream& file);

 private:
  std::string target_, path_;
  bool copies_ = false;
};

// Writes all of `content`. Errors: those of WholeFile.
void write_whole(const std::string& path, std::string_view content);

}  // namespace triescope::viz

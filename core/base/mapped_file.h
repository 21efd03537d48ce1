// A file mapped into memory for reading: opened at once however large it is, and read from disk where it is
// looked at. For files that this program wrote itself under another name and then renamed, so that nobody
// shortens them: a mapped file that becomes shorter ends the process that reads beyond its end (SIGBUS).
// Whatever lies in it may still be anything, and may change while it is read.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace triescope {

class MappedFile {
 public:
  // Opens a regular file. Errors: kNotFound, kIoError (permission, not a regular file, no mapping).
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace triescope

// A file opened for reading by pread alone. Nothing is mapped: a file that shrinks while it is
// being read gives an Error where a mapping would give SIGBUS. Several threads may call const
// functions at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace triescope::formats {

class InputFile {
 public:
  // Opens a regular file. Errors: kNotFound, kIoError (permission, not a regular file).
  explicit InputFile(const std::string& path);
  // Reads bytes in memory in place of a file; they must outlive it. `name` is for messages.
  InputFile(std::span<const std::byte> bytes, std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // at open

  // Fills `out` from `offset`. Error{kCorruption}: the file ends earlier; kIoError: the system
  // refused.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  // A hint to the system that these bytes will be read soon, so that it reads ahead: small reads
  // from several threads do not look sequential to it.
  void will_read(std::uint64_t offset, std::uint64_t size) const;
  // Error{kIoError} if size or modification time have changed since the file was opened.
  void check_unchanged() const;
  // Reads the whole file. Error{kCorruption} if it is longer than max_bytes.
  std::string text(std::uint64_t max_bytes) const;

 private:
  std::string path_;
  int fd_ = -1;  // -1: memory_ is read
  std::span<const std::byte> memory_;
  std::uint64_t size_ = 0;
  std::int64_t mtime_ns_ = 0;
};

// The path of `name` inside `folder`, for a name that a file of that folder gave.
// Error{kCorruption}: the name is no plain file name, or it is a symbolic link that leads out of
// the folder and of the blobs of its Hugging Face cache.
std::string path_in_folder(const std::string& folder, const std::string& name);

}  // namespace triescope::formats

// A file opened for reading, by pread alone. Nothing is mapped: a file that shrinks while it is
// being read gives an Error where a mapping would give SIGBUS. Const functions may be called from
// several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace triescope::formats {

class InputFile {
 public:
  // A regular file. Errors: kNotFound, kIoError (permission, not a regular file).
  explicit InputFile(const std::string& path);
  // Bytes in memory in a file's place; they must outlive it. `name`: for messages.
  InputFile(std::span<const std::byte> bytes, std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // at open

  // Fills `out` from `offset`. Error{kCorruption}: the file ends before; kIoError: the system
  // refused.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  // Tells the system that these bytes will be read soon, so that it reads ahead: small reads
  // from several threads do not look sequential to it. Only a hint.
  void will_read(std::uint64_t offset, std::uint64_t size) const;
  // Error{kIoError} if size or modification time are no longer what they were at open.
  void check_unchanged() const;
  // The whole file. Error{kCorruption} if longer than max_bytes.
  std::string text(std::uint64_t max_bytes) const;

 private:
  std::string path_;
  int fd_ = -1;  // -1: memory_ is read
  std::span<const std::byte> memory_;
  std::uint64_t size_ = 0;
  std::int64_t mtime_ns_ = 0;
};

// `name` inside `folder`, for a name that a file of that folder gave. Error{kCorruption}: it is not
// a plain file name, or it is a symbolic link that leads elsewhere than the folder or the blobs of
// its Hugging Face cache.
std::string path_in_folder(const std::string& folder, const std::string& name);

}  // namespace triescope::formats

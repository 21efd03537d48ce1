#include "core/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"

namespace triescope::formats {
namespace {

namespace fs = std::filesystem;

// The folder "blobs" for a folder in huggingface_hub's cache, where snapshots/<revision>/.../<file>
// is a link to blobs/<hash>; else empty.
fs::path blobs_of(fs::path folder) {
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (folder.parent_path().filename() == "snapshots")
      return folder.parent_path().parent_path() / "blobs";
  return {};
}

std::int64_t mtime_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

[[noreturn]] void fail(const std::string& path, const char* what) {
  const int reason = errno;
  const ErrorCode code =
      reason == ENOENT || reason == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIoError;
  throw Error(code, path + ": " + what + ": " + std::strerror(reason));
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // With O_NONBLOCK, a FIFO that was given by mistake does not hang the open.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) fail(path, "cannot be opened");
  struct stat status {};
  if (::fstat(fd_, &status) != 0) {
    ::close(fd_);
    fail(path, "cannot be examined");
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(fd_);
    throw Error(ErrorCode::kIoError, path + ": expected a regular file, found " +
                                         (S_ISDIR(status.st_mode) ? "a folder" : "something else"));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  mtime_ns_ = mtime_ns(status);
}

InputFile::InputFile(std::span<const std::byte> bytes, std::string name)
    : path_(std::move(name)), memory_(bytes), size_(bytes.size()) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    throw Error(ErrorCode::kCorruption, path_ + ": expected " + std::to_string(out.size()) +
                                            " bytes at offset " + std::to_string(offset) +
                                            ", but the file has " + std::to_string(size_) +
                                            "; it is cut short or damaged, fetch it again");
  }
  if (fd_ < 0) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return;
  }
  while (!out.empty()) {
    const std::size_t part = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
    const ssize_t got = ::pread(fd_, out.data(), part, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      fail(path_, "cannot be read");
    }
    if (got == 0) {
      throw Error(ErrorCode::kCorruption,
                  path_ + ": became shorter while it was being read (was " + std::to_string(size_) +
                      " bytes, now ends before offset " + std::to_string(offset) +
                      "); let nothing write to it and open it again");
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void InputFile::will_read(std::uint64_t offset, std::uint64_t size) const {
  if (fd_ >= 0 && offset <= size_)
    (void)::posix_fadvise(fd_, static_cast<off_t>(offset),
                          static_cast<off_t>(std::min(size, size_ - offset)), POSIX_FADV_WILLNEED);
}

void InputFile::check_unchanged() const {
  if (fd_ < 0) return;
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail(path_, "cannot be examined");
  if (static_cast<std::uint64_t>(status.st_size) != size_ || mtime_ns(status) != mtime_ns_) {
    throw Error(ErrorCode::kIoError,
                path_ +
                    ": was changed while it was being read; let nothing write to it and open "
                    "it again");
  }
}

std::string InputFile::text(std::uint64_t max_bytes) const {
  if (size_ > max_bytes) {
    throw Error(ErrorCode::kCorruption, path_ + ": expected at most " + std::to_string(max_bytes) +
                                            " bytes, found " + std::to_string(size_));
  }
  std::string content(size_, '\0');
  read(0, std::as_writable_bytes(std::span(content)));
  return content;
}

std::string path_in_folder(const std::string& folder, const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    throw Error(ErrorCode::kCorruption,
                folder + ": expected the name of a file in this folder, found '" +
                    name.substr(0, 200) + "'");
  }
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  if (fs::is_symlink(path, error)) {
    const fs::path home = fs::canonical(folder.empty() ? "." : folder, error);
    const fs::path target = fs::canonical(path, error);
    const bool in_cache = target.parent_path() == blobs_of(home);
    if (error || (target.parent_path() != home && !in_cache)) {
      throw Error(ErrorCode::kCorruption,
                  path.string() + ": is a symbolic link out of the model's folder (to " +
                      (error ? std::string("nothing") : target.string()) +
                      "), which is not followed; put the file itself there");
    }
  }
  return path.string();
}

}  // namespace triescope::formats

#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace triescope {

MappedFile::MappedFile(const std::string& path) {
  // A FIFO without a writer would block.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    throw Error(errno == ENOENT || errno == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIoError,
                path + ": " + std::strerror(errno));
  struct stat status {};
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = nullptr;
  int why = 0;
  if (regular && size > 0) {
    at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) why = errno;
  }
  ::close(fd);
  if (!regular) throw Error(ErrorCode::kIoError, path + ": expected a regular file");
  if (why != 0)
    throw Error(ErrorCode::kIoError, path + ": cannot be mapped: " + std::strerror(why));
  if (size > 0) bytes_ = {static_cast<const std::byte*>(at), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace triescope

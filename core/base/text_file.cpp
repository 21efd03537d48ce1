#include "core/base/text_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/base/error.h"

namespace triescope {

std::string read_text_file(const std::string& path, const std::string& expected) {
  const auto refuse = [&] {
    throw Error(ErrorCode::kNotFound,
                path + ": cannot be read (" + std::strerror(errno) + "); expected " + expected);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) refuse();
  std::string content;
  std::array<char, 1 << 16> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get()))
    content.append(part.data(), count);
  if (std::ferror(file.get())) refuse();  // a folder can be opened but not read
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (content.starts_with(kByteOrderMark)) content.erase(0, kByteOrderMark.size());
  return content;
}

}  // namespace triescope

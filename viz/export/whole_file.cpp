#include "viz/export/whole_file.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace triescope::viz {
namespace {

namespace fs = std::filesystem;

std::string fresh_file() {
  std::string path = (fs::temp_directory_path() / "triescope-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0)
    throw Error(ErrorCode::kIoError, path + ": a temporary file cannot be made; is there space?");
  ::close(file);
  return path;
}

// "a capture", "a model"; "" = neither, or not there.
std::string precious_kind(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";  // a pipe would wait for a writer
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(file.gcount()));
  if (begin.starts_with("SQLite format 3")) return "a capture";
  if (begin.starts_with("GGUF")) return "a model";
  if (begin.size() < head.size() || begin[8] != '{') return "";
  // safetensors: the length of the JSON that follows.
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(begin[i])) << (8 * i);
  return length <= fs::file_size(path, error) && !error ? "a model" : "";
}

}  // namespace

WholeFile::WholeFile(std::string target, Replaces replaces) : target_(std::move(target)) {
  if (const std::string kind = precious_kind(target_);
      replaces == Replaces::kNoCaptureNorModel && !kind.empty())
    throw Error(ErrorCode::kInvalidArgument, target_ + ": exists and is " + kind +
                                                 ", which would be lost; expected another name");
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(target_, ignored);
  copies_ = fs::exists(status) && !fs::is_regular_file(status);
  path_ = copies_ ? fresh_file() : target_ + ".part" + std::to_string(::getpid());
  if (!std::ofstream(path_, std::ios::binary))
    throw Error(ErrorCode::kIoError,
                target_ + ": cannot be written; is the folder there and writable?");
}

WholeFile::~WholeFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void WholeFile::commit(std::ofstream& file) {
  file.close();
  if (!file) throw Error(ErrorCode::kIoError, target_ + ": cannot be written; is there space?");
  commit();
}

void WholeFile::commit() {
  if (copies_) {
    std::ifstream from(path_, std::ios::binary);
    std::ofstream to(target_, std::ios::binary);
    to << from.rdbuf();
    if (!to.flush()) throw Error(ErrorCode::kIoError, target_ + ": cannot be written");
    return;
  }
  std::error_code ec;
  fs::rename(path_, target_, ec);
  if (ec) throw Error(ErrorCode::kIoError, target_ + ": cannot be written (" + ec.message() + ")");
}

void write_whole(const std::string& path, std::string_view content) {
  WholeFile whole(path);
  std::ofstream file(whole.path(), std::ios::binary);
  file << content;
  whole.commit(file);
}

}  // namespace triescope::viz

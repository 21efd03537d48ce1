#include "core/files/gguf.h"

#include <filesystem>
#include <map>
#include <unordered_map>

#include "core/base/error.h"
#include "core/files/gguf_header.h"

namespace triescope::formats {
namespace {

constexpr std::int64_t kMaxParts = 1000;

std::string padded(std::int64_t number) {
  std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

// "name-00001-of-00003.gguf" -> "name-", "00001-of-00003.gguf" -> "". Error if `path` has another
// form.
std::string split_prefix(const std::string& path, std::int64_t parts) {
  const std::string tail = padded(1) + "-of-" + padded(parts) + ".gguf";
  if (!path.ends_with(tail)) {
    throw Error(ErrorCode::kInvalidArgument,
                path + ": is a part of a model split into " + std::to_string(parts) +
                    " files; open the first part, whose name ends in " + tail);
  }
  return path.substr(0, path.size() - tail.size());
}

}  // namespace

struct GgufFile::Impl {
  std::vector<std::unique_ptr<InputFile>> files;
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;
  std::unordered_map<std::string_view, std::size_t> by_name;

  template <typename T>
  std::optional<T> get(std::string_view key) const {
    const auto found = values.find(key);
    if (found == values.end()) return std::nullopt;
    if (const T* value = std::get_if<T>(&found->second)) return *value;
    throw Error(ErrorCode::kCorruption, files[0]->path() + ": key '" + std::string(key) +
                                            "': expected " + kGgufKinds[GgufValue(T{}).index()] +
                                            ", found " + kGgufKinds[found->second.index()]);
  }
};

GgufFile::GgufFile() : impl_(std::make_unique<Impl>()) {}
GgufFile::~GgufFile() = default;

std::shared_ptr<const GgufFile> GgufFile::open(const std::string& path) {
  return open(std::make_unique<InputFile>(path));
}

std::shared_ptr<const GgufFile> GgufFile::open(std::unique_ptr<InputFile> first_part) {
  std::shared_ptr<GgufFile> file(new GgufFile);
  Impl& impl = *file->impl_;
  impl.files.push_back(std::move(first_part));
  const std::string& path = impl.files[0]->path();
  GgufPart first = read_gguf_part(*impl.files[0], 0);
  impl.values = std::move(first.values);
  impl.tensors = std::move(first.tensors);

  // A file that llama.cpp's tool merged from parts says 0: it is whole.
  const std::int64_t parts = file->integer("split.count").value_or(1);
  if (parts < 0 || parts > kMaxParts) {
    throw Error(ErrorCode::kCorruption, path + ": split.count: expected 1 to " +
                                            std::to_string(kMaxParts) + ", found " +
                                            std::to_string(parts));
  }
  if (parts > 1) {
    const std::string prefix = split_prefix(path, parts);
    for (std::int64_t i = 1; i < parts; ++i) {
      const std::filesystem::path wanted =
          prefix + padded(i + 1) + "-of-" + padded(parts) + ".gguf";
      const std::string name =
          path_in_folder(wanted.parent_path().string(), wanted.filename().string());
      impl.files.push_back(std::make_unique<InputFile>(name));
      GgufPart part = read_gguf_part(*impl.files.back(), static_cast<int>(i));
      if (integer_of(part, "split.no") != i || integer_of(part, "split.count") != parts) {
        throw Error(ErrorCode::kCorruption, name + ": expected part " + std::to_string(i + 1) +
                                                " of " + std::to_string(parts) +
                                                " by its split.no and split.count");
      }
      for (GgufTensor& tensor : part.tensors) impl.tensors.push_back(std::move(tensor));
      if (impl.tensors.size() > kMaxGgufTensors) {
        throw Error(ErrorCode::kCorruption, name + ": expected at most " +
                                                std::to_string(kMaxGgufTensors) +
                                                " tensors in all parts");
      }
    }
    const std::int64_t expected = file->integer("split.tensors.count")
                                      .value_or(static_cast<std::int64_t>(impl.tensors.size()));
    if (expected != static_cast<std::int64_t>(impl.tensors.size())) {
      throw Error(ErrorCode::kCorruption, path + ": expected " + std::to_string(expected) +
                                              " tensors in all parts, found " +
                                              std::to_string(impl.tensors.size()));
    }
  }
  for (std::size_t i = 0; i < impl.tensors.size(); ++i) {
    if (!impl.by_name.emplace(impl.tensors[i].name, i).second) {
      throw Error(ErrorCode::kCorruption,
                  path + ": tensor '" + impl.tensors[i].name + "' appears twice");
    }
  }
  return file;
}

const std::string& GgufFile::path() const { return impl_->files[0]->path(); }

std::int64_t GgufFile::file_bytes() const {
  std::int64_t sum = 0;
  for (const auto& file : impl_->files) sum += static_cast<std::int64_t>(file->size());
  return sum;
}

bool GgufFile::has(std::string_view key) const { return impl_->values.contains(key); }
std::optional<std::int64_t> GgufFile::integer(std::string_view key) const {
  return impl_->get<std::int64_t>(key);
}
std::optional<double> GgufFile::number(std::string_view key) const {
  const auto found = impl_->values.find(key);
  if (found != impl_->values.end()) {
    if (const auto* value = std::get_if<std::int64_t>(&found->second))
      return static_cast<double>(*value);
  }
  return impl_->get<double>(key);
}
std::optional<bool> GgufFile::boolean(std::string_view key) const { return impl_->get<bool>(key); }
std::optional<std::string> GgufFile::text(std::string_view key) const {
  return impl_->get<std::string>(key);
}
std::optional<std::vector<std::string>> GgufFile::texts(std::string_view key) const {
  return impl_->get<std::vector<std::string>>(key);
}
std::optional<std::vector<std::int64_t>> GgufFile::integers(std::string_view key) const {
  return impl_->get<std::vector<std::int64_t>>(key);
}
std::optional<std::vector<float>> GgufFile::floats(std::string_view key) const {
  return impl_->get<std::vector<float>>(key);
}
bool GgufFile::is_array(std::string_view key) const {
  const auto found = impl_->values.find(key);
  return found != impl_->values.end() && found->second.index() >= 4;
}

std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : impl_->values) names.push_back(key);
  return names;
}

std::span<const GgufTensor> GgufFile::tensors() const { return impl_->tensors; }

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found = impl_->by_name.find(name);
  return found == impl_->by_name.end() ? nullptr : &impl_->tensors[found->second];
}

void GgufFile::read(const GgufTensor& tensor, std::int64_t begin, std::span<std::byte> out) const {
  if (begin < 0 || begin > tensor.bytes ||
      out.size() > static_cast<std::size_t>(tensor.bytes - begin)) {
    throw Error(ErrorCode::kInvalidArgument, "tensor '" + tensor.name + "': read past its " +
                                                 std::to_string(tensor.bytes) + " bytes");
  }
  impl_->files[static_cast<std::size_t>(tensor.part)]->read(
      tensor.offset + static_cast<std::uint64_t>(begin), out);
}

void GgufFile::will_read(const GgufTensor& tensor) const {
  impl_->files[static_cast<std::size_t>(tensor.part)]->will_read(
      tensor.offset, static_cast<std::uint64_t>(tensor.bytes));
}

void GgufFile::check_unchanged() const {
  for (const auto& file : impl_->files) file->check_unchanged();
}

}  // namespace triescope::formats

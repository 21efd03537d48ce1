// Pickles and zip archives as torch.save writes them, put together byte by byte so that tests can
// damage them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace triescope::test {

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string pickled(const std::string& text) {
  return "X" + little_endian(static_cast<std::uint32_t>(text.size())) + text;
}
inline std::string pickled(int number) {
  return "J" + little_endian(static_cast<std::int32_t>(number));
}
inline std::string pickled_tuple(const std::vector<int>& numbers) {
  std::string bytes = "(";
  for (const int number : numbers) bytes += pickled(number);
  return bytes + "t";
}
inline std::string pickled_global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

struct PickledTensorSpec {
  std::string storage_type = "FloatStorage", key = "0";
  int storage_elements = 6, first = 0;
  std::vector<int> shape = {2, 3}, strides = {3, 1};
};

inline std::string pickled_tensor(const PickledTensorSpec& spec) {
  return pickled_global("torch._utils", "_rebuild_tensor_v2") + "((" + pickled("storage") +
         pickled_global("torch", spec.storage_type) + pickled(spec.key) + pickled("cpu") +
         pickled(spec.storage_elements) + "tQ" + pickled(spec.first) + pickled_tuple(spec.shape) +
         pickled_tuple(spec.strides) + "\x89" + pickled_global("collections", "OrderedDict") +
         ")RtR";
}

// A whole pickle: protocol 2, one dictionary of `items` (keys and values, pickled).
inline std::string pickle_of(const std::string& items) { return "\x80\x02}(" + items + "u."; }

struct ZipFile {
  std::string name, contents;
};

// Stored entries, the directory, its end. `zip64`: as PyTorch writes it.
inline std::string zip_of(const std::vector<ZipFile>& files, bool zip64 = false) {
  const auto u16 = [](std::size_t value) {
    return little_endian(static_cast<std::uint16_t>(value));
  };
  const auto u32 = [](std::size_t value) {
    return little_endian(static_cast<std::uint32_t>(value));
  };
  const auto u64 = [](std::size_t value) {
    return little_endian(static_cast<std::uint64_t>(value));
  };
  std::string bytes, directory;
  for (const ZipFile& file : files) {
    const std::string sizes = u32(0) + u32(file.contents.size()) + u32(file.contents.size());
    directory += "PK\x01\x02" + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) + sizes +
                 u16(file.name.size()) + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) +
                 u32(bytes.size()) + file.name;
    // Padding in the header's extra field, which the directory does not have.
    const std::string extra = std::string("FB") + u16(3) + "ZZZ";
    bytes += "PK\x03\x04" + u16(0) + u16(0) + u16(0) + u32(0) + sizes + u16(file.name.size()) +
             u16(extra.size()) + file.name + extra + file.contents;
  }
  const std::size_t at = bytes.size();
  bytes += directory;
  if (zip64) {
    const std::size_t end = bytes.size();
    bytes += std::string("PK\x06\x06") + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) +
             u64(files.size()) + u64(files.size()) + u64(directory.size()) + u64(at);
    bytes += std::string("PK\x06\x07") + u32(0) + u64(end) + u32(1);
    return bytes + "PK\x05\x06" + u16(0) + u16(0) + u16(0xffff) + u16(0xffff) + u32(0xffffffff) +
           u32(0xffffffff) + u16(0);
  }
  return bytes + "PK\x05\x06" + u16(0) + u16(0) + u16(files.size()) + u16(files.size()) +
         u32(directory.size()) + u32(at) + u16(0);
}

}  // namespace triescope::test

// Small GGUF and safetensors files written byte by byte, so that tests can damage them.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace triescope::test {

inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string gguf_text(const std::string& text) {
  return bytes_of<std::uint64_t>(text.size()) + text;
}

// Lists as GgufWriter::add_raw takes them (value type 9).
inline std::string gguf_texts(const std::vector<std::string>& texts) {
  std::string out = bytes_of<std::uint32_t>(8) + bytes_of<std::uint64_t>(texts.size());
  for (const std::string& text : texts) out += gguf_text(text);
  return out;
}
template <class T>
std::string gguf_numbers(std::uint32_t type, const std::vector<T>& numbers) {
  std::string out = bytes_of(type) + bytes_of<std::uint64_t>(numbers.size());
  for (const T number : numbers) out += bytes_of(number);
  return out;
}

struct GgufWriter {
  std::uint32_t version = 3;
  std::vector<std::string> keys;     // whole entries
  std::vector<std::string> tensors;  // whole entries
  std::string data;
  std::uint64_t key_count_lie = 0, tensor_count_lie = 0;  // 0 = the truth
  std::uint64_t alignment = 32;

  void add(const std::string& key, std::uint32_t value) {
    keys.push_back(gguf_text(key) + bytes_of<std::uint32_t>(4) + bytes_of(value));
  }
  void add(const std::string& key, float value) {
    keys.push_back(gguf_text(key) + bytes_of<std::uint32_t>(6) + bytes_of(value));
  }
  void add(const std::string& key, const std::string& value) {
    keys.push_back(gguf_text(key) + bytes_of<std::uint32_t>(8) + gguf_text(value));
  }
  void add_raw(const std::string& key, std::uint32_t type, const std::string& value) {
    keys.push_back(gguf_text(key) + bytes_of(type) + value);
  }
  // dims fastest first, as in the file.
  void add_entry(const std::string& name, const std::vector<std::uint64_t>& dims,
                 std::uint32_t type, std::uint64_t offset) {
    std::string entry = gguf_text(name) + bytes_of(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t extent : dims) entry += bytes_of(extent);
    tensors.push_back(entry + bytes_of(type) + bytes_of(offset));
  }
  void add_f32(const std::string& name, const std::vector<std::uint64_t>& dims,
               const std::vector<float>& values) {
    add_entry(name, dims, 0, data.size());
    data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    data.resize((data.size() + alignment - 1) / alignment * alignment, '\0');
  }
  std::string bytes() const {
    std::string out =
        "GGUF" + bytes_of(version) +
        bytes_of<std::uint64_t>(tensor_count_lie ? tensor_count_lie : tensors.size()) +
        bytes_of<std::uint64_t>(key_count_lie ? key_count_lie : keys.size());
    for (const std::string& key : keys) out += key;
    for (const std::string& tensor : tensors) out += tensor;
    out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
    return out + data;
  }
};

inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return bytes_of<std::uint64_t>(header.size()) + header + data;
}

}  // namespace triescope::test

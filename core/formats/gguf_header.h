// The header of one GGUF file: its metadata and tensor directory, every size compared with what is
// left of the file before it is used. Internal to gguf*.cpp; gguf.h is the way in. Source: the GGUF
// specification (ggml).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/formats/gguf.h"
#include "core/formats/input_file.h"

namespace triescope::formats {

// Far above every real model, far below what would hurt.
inline constexpr std::uint64_t kMaxGgufTensors = 1u << 20;  // in all parts

// Except for booleans, every kind of integer is read as 64 bits and every kind of float as a
// double; lists of booleans are lists of integers.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>>;
inline constexpr const char* kGgufKinds[] = {  // by GgufValue::index(), for messages
    "an integer",         "a number",         "a boolean",      "a text",
    "a list of integers", "a list of floats", "a list of texts"};

struct GgufPart {
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;
};

// nullopt: absent, or not an integer.
std::optional<std::int64_t> integer_of(const GgufPart& part, std::string_view key);

// Tensor offsets are absolute, inside the file, and no two tensors overlap. Errors: kCorruption
// (byte, expected, found), kNotSupported (version, tensor type).
GgufPart read_gguf_part(const InputFile& file, int index);

}  // namespace triescope::formats

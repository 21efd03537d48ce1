// How values become the fields of a message and come back. Each type lists its fields once, in
// visit_fields(); FieldWriter and FieldReader walk the same list. A field that is missing leaves the
// member as it is, so that either end may know more than the other. Reading trusts nothing:
// Error{kCorruption} names the field, what was expected and what was found.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/breakpoints.h"
#include "app/session/catalog.h"
#include "app/session/live_status.h"
#include "app/session/request.h"
#include "core/base/error.h"
#include "core/model/model.h"

namespace triescope::app {

// The last value of each enumeration that travels; the first is 0.
template <class Code>
inline constexpr Code kLastCode{};
template <>
inline constexpr DType kLastCode<DType> = DType::kF16;
template <>
inline constexpr LiveState kLastCode<LiveState> = LiveState::kDone;
template <>
inline constexpr LogLevel kLastCode<LogLevel> = LogLevel::kError;
template <>
inline constexpr BreakKind kLastCode<BreakKind> = BreakKind::kWhere;
template <>
inline constexpr ErrorCode kLastCode<ErrorCode> = ErrorCode::kCancelled;

class FieldWriter;
class FieldReader;

template <class Value>
concept HasFields = requires(Value& value, FieldWriter& visit) {
  visit_fields(visit, value);
};

[[noreturn]] void refuse_field(const std::string& name, const std::string& expected);

template <class Value>
void write_value(nlohmann::json& to, Value& value);
template <class Value>
void read_value(const nlohmann::json& from, const std::string& name, Value& value);

class FieldWriter {
 public:
  nlohmann::json fields = nlohmann::json::object();
  template <class Value>
  void operator()(const char* name, Value& value) {
    write_value(fields[name], value);
  }
};

class FieldReader {
 public:
  // REQUIRES: `fields` is an object; borrowed.
  explicit FieldReader(const nlohmann::json& fields) : fields_(fields) {}
  template <class Value>
  void operator()(const char* name, Value& value) {
    if (const auto found = fields_.find(name); found != fields_.end())
      read_value(*found, name, value);
  }

 private:
  const nlohmann::json& fields_;
};

template <class Value>
struct IsVector : std::false_type {};
template <class Item>
struct IsVector<std::vector<Item>> : std::true_type {};
template <class Value>
struct IsOptional : std::false_type {};
template <class Item>
struct IsOptional<std::optional<Item>> : std::true_type {};
template <class Value>
struct IsMap : std::false_type {};
template <class Item>
struct IsMap<std::map<std::string, Item>> : std::true_type {};
template <class Value>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};

template <class Value>
void write_value(nlohmann::json& to, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    to = static_cast<int>(value);
  } else if constexpr (IsVector<Value>::value) {
    to = nlohmann::json::array();
    for (auto& item : value) write_value(to.emplace_back(), item);
  } else if constexpr (IsOptional<Value>::value) {
    to = nullptr;
    if (value) write_value(to, *value);
  } else if constexpr (IsMap<Value>::value) {
    to = nlohmann::json::object();
    for (auto& [name, item] : value) write_value(to[name], item);
  } else if constexpr (IsPair<Value>::value) {
    to = nlohmann::json::array({value.first, value.second});
  } else if constexpr (HasFields<Value>) {
    FieldWriter writer;
    visit_fields(writer, value);
    to = std::move(writer.fields);
  } else {
    to = value;
  }
}

template <class Value>
void read_integer(const nlohmann::json& from, const std::string& name, Value& value) {
  using Limits = std::numeric_limits<Value>;
  bool fits = from.is_number_integer();
  if (fits && from.is_number_unsigned()) {
    fits = std::in_range<Value>(from.get<std::uint64_t>());
  } else if (fits) {
    fits = std::in_range<Value>(from.get<std::int64_t>());
  }
  if (!fits)
    refuse_field(name, "a whole number from " + std::to_string(Limits::min()) + " to " +
                           std::to_string(Limits::max()));
  value = from.get<Value>();
}

template <class Value>
void read_value(const nlohmann::json& from, const std::string& name, Value& value) {
  if constexpr (std::is_same_v<Value, nlohmann::json>) {
    value = from;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!from.is_boolean()) refuse_field(name, "true or false");
    value = from.get<bool>();
  } else if constexpr (std::is_enum_v<Value>) {
    int code = 0;
    read_integer(from, name, code);
    if (code < 0 || code > static_cast<int>(kLastCode<Value>))
      refuse_field(name, "a code from 0 to " + std::to_string(static_cast<int>(kLastCode<Value>)));
    value = static_cast<Value>(code);
  } else if constexpr (std::is_integral_v<Value>) {
    read_integer(from, name, value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (!from.is_number()) refuse_field(name, "a number");
    value = from.get<Value>();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (!from.is_string()) refuse_field(name, "a text");
    value = from.get<std::string>();
  } else if constexpr (IsVector<Value>::value) {
    if (!from.is_array()) refuse_field(name, "a list");
    value.clear();
    for (const nlohmann::json& item : from) read_value(item, name, value.emplace_back());
  } else if constexpr (IsOptional<Value>::value) {
    value.reset();
    if (!from.is_null()) read_value(from, name, value.emplace());
  } else if constexpr (IsMap<Value>::value) {
    if (!from.is_object()) refuse_field(name, "named values");
    value.clear();
    for (const auto& [key, item] : from.items()) read_value(item, name, value[key]);
  } else if constexpr (IsPair<Value>::value) {
    if (!from.is_array() || from.size() != 2) refuse_field(name, "two values");
    read_value(from[0], name, value.first);
    read_value(from[1], name, value.second);
  } else {
    if (!from.is_object()) refuse_field(name, "named values");
    FieldReader reader(from);
    visit_fields(reader, value);
  }
}

template <class Value>
nlohmann::json json_of(Value value) {
  nlohmann::json json;
  write_value(json, value);
  return json;
}
template <class Value>
Value value_of(const nlohmann::json& json, const std::string& name) {
  Value value{};
  read_value(json, name, value);
  return value;
}

// --- the lists ---

template <class Visit>
void visit_fields(Visit& visit, ChatMessage& m) {
  visit("role", m.role), visit("content", m.content), visit("more", m.more);
}

template <class Visit>
void visit_fields(Visit& visit, Conversation& m) {
  visit("messages", m.messages), visit("tools", m.tools);
  visit("chat_template", m.chat_template), visit("template_source", m.template_source);
}

template <class Visit>
void visit_fields(Visit& visit, CatalogEntry& m) {
  visit("name", m.name), visit("path", m.path), visit("note", m.note);
}

template <class Visit>
void visit_fields(Visit& visit, DeviceInfo& m) {
  visit("id", m.id), visit("name", m.name), visit("total_bytes", m.total_bytes);
}

template <class Visit>
void visit_fields(Visit& visit, Breakpoint& m) {
  visit("kind", m.kind), visit("threshold", m.threshold), visit("enabled", m.enabled);
  visit("text", m.text);
}

template <class Visit>
void visit_fields(Visit& visit, Notice& m) {
  visit("serial", m.serial), visit("level", m.level), visit("text", m.text);
}

template <class Visit>
void visit_fields(Visit& visit, RunRequest& m) {
  visit("model", m.model), visit("draft_model", m.draft_model), visit("device", m.device);
  visit("draft_device", m.draft_device), visit("dtype", m.dtype), visit("kv_dtype", m.kv_dtype);
  visit("method", m.method), visit("settings", m.settings), visit("prompt", m.prompt);
  visit("prompt_ids", m.prompt_ids), visit("prompt_is_ids", m.prompt_is_ids);
  visit("chat", m.chat), visit("system", m.system), visit("turns", m.turns);
  visit("tools", m.tools), visit("chat_template", m.chat_template);
  visit("chat_template_file", m.chat_template_file);
  visit("max_new_tokens", m.max_new_tokens), visit("seed", m.seed);
}

template <class Visit>
void visit_fields(Visit& visit, GenerationSettings& m) {
  visit("settings", m.settings), visit("not_done", m.not_done);
}

template <class Visit>
void visit_fields(Visit& visit, RowCosts& m) {
  visit("cheap_rows", m.cheap_rows), visit("second_row", m.second_row);
  visit("cheap_row", m.cheap_row), visit("dear_row", m.dear_row);
  visit("of_experts", m.of_experts), visit("chosen", m.chosen);
}

template <class Visit>
void visit_fields(Visit& visit, ModelInfo& m) {
  visit("name", m.name), visit("path", m.path), visit("family", m.family);
  visit("format", m.format), visit("quantisation", m.quantisation);
  visit("parameters", m.parameters), visit("file_bytes", m.file_bytes);
  visit("block_parameters", m.block_parameters), visit("block_bytes", m.block_bytes);
  visit("widened_parameters", m.widened_parameters), visit("widened_bytes", m.widened_bytes);
  visit("layers", m.layers), visit("hidden", m.hidden), visit("heads", m.heads);
  visit("kv_heads", m.kv_heads), visit("head_dim", m.head_dim);
  visit("intermediate", m.intermediate), visit("vocab_size", m.vocab_size);
  visit("context", m.context), visit("sliding_window", m.sliding_window);
  visit("kv_window", m.kv_window), visit("kv_valid_until", m.kv_valid_until);
  visit("tied_embeddings", m.tied_embeddings), visit("rope_theta", m.rope_theta);
  visit("tokenizer", m.tokenizer), visit("eos_token_ids", m.eos_token_ids);
  visit("bos_token_id", m.bos_token_id), visit("generation", m.generation);
  visit("dtype", m.dtype), visit("kv_dtype", m.kv_dtype), visit("device", m.device);
  visit("warning", m.warning), visit("notes", m.notes), visit("row_costs", m.row_costs);
  visit("path_only_rows", m.path_only_rows), visit("prefill_rows", m.prefill_rows);
}

}  // namespace triescope::app

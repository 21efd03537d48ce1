#include "core/text/jinja/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "core/base/unicode.h"
#include "core/text/jinja/text.h"

namespace triescope::jinja {

Value::Value(List list, Shape how) : shape(how) {
  depth = 1;
  for (const Value& item : list) contains(item);
  data = std::make_shared<List>(std::move(list));
}

Value::Value(Dict dict) {
  depth = 1;
  for (const auto& [key, item] : dict) contains(item);
  data = std::make_shared<Dict>(std::move(dict));
}

void Value::contains(const Value& inner) {
  changeable |= inner.changeable;
  depth = std::max<std::uint16_t>(depth, static_cast<std::uint16_t>(inner.depth + 1));
  const std::uint64_t sum = std::uint64_t{weight} + inner.weight + copy_cost(inner);
  weight = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, UINT32_MAX));
}

bool truthy(const Value& value) {
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<std::int64_t>()) return *i != 0;
  if (const auto* d = value.get<double>()) return *d != 0;
  if (const auto* s = value.get<std::string>()) return !s->empty();
  if (const List* list = value.list()) return !list->empty();
  if (const Dict* dict = value.dict()) return !dict->empty();
  return value.function() || value.name_space();
}

std::optional<std::int64_t> integer(const Value& value) {
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<std::int64_t>()) return *i;
  return std::nullopt;
}

std::optional<double> number(const Value& value) {
  if (const auto i = integer(value)) return static_cast<double>(*i);
  if (const auto* d = value.get<double>()) return *d;
  return std::nullopt;
}

const char* kind_of(const Value& value) {
  static constexpr const char* kNames[] = {"something undefined",
                                           "none",
                                           "a boolean",
                                           "a number",
                                           "a number",
                                           "a string",
                                           "a list",
                                           "a dict",
                                           "a function",
                                           "a namespace"};
  return kNames[value.data.index()];
}

bool equal(const Value& a, const Value& b) {
  if (integer(a) && integer(b)) return *integer(a) == *integer(b);
  if (number(a) && number(b)) return *number(a) == *number(b);
  if (a.data.index() != b.data.index()) return false;
  if (const auto* s = a.get<std::string>()) return *s == *b.get<std::string>();
  if (const List* list = a.list())
    return a.shape == b.shape &&
           std::equal(list->begin(), list->end(), b.list()->begin(), b.list()->end(), equal);
  if (const Dict* dict = a.dict()) {
    if (dict->size() != b.dict()->size()) return false;
    return std::all_of(dict->begin(), dict->end(), [&](const auto& entry) {
      const Value* other = lookup(*b.dict(), entry.first);
      return other && equal(entry.second, *other);
    });
  }
  if (a.name_space()) return a.name_space() == b.name_space();
  return a.is_none() || a.is_undefined();
}

std::optional<int> order(const Value& a, const Value& b) {
  if (integer(a) && integer(b)) return *integer(a) < *integer(b) ? -1 : *integer(a) > *integer(b);
  if (number(a) && number(b)) return *number(a) < *number(b) ? -1 : *number(a) > *number(b);
  const auto *s = a.get<std::string>(), *t = b.get<std::string>();
  if (s && t) return s->compare(*t) < 0 ? -1 : *s != *t;  // UTF-8 keeps the order of code points
  return std::nullopt;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  const double size = std::abs(value);
  const auto format = size != 0 && (size < 1e-4 || size >= 1e16) ? std::chars_format::scientific
                                                                 : std::chars_format::fixed;
  std::string out(text, std::to_chars(text, text + sizeof text, value, format).ptr);
  if (format == std::chars_format::fixed && out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string text_of(const Value& value, bool nested) {
  if (value.is_undefined()) return nested ? "Undefined" : "";
  if (value.is_none()) return "None";
  if (const auto* b = value.get<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.get<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = value.get<double>()) return float_text(*d);
  if (const auto* s = value.get<std::string>()) return nested ? python_repr(*s) : *s;
  std::string out;
  if (const List* list = value.list()) {
    for (const Value& entry : *list) out += (out.empty() ? "" : ", ") + text_of(entry, true);
    if (value.shape == Shape::kTuple) return "(" + out + (list->size() == 1 ? ",)" : ")");
    return "[" + out + "]";
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, entry] : *dict)
      out += (out.empty() ? "" : ", ") + python_repr(key) + ": " + text_of(entry, true);
    return "{" + out + "}";
  }
  return value.function() ? "<function>" : "<Namespace>";
}

const Value* lookup(const Dict& dict, const std::string& key) {
  for (const auto& [name, value] : dict)
    if (name == key) return &value;
  return nullptr;
}

void put(Dict& dict, const std::string& key, Value value) {
  for (auto& [name, old] : dict)
    if (name == key) {
      old = std::move(value);
      return;
    }
  dict.emplace_back(key, std::move(value));
}

namespace {

std::string json_string(const std::string& text, bool ascii) {
  static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
  std::string out = "\"";
  char escape[8];
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_step(text, at);
    const char32_t code = decode_utf8(text, at);
    const auto short_one = length == 1 ? kFrom.find(text[at]) : std::string_view::npos;
    const auto unit = [&](char32_t half) {
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(half) & 0xFFFFu);
      out += escape;
    };
    if (short_one != std::string_view::npos) {
      (out += '\\') += kTo[short_one];
    } else if (code < 0x20 || (ascii && code >= 0x7f && code < 0x10000 && code != 0x7f)) {
      unit(code);
    } else if (ascii && code >= 0x10000) {
      unit(0xD800 + ((code - 0x10000) >> 10));
      unit(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  return out + '"';
}

bool write_json(std::string& out, const Value& value, const JsonStyle& style, std::size_t limit,
                std::int64_t level) {
  const auto new_line = [&](std::int64_t to) {
    if (!style.indent) return;
    // As in Python, less than none means none. What is refused for its length may be cut here.
    const auto wide = std::clamp<std::int64_t>(*style.indent, 0, static_cast<std::int64_t>(limit));
    out += '\n';
    out.append(std::min(static_cast<std::size_t>(wide * to), limit), ' ');
  };
  if (value.is_none()) {
    out += "null";
  } else if (const auto* b = value.get<bool>()) {
    out += *b ? "true" : "false";
  } else if (const auto* s = value.get<std::string>()) {
    out += json_string(*s, style.ascii);
  } else if (number(value)) {
    out += text_of(value);
  } else if (value.list() || value.dict()) {
    Dict entries;
    if (const Dict* dict = value.dict()) entries = *dict;
    if (style.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    if (const List* list = value.list()) {
      if (value.shape == Shape::kView) return false;
      for (const Value& item : *list) entries.emplace_back("", item);
    }
    out += value.list() ? '[' : '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (out.size() > limit) throw TooLong();
      if (i > 0) out += style.between;
      new_line(level + 1);
      if (value.dict()) out += json_string(entries[i].first, style.ascii) + style.colon;
      if (!write_json(out, entries[i].second, style, limit, level + 1)) return false;
    }
    if (!entries.empty()) new_line(level);
    out += value.list() ? ']' : '}';
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> json_text(const Value& value, const JsonStyle& style,
                                     std::size_t limit) {
  std::string out;
  if (!write_json(out, value, style, limit, 0)) return std::nullopt;
  if (out.size() > limit) throw TooLong();
  return out;
}

std::size_t copy_cost(const Value& value) {
  const auto* text = value.get<std::string>();
  return text ? text_cost(text->size()) : 0;
}

std::size_t copy_cost(const Dict& dict) {
  std::size_t cost = dict.size();
  for (const auto& [key, item] : dict) cost += copy_cost(item);
  return cost;
}

std::size_t copy_cost(const List& list) {
  std::size_t cost = list.size();
  for (const Value& item : list) cost += copy_cost(item);
  return cost;
}

}  // namespace triescope::jinja

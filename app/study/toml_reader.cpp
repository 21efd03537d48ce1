#include "app/study/toml_reader.h"

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/base/nearest_name.h"

namespace triescope::app {
namespace {

// A value's kind, in a few words.
std::string kind_and_value(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return node.as_array()->empty() ? "an empty list" : "a list";
  std::ostringstream text;
  if (const auto* string = node.as_string()) {
    text << "the text \"" << string->get().substr(0, 60) << '"';
  } else if (const auto* whole = node.as_integer()) {
    text << whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    text << number->get();
  } else if (const auto* truth = node.as_boolean()) {
    text << (truth->get() ? "true" : "false");
  } else {
    text << "a date or time";
  }
  return text.str();
}

}  // namespace

void refuse_toml(const std::string& file, const toml::source_region& place,
                 const std::string& what) {
  throw Error(ErrorCode::kCorruption, file + ":" + std::to_string(place.begin.line) + ":" +
                                          std::to_string(place.begin.column) + ": " + what);
}

void TomlReader::allow(const std::vector<std::string>& keys) const {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    std::string list;
    for (const std::string& one : keys) list += (list.empty() ? "" : ", ") + one;
    refuse_toml(file_, key.source(),
                called_ + " has no key '" + name + "'" + did_you_mean(name, keys) +
                    "; expected one of: " + list);
  }
}

std::string TomlReader::text(const char* key, const std::string& otherwise) const {
  const toml::node* const node = table_.get(key);
  if (!node) return otherwise;
  const auto* const string = node->as_string();
  if (!string || string->get().empty())
    refuse_value(key, "expected a text in quotes, found " + kind_and_value(*node));
  return string->get();
}

bool TomlReader::truth(const char* key, bool otherwise) const {
  const toml::node* const node = table_.get(key);
  if (!node) return otherwise;
  if (!node->is_boolean())
    refuse_value(key, "expected true or false, found " + kind_and_value(*node));
  return node->as_boolean()->get();
}

std::int64_t TomlReader::whole(const char* key, std::int64_t otherwise, std::int64_t least,
                               std::int64_t most) const {
  if (const toml::node* const node = table_.get(key); node && node->is_array())
    refuse_value(key, "expected one whole number, found a list");
  return wholes(key, {otherwise}, least, most).front();
}

namespace {

// The values of a node that is one value or a list.
std::vector<const toml::node*> items(const toml::node& node) {
  std::vector<const toml::node*> all;
  if (const auto* const array = node.as_array())
    for (const toml::node& one : *array) all.push_back(&one);
  else
    all.push_back(&node);
  return all;
}

}  // namespace

std::vector<std::string> TomlReader::texts(const char* key,
                                           std::vector<std::string> otherwise) const {
  const toml::node* const node = table_.get(key);
  if (!node) return otherwise;
  std::vector<std::string> all;
  for (const toml::node* const one : items(*node)) {
    const auto* const string = one->as_string();
    if (!string || string->get().empty())
      refuse(*one, std::string(key) + ": expected a text in quotes, found " + kind_and_value(*one));
    if (std::find(all.begin(), all.end(), string->get()) != all.end())
      refuse(*one, std::string(key) + ": '" + string->get() + "' is there twice");
    all.push_back(string->get());
  }
  if (all.empty()) refuse_value(key, "expected one text or more, found an empty list");
  return all;
}

std::vector<std::int64_t> TomlReader::wholes(const char* key, std::vector<std::int64_t> otherwise,
                                             std::int64_t least, std::int64_t most) const {
  const toml::node* const node = table_.get(key);
  if (!node) return otherwise;
  std::vector<std::int64_t> all;
  for (const toml::node* const one : items(*node)) {
    const auto* const whole = one->as_integer();
    if (!whole || whole->get() < least || whole->get() > most)
      refuse(*one, std::string(key) + ": expected a whole number from " + std::to_string(least) +
                       " to " + std::to_string(most) + ", found " + kind_and_value(*one));
    if (std::find(all.begin(), all.end(), whole->get()) != all.end())
      refuse(*one, std::string(key) + ": " + std::to_string(whole->get()) + " is there twice");
    all.push_back(whole->get());
  }
  if (all.empty()) refuse_value(key, "expected one number or more, found an empty list");
  return all;
}

const toml::table* TomlReader::inner(const char* key) const {
  const toml::node* const node = table_.get(key);
  if (!node) return nullptr;
  if (!node->is_table()) refuse_value(key, "expected a table, found " + kind_and_value(*node));
  return node->as_table();
}

nlohmann::json json_of(const std::string& file, const toml::node& node) {
  if (const auto* string = node.as_string()) return string->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  const auto* const array = node.as_array();
  if (!array)
    refuse_toml(file, node.source(),
                "expected a text, a number, true, false or a list, found " + kind_and_value(node));
  nlohmann::json list = nlohmann::json::array();
  for (const toml::node& one : *array) list.push_back(json_of(file, one));
  return list;
}

}  // namespace triescope::app

// TomlReader: the keys of one table of a TOML file, read by name and type. Every refusal begins with
// "FILE:LINE:COLUMN: ". Borrows the table. The one place, with study_file.cpp, that knows toml++.
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace triescope::app {

// Error{kCorruption}: "FILE:3:9: what".
[[noreturn]] void refuse_toml(const std::string& file, const toml::source_region& place,
                              const std::string& what);

class TomlReader {
 public:
  // `called`: of the table, for messages: "[study]".
  TomlReader(const std::string& file, const toml::table& table, std::string called)
      : file_(file), table_(table), called_(std::move(called)) {}

  // Refuses a key that is none of these.
  void allow(const std::vector<std::string>& keys) const;
  bool has(const char* key) const { return table_.contains(key); }
  [[noreturn]] void refuse(const toml::node& node, const std::string& what) const {
    refuse_toml(file_, node.source(), what);
  }
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_toml(file_, table_.source(), what);
  }
  // Refuses at the value of `key`.
  [[noreturn]] void refuse_value(const char* key, const std::string& what) const {
    refuse(*table_.get(key), std::string(key) + ": " + what);
  }

  std::string text(const char* key, const std::string& otherwise) const;
  bool truth(const char* key, bool otherwise) const;
  std::int64_t whole(const char* key, std::int64_t otherwise, std::int64_t least,
                     std::int64_t most) const;
  // One value or a list of one or more; each distinct.
  std::vector<std::string> texts(const char* key, std::vector<std::string> otherwise) const;
  std::vector<std::int64_t> wholes(const char* key, std::vector<std::int64_t> otherwise,
                                   std::int64_t least, std::int64_t most) const;
  const toml::table* inner(const char* key) const;  // null = not there
  const std::string& file() const { return file_; }

 private:
  const std::string& file_;
  const toml::table& table_;
  std::string called_;
};

// A TOML value as JSON. Dates and tables are refused.
nlohmann::json json_of(const std::string& file, const toml::node& node);

}  // namespace triescope::app

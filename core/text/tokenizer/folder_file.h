// A JSON file of a tokenizer's folder, and the order of its keys.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::tokenizer {

struct FolderFile {
  // Error{kCorruption}: the file is not a JSON object, or it is a link that leads out of the
  // folder.
  FolderFile(const std::filesystem::path& folder, const char* name);

  std::string path;
  std::string text;                                   // "" if the file does not exist
  nlohmann::json content = nlohmann::json::object();  // empty if the file does not exist

  std::string word(const char* key) const;  // "" if it has no text of that name
  bool says(const char* key) const;         // whether its value is `true`
};

bool exists(const std::filesystem::path& folder, const char* name);

// The keys of a JSON object in the order of the file, which nlohmann::json does not keep and in which
// new tokens get their ids: of the object that the text is, or, with `within`, of its value of that
// name; empty if there is no such object. `text` is JSON that formats::parse_json accepted.
std::vector<std::string> key_order(std::string_view text, std::string_view within = {});

}  // namespace triescope::tokenizer

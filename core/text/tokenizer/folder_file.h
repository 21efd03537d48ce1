// A JSON file of a tokenizer's folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace triescope::tokenizer

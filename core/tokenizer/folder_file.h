// A JSON file of a tokenizer's folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace triescope::tokenizer {

struct FolderFile {
  // Error{kCorruption}: it is no JSON object, or a link that leads out of the folder.
  FolderFile(const std::filesystem::path& folder, const char* name);

  std::string path;
  std::string text;                                   // "" where it is not there
  nlohmann::json content = nlohmann::json::object();  // no entries where it is not there

  std::string word(const char* key) const;  // "" where it has no text of that name
  bool says(const char* key) const;         // it has `true`
};

bool exists(const std::filesystem::path& folder, const char* name);

}  // namespace triescope::tokenizer

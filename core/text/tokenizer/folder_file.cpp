#include "core/text/tokenizer/folder_file.h"

#include "core/files/input_file.h"
#include "core/files/json.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {

FolderFile::FolderFile(const std::filesystem::path& folder, const char* name)
    : path((folder / name).string()) {
  if (!exists(folder, name)) return;
  path = formats::path_in_folder(folder.string(), name);
  text = formats::InputFile(path).text(kMaxTokenizerBytes);
  content = formats::parse_json(text, path);
  if (!content.is_object())
    corrupt(path, "expected a JSON object, found " + content.dump().substr(0, 80));
}

std::string FolderFile::word(const char* key) const {
  return content.contains(key) && content[key].is_string() ? content[key].get<std::string>()
                                                           : std::string();
}

bool FolderFile::says(const char* key) const {
  return content.contains(key) && content[key].is_boolean() && content[key].get<bool>();
}

bool exists(const std::filesystem::path& folder, const char* name) {
  std::error_code ignored;  // a file that cannot be read counts as absent
  return std::filesystem::exists(folder / name, ignored);
}

}  // namespace triescope::tokenizer

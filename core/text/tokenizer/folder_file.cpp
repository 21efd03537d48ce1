#include "core/text/tokenizer/folder_file.h"

#include <nlohmann/json.hpp>

#include "core/base/json_io.h"
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
    corrupt(path, "expected a JSON object, found " + dump_json(content).substr(0, 80));
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

namespace {

using nlohmann::json;

class Keys final : public nlohmann::json_sax<json> {
 public:
  explicit Keys(std::string_view within) : within_(within) {}
  std::vector<std::string> take() { return std::move(keys_); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    if (depth_ == 1) inside_ = key == within_;
    if (within_.empty() ? depth_ == 1 : depth_ == 2 && inside_) keys_.push_back(key);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  bool open() {
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::string_view within_;
  std::vector<std::string> keys_;
  int depth_ = 0;
  bool inside_ = false;  // inside the value of the key `within_`
};

}  // namespace

std::vector<std::string> key_order(std::string_view text, std::string_view within) {
  Keys keys(within);
  json::sax_parse(text.begin(), text.end(), &keys);
  return keys.take();
}

}  // namespace triescope::tokenizer

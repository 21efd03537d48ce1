#include "core/text/tokenizer/key_order.h"

#include <nlohmann/json.hpp>

namespace triescope::tokenizer {
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

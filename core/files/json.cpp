#include "core/files/json.h"

#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/files/cbor.h"

namespace triescope::formats {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxOrderedKeys = 10'000;
constexpr std::size_t kMaxJsonValues = std::size_t{4} << 20;

// Numbers that Python's json writes and JSON has no word for. The library's lexer refuses the
// words, so each is passed to it as a number in a spelling that nobody writes, and the builder
// recognises that.
struct NotFinite {
  std::string_view word;
  std::string_view spelling;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr NotFinite kNotFinite[] = {
    {"NaN", "0.00000000000e-00000000001", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", "0.00000000000e-00000000002", kInfinity},
    {"-Infinity", "-0.00000000000e-00000000002", -kInfinity},
};

// Whether a value may begin after, or end before, this character.
bool is_edge(char character) {
  return std::string_view(" \t\r\n,:[]{}").find(character) != std::string_view::npos;
}

// The text with those words spelt as numbers, outside of strings; "" if it has none.
std::string without_words(std::string_view text) {
  std::string result;
  std::size_t copied = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_string = !in_string;
    if (in_string && text[i] == '\\') ++i;
    if (in_string || (i > 0 && !is_edge(text[i - 1]))) continue;
    for (const NotFinite& number : kNotFinite) {
      const std::size_t end = i + number.word.size();
      if (!text.substr(i).starts_with(number.word) || (end < text.size() && !is_edge(text[end])))
        continue;
      result.append(text.substr(copied, i - copied)).append(number.spelling);
      copied = end;
      i = end - 1;
      break;
    }
  }
  if (copied > 0) result.append(text.substr(copied));
  return result;
}

// Builds the document and enforces the limits. The library's own builder with a callback walks a
// whole list again after each object in it.
template <class Json>
class Builder final : public nlohmann::json_sax<Json> {
 public:
  using json = Json;
  using number_integer_t = typename Json::number_integer_t;
  using number_unsigned_t = typename Json::number_unsigned_t;
  using number_float_t = typename Json::number_float_t;
  using string_t = typename Json::string_t;
  using binary_t = typename Json::binary_t;

  explicit Builder(const std::string& name, const char* format = "JSON")
      : name_(name), format_(format) {}
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& spelling) override {
    for (const NotFinite& number : kNotFinite)
      if (spelling == number.spelling) return add(number.value);
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    count();
    auto& object = open_.back()->template get_ref<typename json::object_t&>();
    // An object that keeps its order is searched from one end to the other.
    if (std::is_same_v<Json, nlohmann::ordered_json> && object.size() == kMaxOrderedKeys)
      fail("expected objects of at most " + std::to_string(kMaxOrderedKeys) + " keys");
    const auto [at, is_new] = object.emplace(key, nullptr);
    if (!is_new) fail("key '" + key + "' appears twice");
    entry_ = &at->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail(std::string("expected ") + format_ + ", found: " + error.what());
    return false;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kCorruption, name_ + ": " + what);
  }
  void count() {
    if (++values_ > kMaxJsonValues) fail("expected at most 4 million JSON values");
  }
  json* place(json value) {
    count();
    if (open_.empty()) return &(root_ = std::move(value));
    if (!open_.back()->is_array()) return &(*entry_ = std::move(value));
    auto& list = open_.back()->template get_ref<typename json::array_t&>();
    list.push_back(std::move(value));
    return &list.back();
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    if (open_.size() == kMaxDepth) fail("expected JSON nested at most 64 deep");
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& name_;
  const char* const format_;
  json root_;
  // lists and objects that are open; none of them moves while one inside it is open
  std::vector<json*> open_;
  json* entry_ = nullptr;   // the value of the key just read
  std::size_t values_ = 0;  // counts keys too
};

template <class Json>
Json parsed(std::string_view text, const std::string& name) {
  Builder<Json> builder(name);
  const std::string rewritten = without_words(text);
  if (!rewritten.empty()) text = rewritten;
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& name) {
  return parsed<nlohmann::json>(text, name);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name) {
  return parsed<nlohmann::ordered_json>(text, name);
}

nlohmann::json parse_cbor(std::string_view bytes, const std::string& name) {
  Builder<nlohmann::json> builder(name, "CBOR");
  nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder,
                            nlohmann::json::input_format_t::cbor);
  return builder.take();
}

nlohmann::json read_json_file(const std::string& path, std::uint64_t max_bytes) {
  return parse_json(InputFile(path).text(max_bytes), path);
}

}  // namespace triescope::formats

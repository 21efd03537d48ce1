#include "core/model/formats/json.h"

#include <unordered_set>
#include <vector>

#include "core/base/error.h"

namespace triescope::formats {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxValues = std::size_t{4} << 20;

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& name) {
  using Event = nlohmann::json::parse_event_t;
  std::size_t values = 0;
  std::vector<std::unordered_set<std::string>> keys;  // of every object that is open
  const auto check = [&](int depth, Event event, nlohmann::json& parsed) {
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::kCorruption, name + ": " + what);
    };
    if (depth > kMaxDepth) fail("expected JSON nested at most 64 deep");
    if (++values > kMaxValues) fail("expected at most 4 million JSON values");
    if (event == Event::object_start) {
      keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) fail("key '" + key + "' stands twice");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), check);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kCorruption, name + ": expected JSON, found: " + error.what());
  }
}

nlohmann::json read_json_file(const std::string& path, std::uint64_t max_bytes) {
  return parse_json(InputFile(path).text(max_bytes), path);
}

}  // namespace triescope::formats

#include "lessons/front_matter.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/trimmed.h"

namespace triescope::lessons {
namespace {

constexpr int kMostLines = 100;
constexpr std::size_t kMostValueBytes = 8000;

struct Reader {
  const std::string& path;
  int line = 0;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kCorruption, path + ":" + std::to_string(line) + ": " + why);
  }

  std::string unquoted(const std::string& key, std::string_view value) const {
    if (!value.starts_with('"')) return std::string(value);
    std::string text;
    for (std::size_t i = 1; i < value.size(); ++i) {
      if (value[i] == '"') {
        if (i + 1 != value.size()) refuse(key + ": expected nothing behind the closing quote");
        return text;
      }
      if (value[i] != '\\') {
        text += value[i];
        continue;
      }
      const char next = ++i < value.size() ? value[i] : ' ';
      if (next != 'n' && next != '"' && next != '\\')
        refuse(key + ": expected \\n, \\\" or \\\\; found \\" + next);
      text += next == 'n' ? '\n' : next;
    }
    refuse(key + ": expected a closing quote");
  }

  std::int64_t number(const std::string& key, const std::string& value, std::int64_t least,
                      std::int64_t most) const {
    std::int64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end || number < least || number > most)
      refuse(key + ": expected a number from " + std::to_string(least) + " to " +
             std::to_string(most) + "; found '" + value + "'");
    return number;
  }

  std::string file_name(const std::string& key, const std::string& value,
                        std::string_view ending) const {
    if (!is_plain_file_name(value) || !value.ends_with(ending))
      refuse(key + ": expected the name of a " + std::string(ending) +
             " file in the lesson's own folder, without a path; found '" + value + "'");
    return value;
  }

  void set(FrontMatter& matter, const std::string& key, const std::string& value) const {
    if (key == "title") {
      matter.title = value;
    } else if (key == "summary") {
      matter.summary = value;
    } else if (key == "minutes") {
      matter.minutes = static_cast<int>(number(key, value, 1, 240));
    } else if (key == "capture") {
      matter.capture = file_name(key, value, ".tscap");
    } else if (key == "model" || key == "draft") {
      if (!is_plain_file_name(value))
        refuse(key + ": expected a short name (`triescope info --list`), not a path; found '" +
               value + "'");
      (key == "model" ? matter.model : matter.draft) = value;
    } else if (key == "method") {
      matter.method = value;
    } else if (key == "program") {
      matter.program = value;
    } else if (key == "set") {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos || equals == 0)
        refuse("set: expected name=value; found '" + value + "'");
      matter.settings[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (key == "prompt") {
      matter.prompt = value;
    } else if (key == "chat") {
      if (value != "on" && value != "off")
        refuse("chat: expected on or off; found '" + value + "'");
      matter.chat = value == "on";
    } else if (key == "max_new_tokens") {
      matter.max_new_tokens = static_cast<int>(number(key, value, 1, 4096));
    } else if (key == "seed") {
      matter.seed = static_cast<std::uint64_t>(number(key, value, 0, INT64_MAX));
    } else if (key == "next") {
      matter.next = file_name(key, value, ".md");
    } else {
      static const std::vector<std::string> kKeys = {
          "title",   "summary", "minutes", "capture", "model",          "draft", "method",
          "program", "set",     "prompt",  "chat",    "max_new_tokens", "seed",  "next"};
      std::string list;
      for (const std::string& one : kKeys) list += (list.empty() ? "" : ", ") + one;
      refuse("expected one of " + list + "; found '" + key + "'" + did_you_mean(key, kKeys));
    }
  }
};

}  // namespace

bool is_plain_file_name(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '.') return false;
  for (const char c : name) {
    const bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (!usual) return false;
  }
  return name.find("..") == std::string_view::npos;
}

FrontMatter read_front_matter(std::string_view text, const std::string& path,
                              std::string_view& rest) {
  FrontMatter matter;
  Reader reader{path};
  bool open = false;
  std::size_t at = 0;
  while (true) {
    ++reader.line;
    if (at >= text.size() || reader.line > kMostLines)
      reader.refuse(open ? "expected '---' to end the front matter"
                         : "expected a lesson, which begins with '---'; `triescope lesson new "
                           "FILE` writes one to start from");
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
    if (line == "---" && open) break;
    if (!open) {
      if (line != "---")
        reader.refuse(
            "expected a lesson, which begins with '---'; `triescope lesson new FILE` "
            "writes one to start from");
      open = true;
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      reader.refuse("expected KEY: VALUE; found '" + std::string(line.substr(0, 80)) + "'");
    if (line.size() > kMostValueBytes)
      reader.refuse("expected at most " + std::to_string(kMostValueBytes) + " bytes in a line");
    const std::string key(trimmed(line.substr(0, colon)));
    reader.set(matter, key, reader.unquoted(key, trimmed(line.substr(colon + 1))));
  }
  if (matter.title.empty() || matter.summary.empty() || matter.minutes == 0)
    reader.refuse("expected title, summary and minutes in the front matter; there is no " +
                  std::string(matter.title.empty()     ? "title"
                              : matter.summary.empty() ? "summary"
                                                       : "minutes"));
  if (matter.method.empty() || matter.prompt.empty())
    reader.refuse(
        "expected method and prompt in the front matter, of the run that the lesson is "
        "about; there is no " +
        std::string(matter.method.empty() ? "method" : "prompt"));
  if (!matter.program.empty() && matter.capture.empty())
    reader.refuse("program: expected a capture too, the run that " + matter.program + " recorded");
  matter.body_line = reader.line + 1;
  rest = text.substr(at);
  return matter;
}

}  // namespace triescope::lessons

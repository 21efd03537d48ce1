// Python's string methods that chat templates use. UTF-8 in and out; positions count characters.
// Internal to core/text/jinja.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace triescope::jinja {

bool is_python_space(char32_t code);  // str.isspace
std::size_t after_space(const std::string& text, std::size_t at);
std::vector<std::string_view> characters(const std::string& text);
std::int64_t character_count(const std::string& text);
// set: the characters to strip; nullopt: white space.
std::string stripped(const std::string& text, const std::optional<std::string>& set, bool left,
                     bool right);
std::string upper(const std::string& text);
std::string lower(const std::string& text);
std::string title(const std::string& text);  // str.title
// Jinja's filter of that name, for which words end at white space, -, ( and the like.
std::string title_filter(const std::string& text);
std::string capitalized(const std::string& text);
// count < 0: all. limit: for the result's bytes; beyond it Error{kNotSupported}.
std::string replaced(const std::string& text, const std::string& from, const std::string& to,
                     std::int64_t count, std::size_t limit);
// separator: nullopt = runs of white space. most < 0: no limit.
std::vector<std::string> split(const std::string& text, const std::optional<std::string>& separator,
                               std::int64_t most);
std::vector<std::string> split_from_right(const std::string& text, const std::string& separator,
                                          std::int64_t most);
std::vector<std::string> split_lines(const std::string& text);
std::string python_repr(const std::string& text);

}  // namespace triescope::jinja

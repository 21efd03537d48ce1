#include "viz/export/file_ending.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/base/error.h"

namespace triescope::viz {
namespace {

using Ending = std::pair<std::string_view, std::string_view>;
constexpr std::array<Ending, 9> kEndings = {{{"svg", ".svg"},
                                             {"pdf", ".pdf"},
                                             {"png", ".png"},
                                             {"csv", ".csv"},
                                             {"gif", ".gif"},
                                             {"png-frames", ".png"},
                                             {"html", ".html"},
                                             {"html", ".htm"},
                                             {"jsonl", ".jsonl"}}};

// In small letters.
std::string ending_at(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return ending;
}

// The first format whose files end as the path does, unless `format` is one of them; kEndings.end() = none.
const Ending* other_format(const std::filesystem::path& path, std::string_view format) {
  const std::string ending = ending_at(path);
  if (std::ranges::find(kEndings, Ending(format, ending)) != kEndings.end()) return kEndings.end();
  return std::ranges::find(kEndings, ending, &Ending::second);
}

}  // namespace

std::string_view name_of(ExportFormat format) {
  // In the order of the enumeration.
  return kEndings[static_cast<std::size_t>(format)].first;
}

ExportFormat format_of_path(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return export_format_from_string(ending.empty() ? "" : ending.substr(1));
}

std::string_view ending_of(std::string_view format) {
  const auto found = std::ranges::find(kEndings, format, &Ending::first);
  return found == kEndings.end() ? std::string_view() : found->second;
}

std::string with_ending_of(const std::string& path, std::string_view format) {
  std::filesystem::path target(path);
  const std::string ending(ending_of(format));
  if (!ending.empty() && other_format(target, format) != kEndings.end())
    target.replace_extension(ending);
  return target.string();
}

std::string file_of_panel(const std::string& path, std::string_view format,
                          const std::string& panel) {
  const std::filesystem::path target(path);
  const std::string ending(ending_of(format));
  const std::filesystem::path stem =
      ending_at(target) == ending ? target.stem() : target.filename();
  std::error_code ignored;
  if (stem.empty() || stem == "." || stem == ".." || stem == ending ||
      std::filesystem::is_directory(target, ignored))
    throw Error(ErrorCode::kInvalidArgument, "-o: expected NAME" + ending +
                                                 ", for files NAME-trie" + ending + ", NAME-mask" +
                                                 ending + ", …; found '" + path + "'");
  return (target.parent_path() / (stem.string() + "-" + panel + ending)).string();
}

void check_file_ending(const std::string& path, std::string_view format) {
  const std::filesystem::path target(path);
  const Ending* const other = other_format(target, format);
  if (other == kEndings.end() || ending_of(format).empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              path + ": expected a name that ends in " + std::string(ending_of(format)) +
                  ", for the format " + std::string(format) + "; found " +
                  target.extension().string() + ". Take the format " + std::string(other->first) +
                  ", or the name " + with_ending_of(path, format));
}

}  // namespace triescope::viz

#include "viz/assets/glossary.h"

#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "viz/assets/assets.h"

namespace triescope::viz {
namespace {

std::string plain(const std::string& cell) {
  const auto begin = cell.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  std::string out;
  for (const char c : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1))
    if (c != '`' && c != '*') out += c;
  return out;
}

std::map<std::string, std::string, std::less<>> standard() try {
  std::map<std::string, std::string, std::less<>> all;
  for (const AssetFile& file : asset_files("docs/glossary.md", asset_folder()))
    for (auto& [term, meaning] : read_glossary(file.text, file.path))
      all.insert_or_assign(term, std::move(meaning));
  return all;
} catch (const Error&) {
  return {};
}

}  // namespace

std::map<std::string, std::string, std::less<>> read_glossary(std::string_view text,
                                                              const std::string& path) {
  std::map<std::string, std::string, std::less<>> all;
  std::istringstream in{std::string(text)};
  int number = 0;
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorCode::kCorruption, path + ":" + std::to_string(number) + ": " + message);
  };
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] != '|' || line.starts_with("|---")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(plain(cell));
    if (cells.size() != 2 || cells[0].empty() || cells[1].empty())
      refuse("expected a row of two cells, | term | meaning |");
    if (cells[0] == "term" && cells[1] == "meaning") continue;
    if (!all.emplace(cells[0], cells[1]).second) refuse("'" + cells[0] + "' stands there twice");
  }
  return all;
}

const std::map<std::string, std::string, std::less<>>& glossary() {
  static const auto all = standard();
  return all;
}

std::string meaning_of(std::string_view term) {
  const auto& all = glossary();
  auto found = all.find(term);
  if (found == all.end()) found = all.find(term.substr(0, term.find(" (")));
  return found == all.end() ? "" : found->second;
}

}  // namespace triescope::viz

#include "viz/text/glossary.h"

#include <sstream>

#include "core/base/error.h"
#include "viz/text/assets.h"

namespace triescope::viz {
namespace {

constexpr std::string_view kLinksArrow = " → ";

struct GlossaryRow {
  int line = 0;
  std::string term, meaning, links;  // links: as they stand there
};

[[noreturn]] void refuse_row(const std::string& path, int line, const std::string& message) {
  throw Error(ErrorCode::kCorruption, path + ":" + std::to_string(line) + ": " + message);
}

std::string plain_cell(const std::string& cell) {
  const auto begin = cell.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  std::string out;
  for (const char c : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1))
    if (c != '`' && c != '*') out += c;
  return out;
}

std::vector<GlossaryRow> glossary_rows_of(std::string_view text, const std::string& path) {
  std::vector<GlossaryRow> rows;
  std::istringstream in{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] != '|' || line.starts_with("|---")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(plain_cell(cell));
    if (cells.size() != 2 || cells[0].empty() || cells[1].empty())
      refuse_row(path, number, "expected a row of two cells, | term | meaning |");
    if (cells[0] == "term" && cells[1] == "meaning") continue;
    // An arrow without a link behind it belongs to the meaning's words.
    const std::size_t arrow = cells[1].rfind(std::string(kLinksArrow) + "[");
    rows.push_back({number, cells[0], cells[1].substr(0, arrow),
                    arrow == std::string::npos ? "" : cells[1].substr(arrow + kLinksArrow.size())});
  }
  return rows;
}

// Reads "[text](target), [text](target)".
std::vector<GlossaryLink> glossary_links_of(const GlossaryRow& row, const std::string& path) {
  const auto expected = [&]() {
    refuse_row(
        path, row.line,
        "expected links behind the arrow, [NAME](panel:NAME) or [TEXT](…/LESSON.md), with commas "
        "between them; found '" +
            row.links + "'");
  };
  constexpr std::string_view kPanel = "panel:", kLesson = ".md";
  std::vector<GlossaryLink> links;
  std::string_view rest = row.links;
  while (!rest.empty()) {
    const std::size_t middle = rest.find("]("), end = rest.find(')');
    if (rest[0] != '[' || middle == std::string_view::npos || end == std::string_view::npos ||
        end < middle)
      expected();
    const std::string text(rest.substr(1, middle - 1));
    std::string_view target = rest.substr(middle + 2, end - middle - 2);
    if (target.starts_with(kPanel)) {
      links.push_back(
          {GlossaryLink::Kind::kPanel, text, std::string(target.substr(kPanel.size()))});
    } else if (target.ends_with(kLesson)) {
      target.remove_suffix(kLesson.size());
      target.remove_prefix(target.find_last_of('/') + 1);  // npos + 1 if there is none
      links.push_back({GlossaryLink::Kind::kLesson, text, std::string(target)});
    } else {
      expected();
    }
    rest.remove_prefix(end + 1);
    if (rest.starts_with(", "))
      rest.remove_prefix(2);
    else if (!rest.empty())
      expected();
  }
  return links;
}

// The result of `read` for docs/glossary.md, with a lecturer's own file over the program's; empty
// if that cannot be read.
template <class Read>
auto standard_glossary(Read read) -> decltype(read("", "")) {
  try {
    decltype(read("", "")) all;
    for (const AssetFile& file : asset_files("docs/glossary.md", asset_folder()))
      for (auto& [term, value] : read(file.text, file.path))
        all.insert_or_assign(term, std::move(value));
    return all;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::map<std::string, std::string, std::less<>> read_glossary(std::string_view text,
                                                              const std::string& path) {
  std::map<std::string, std::string, std::less<>> all;
  for (const GlossaryRow& row : glossary_rows_of(text, path))
    if (!all.emplace(row.term, row.meaning).second)
      refuse_row(path, row.line, "'" + row.term + "' stands there twice");
  return all;
}

std::map<std::string, std::vector<GlossaryLink>, std::less<>> read_glossary_links(
    std::string_view text, const std::string& path) {
  std::map<std::string, std::vector<GlossaryLink>, std::less<>> all;
  for (const GlossaryRow& row : glossary_rows_of(text, path))
    if (!row.links.empty()) all.emplace(row.term, glossary_links_of(row, path));
  return all;
}

const std::map<std::string, std::string, std::less<>>& glossary() {
  static const auto all = standard_glossary(read_glossary);
  return all;
}

std::vector<GlossaryLink> glossary_links(std::string_view term) {
  static const auto all = standard_glossary(read_glossary_links);
  const auto found = all.find(term);
  return found == all.end() ? std::vector<GlossaryLink>{} : found->second;
}

std::string meaning_of(std::string_view term) {
  const auto& all = glossary();
  auto found = all.find(term);
  if (found == all.end()) found = all.find(term.substr(0, term.find(" (")));
  return found == all.end() ? "" : found->second;
}

}  // namespace triescope::viz

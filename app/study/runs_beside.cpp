#include "app/study/runs_beside.h"

#include <algorithm>

#include "app/study/study_figures.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/capture/capture.h"

namespace triescope::app {

using nlohmann::json;

RunsBeside runs_beside(const std::vector<StudyRow>& rows, const std::vector<std::string>& columns) {
  RunsBeside beside;
  for (std::size_t i = 0; i < rows.size(); ++i)
    beside.names.push_back(std::to_string(i + 1) + " " + study_cell(rows[i], "name", ""));
  for (const std::string& column : columns) {
    BesideFigure figure{.column = column, .values = {}, .differences = {}};
    bool is_empty = true;
    for (const StudyRow& row : rows) {
      const auto found = row.find(column);
      figure.values.push_back(found == row.end() ? json(nullptr) : *found);
      is_empty = is_empty && figure.values.back().is_null();
    }
    if (is_empty) continue;
    const json& first = figure.values.front();
    const bool is_figure = is_study_figure(column) || column.starts_with("accept_");
    for (const json& value : figure.values)
      figure.differences.push_back(is_figure && first.is_number() && value.is_number()
                                       ? std::optional(value.get<double>() - first.get<double>())
                                       : std::nullopt);
    beside.figures.push_back(std::move(figure));
  }
  return beside;
}

TextPartings part_texts(const std::vector<std::string>& paths, std::stop_token stop) {
  TextPartings partings;
  if (paths.empty()) return partings;
  const auto opened = [](const std::string& path) -> std::unique_ptr<capture::Capture> {
    if (path.empty()) return nullptr;
    try {
      return capture::Capture::open(path);
    } catch (const Error&) {
      return nullptr;
    }
  };
  const auto first = opened(paths.front());
  for (std::size_t i = 1; i < paths.size() && !stop.stop_requested(); ++i) {
    const auto other = opened(paths[i]);
    partings.push_back(first && other ? std::optional(viz::text_parting(*first, *other))
                                      : std::nullopt);
  }
  return partings;
}

std::string parting_words(const std::optional<viz::TextParting>& parting) {
  if (!parting) return "";
  if (!parting->same_prompt) return "another prompt";
  if (parting->same_text) return "same text";
  const auto step = [](std::int32_t number) {
    return number < 0 ? std::string() : "step " + std::to_string(number);
  };
  const std::string own = step(parting->step), first = step(parting->first_step);
  return "parts after " + counted(parting->tokens, "token") + (own.empty() ? "" : ", in " + own) +
         (first.empty() ? "" : " (first run: " + first + ")");
}

StudyTable beside_table(const RunsBeside& beside, const TextPartings& partings) {
  StudyTable table;
  table.columns = {"figure"};
  const auto difference = [&](std::size_t run) {
    return beside.names[run] + " − " + beside.names.front();
  };
  for (std::size_t i = 0; i < beside.names.size(); ++i) {
    table.columns.push_back(beside.names[i]);
    if (i > 0) table.columns.push_back(difference(i));
  }
  for (const BesideFigure& figure : beside.figures) {
    StudyRow& row = table.rows.emplace_back(StudyRow{{"figure", figure.column}});
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
      row[beside.names[i]] = figure.values[i];
      if (i > 0 && figure.differences[i]) row[difference(i)] = *figure.differences[i];
    }
  }
  const auto add_line = [&](const char* name, const auto& value_of) {
    StudyRow& row = table.rows.emplace_back(StudyRow{{"figure", name}});
    for (std::size_t i = 0; i < partings.size() && i + 1 < beside.names.size(); ++i)
      if (partings[i] && partings[i]->same_prompt)
        row[beside.names[i + 1]] = value_of(*partings[i]);
  };
  if (partings.empty()) return table;
  using viz::TextParting;
  add_line("same_text_as_first", [](const TextParting& one) { return json(one.same_text); });
  add_line("tokens_before_parting",
           [](const TextParting& one) { return one.same_text ? json(nullptr) : json(one.tokens); });
  const auto step = [](std::int32_t number) { return number < 0 ? json(nullptr) : json(number); };
  add_line("parting_step", [&](const TextParting& one) { return step(one.step); });
  add_line("parting_step_of_first", [&](const TextParting& one) { return step(one.first_step); });
  return table;
}

}  // namespace triescope::app

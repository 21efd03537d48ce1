#include "app/study/study_chart.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/session/text_tools.h"
#include "app/study/study_table.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/session/session.h"

namespace triescope::app {
namespace {

std::string cell_text(const StudyRow& row, const std::string& column) {
  return row.contains(column) && !row.at(column).is_null() ? json_text(row.at(column)) : "none";
}

}  // namespace

viz::BarChart study_bars(const std::vector<StudyRow>& runs, const std::string& baseline,
                         const std::string& filter, const std::vector<std::string>& group_by,
                         const std::string& column) {
  if (group_by.empty() || group_by.size() > 2)
    throw Error(ErrorCode::kInvalidArgument,
                "--group-by: expected one column or two for a chart, the groups of bars and the "
                "bars of each: category,name; found " +
                    std::to_string(group_by.size()));
  const StudyTable table =
      study_table(runs, baseline, {.filter = filter, .group_by = group_by, .columns = {column}},
                  /*whole=*/true);
  viz::BarChart chart;
  chart.title = column + ", by " + group_by.front() +
                (group_by.size() > 1 ? " and " + group_by.back() : "") + "; mean and 95 % interval";
  struct Bar {
    std::size_t group = 0, series = 0;
    viz::BarValue value;
  };
  std::vector<Bar> bars;
  for (const StudyRow& row : table.rows) {
    const auto found = row.find(column);
    if (found == row.end() || !found->is_number()) continue;
    Bar bar;
    bar.group = place_of(chart.groups, cell_text(row, group_by.front()));
    bar.series = place_of(chart.series, group_by.size() > 1 ? cell_text(row, group_by.back()) : "");
    bar.value.mean = found->get<double>();
    bar.value.n = row.value("runs", 0);
    const auto number = [&](const std::string& name) {
      const auto cell = row.find(name);
      return cell != row.end() && cell->is_number() ? cell->get<double>() : viz::kNoBarFigure;
    };
    const double half = number(column + "_ci");
    bar.value.low = std::isnan(half) ? number(column + "_low") : bar.value.mean - half;
    bar.value.high = std::isnan(half) ? number(column + "_high") : bar.value.mean + half;
    bars.push_back(bar);
  }
  if (bars.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "a chart of " + column +
                    ": expected a figure that runs have; found none. Take "
                    "accepted_per_step, tokens_per_forward or speedup, for example");
  chart.values.assign(chart.groups.size(),
                      std::vector<std::optional<viz::BarValue>>(chart.series.size()));
  for (const Bar& bar : bars) chart.values[bar.group][bar.series] = bar.value;
  return chart;
}

StudyProvenance study_provenance(const std::string& folder, const std::vector<StudyRow>& runs,
                                 const std::string& title, const std::string& about) {
  StudyProvenance made;
  std::vector<std::string> models;
  for (const StudyRow& row : runs) {
    if (row.at("status") != "done") continue;
    made.created = std::max(made.created, row.at("finished_at").get<std::string>());
    place_of(models, row.at("model").get<std::string>());
  }
  std::string names;
  for (const std::string& model : models) names += (names.empty() ? "" : ", ") + model;
  made.facts = {{"Title", about + (title.empty() ? "" : ", " + title)},
                {"Model", names},
                {"Study", std::filesystem::path(folder).lexically_normal().filename().string()},
                {"Recorded", made.created},
                {"Software", "triescope " + versions().at("triescope").get<std::string>()}};
  return made;
}

}  // namespace triescope::app

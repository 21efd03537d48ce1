#include "app/study/study_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "app/session/result_json.h"
#include "core/base/json_io.h"
#include "viz/query/draft_places.h"

namespace triescope::app {
namespace {

using nlohmann::json;

constexpr const char* kTellingColumns[] = {"name",   "model", "draft",         "category",
                                           "prompt", "seed",  "max_new_tokens"};

struct DepthCounts {
  std::int64_t reached = 0, accepted = 0;
};

void add_depths(std::map<int, DepthCounts>& depths, const StudyRow& row) {
  const auto list = row.find("accepted_by_depth");
  if (list == row.end() || !list->is_array()) return;
  for (const json& one : *list) {
    DepthCounts& depth = depths[one.at("depth").get<int>()];
    depth.reached += one.at("reached").get<std::int64_t>();
    depth.accepted += one.at("accepted").get<std::int64_t>();
  }
}

void set_depths(StudyRow& row, const std::map<int, DepthCounts>& depths, bool with_interval) {
  for (const auto& [depth, counts] : depths) {
    const std::string name = "accept_" + std::to_string(depth);
    row["reached_" + std::to_string(depth)] = counts.reached;
    row[name] =
        counts.reached
            ? json(static_cast<double>(counts.accepted) / static_cast<double>(counts.reached))
            : json(nullptr);
    if (!with_interval) continue;
    const viz::ShareInterval interval = viz::wilson_interval(counts.accepted, counts.reached);
    row[name + "_low"] = interval.low;
    row[name + "_high"] = interval.high;
  }
}

// Those that are numbers.
std::vector<double> numbers_of(const std::vector<const StudyRow*>& rows, const std::string& name) {
  std::vector<double> values;
  for (const StudyRow* const row : rows)
    if (const auto found = row->find(name); found != row->end() && found->is_number())
      values.push_back(found->get<double>());
  return values;
}

// Rows of equal `key`, in the order of the first of each.
template <class Key>
std::vector<std::vector<const StudyRow*>> alike(const std::vector<StudyRow>& rows, Key key) {
  std::vector<std::vector<const StudyRow*>> groups;
  std::map<std::string, std::size_t> place;
  for (const StudyRow& row : rows) {
    const auto [found, is_new] = place.emplace(key(row), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(&row);
  }
  return groups;
}

// The median of the repeats' values, and both ends.
void set_spread(StudyRow& row, const std::string& name, const std::vector<double>& values) {
  row[name] = number_or_null(median_of(values));
  if (values.empty()) return;
  row[name + "_low"] = *std::min_element(values.begin(), values.end());
  row[name + "_high"] = *std::max_element(values.begin(), values.end());
}

StudyRow folded_row(const std::vector<const StudyRow*>& repeats) {
  StudyRow row = *repeats.front();
  for (const char* name : {"repeat", "place", "finished_at", "status"}) row.erase(name);
  row["repeats"] = repeats.size();
  for (const StudyMetric& metric : study_metrics())
    if (metric.is_time) set_spread(row, metric.name, numbers_of(repeats, metric.name));
  std::map<int, DepthCounts> depths;
  add_depths(depths, row);  // those of a repeat: the same in all
  set_depths(row, depths, /*with_interval=*/false);
  return row;
}

std::string key_but_for(const StudyRow& row, std::initializer_list<const char*> names) {
  json key = json_or_discarded(row.at("key").get<std::string>());
  for (const char* name : names) key.erase(name);
  return dump_json(key);
}

// A text that runs of one prompt, seed and limit share, whatever decodes.
std::string prompt_key(const StudyRow& row) {
  return key_but_for(row, {"repeat", "name", "method", "settings", "draft", "draft_device"});
}

// By repeat its rate.
std::map<std::int64_t, double> rates_of(const std::vector<const StudyRow*>& repeats) {
  std::map<std::int64_t, double> rates;
  for (const StudyRow* const row : repeats)
    if (const auto rate = row->find("tokens_per_second"); rate != row->end() && rate->is_number())
      rates.emplace(row->value("repeat", std::int64_t{1}), rate->get<double>());
  return rates;
}

// The ratios of repeats that ran in the same turn.
std::vector<double> ratios_of(const std::map<std::int64_t, double>& rates,
                              const std::map<std::int64_t, double>& plain) {
  std::vector<double> ratios;
  for (const auto& [repeat, rate] : rates)
    if (const auto base = plain.find(repeat); base != plain.end() && base->second > 0)
      ratios.push_back(rate / base->second);
  return ratios;
}

}  // namespace

std::string repeat_key(const StudyRow& row) { return key_but_for(row, {"repeat"}); }

std::span<const char* const> study_identity() { return kTellingColumns; }

bool is_study_figure(const std::string& column) {
  static constexpr std::array kMore = {"prompt_tokens", "accepted_drafts", "accepted_per_step",
                                       "speedup", "same_text"};
  return std::find(kMore.begin(), kMore.end(), column) != kMore.end() ||
         std::any_of(study_metrics().begin(), study_metrics().end(),
                     [&](const StudyMetric& metric) { return column == metric.name; });
}

double mean_half_width(const std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n < 2) return std::numeric_limits<double>::quiet_NaN();
  // Quantiles of Student's t at 0.975 for 1 to 30 degrees of freedom.
  static constexpr double kT[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                  2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                  2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(n);
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto freedom = static_cast<double>(n - 1);
  // Beyond: the first terms of its expansion around the normal quantile z (Abramowitz and Stegun
  // 26.7.5), right to three digits from 30 on.
  constexpr double z = 1.959963984540054;
  const double t = n - 1 <= std::size(kT) ? kT[n - 2] : z + (z * z * z + z) / (4 * freedom);
  return t * std::sqrt(squares / freedom / static_cast<double>(n));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<StudyRow> folded_rows(const std::vector<StudyRow>& runs, const std::string& baseline) {
  std::vector<StudyRow> done;
  for (const StudyRow& run : runs)
    if (run.at("status") == "done") done.push_back(run);
  const auto groups = alike(done, repeat_key);
  std::vector<StudyRow> rows;
  struct Plain {
    std::map<std::int64_t, double> rates;
    json text;
  };
  std::map<std::string, Plain> plain;  // by prompt_key(); the first of the baseline's
  for (const auto& repeats : groups) {
    rows.push_back(folded_row(repeats));
    if (!baseline.empty() && rows.back().at("name") == baseline)
      plain.emplace(prompt_key(rows.back()), Plain{rates_of(repeats), rows.back()["text"]});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    StudyRow& row = rows[i];
    const auto found = plain.find(prompt_key(row));
    row["speedup"] = nullptr;
    row["same_text"] = nullptr;
    if (found == plain.end()) continue;
    set_spread(row, "speedup", ratios_of(rates_of(groups[i]), found->second.rates));
    row["same_text"] = row["text"] == found->second.text;
  }
  return rows;
}

std::vector<StudyRow> grouped_rows(const std::vector<StudyRow>& rows,
                                   const std::vector<std::string>& group_by) {
  const auto cell = [](const StudyRow& row, const std::string& column) {
    const auto found = row.find(column);
    return found == row.end() ? json(nullptr) : *found;
  };
  const auto key = [&](const StudyRow& row) {
    json values = json::array();
    for (const std::string& column : group_by) values.push_back(cell(row, column));
    return dump_json(values);
  };
  std::vector<StudyRow> groups;
  for (const auto& members : alike(rows, key)) {
    StudyRow& group = groups.emplace_back(StudyRow::object());
    for (const std::string& column : group_by) group[column] = cell(*members.front(), column);
    group["runs"] = members.size();
    for (const auto& [column, first] : members.front()->items()) {
      if (!is_study_figure(column) || group.contains(column)) continue;
      std::vector<double> values = numbers_of(members, column);
      for (const StudyRow* const row : members)  // true and false: the share of true
        if (const json value = cell(*row, column); value.is_boolean())
          values.push_back(value.get<bool>() ? 1 : 0);
      if (values.empty()) continue;
      double sum = 0;
      for (const double value : values) sum += value;
      group[column] = sum / static_cast<double>(values.size());
      group[column + "_ci"] = number_or_null(mean_half_width(values));
    }
    std::map<int, DepthCounts> depths;
    for (const StudyRow* const row : members) add_depths(depths, *row);
    set_depths(group, depths, /*with_interval=*/true);
  }
  return groups;
}

}  // namespace triescope::app

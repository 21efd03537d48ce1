// The cells as plots.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/bench/bench_spec.h"
#include "app/session/text_tools.h"
#include "app/spec/spec_plan.h"
#include "app/spec/spec_tables.h"
#include "core/base/json_io.h"
#include "viz/panels/bar_picture.h"
#include "viz/plots/plots.h"

namespace triescope::app {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// As a plot names it: of a setting that is a path the file's name, "rest:datastore=stories.tsds".
std::string plot_name(const std::string& method) {
  std::string name;
  for (std::size_t at = 0; at <= method.size();) {
    const std::size_t end = std::min(method.find(':', at), method.size());
    std::string part = method.substr(at, end - at);
    if (const auto value = part.find('='); value != std::string::npos)
      if (const auto slash = part.rfind('/'); slash != std::string::npos && slash > value)
        part.erase(value + 1, slash - value);
    name += (at == 0 ? "" : ":") + part;
    at = end + 1;
  }
  return name;
}

// Methods as one plot names them. Where two would read alike, both keep their paths.
std::vector<std::string> plot_names(const std::vector<std::string>& methods) {
  std::vector<std::string> shortened, names = methods;
  for (const std::string& method : methods) shortened.push_back(plot_name(method));
  for (std::size_t i = 0; i < methods.size(); ++i)
    if (std::ranges::count(shortened, shortened[i]) == 1) names[i] = shortened[i];
  return names;
}

// Methods by tasks, over plain decoding's 1.
viz::BarChart bars(const std::vector<SpecCell>& cells, double (SpecCell::*value)() const) {
  viz::BarChart chart;
  chart.lies = chart.marks_best = true;
  chart.reference = 1;
  const auto is_meant = [](const SpecCell& cell) {
    return !is_spec_sweep(cell.method) && cell.method != "greedy";
  };
  for (const SpecCell& cell : cells) {
    if (!is_spec_sweep(cell.method)) place_of(chart.groups, cell.task);
    if (is_meant(cell)) place_of(chart.series, cell.method);
  }
  chart.values.assign(chart.groups.size(),
                      std::vector<std::optional<viz::BarValue>>(chart.series.size()));
  for (const SpecCell& cell : cells)
    if (const double mean = (cell.*value)(); is_meant(cell) && std::isfinite(mean))
      chart.values[place_of(chart.groups, cell.task)][place_of(chart.series, cell.method)] =
          viz::BarValue{.mean = mean};
  chart.series = plot_names(chart.series);
  return chart;
}

viz::HistogramPlot accepted_plot(const std::vector<SpecCell>& cells) {
  viz::HistogramPlot plot{.name = "spec-accepted",
                          .title = "How many drafts a step accepts, over all tasks",
                          .unit = "drafts accepted in a step",
                          .parts = {}};
  std::vector<std::string> methods;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const SpecCell& cell = cells[i];
    const bool is_last = i + 1 == cells.size() || cells[i + 1].method != cell.method;
    if (!is_last || is_spec_sweep(cell.method) || cell.method == "greedy") continue;
    methods.push_back(cell.method);
    plot.parts.push_back({"", cell.accepted_histogram});
  }
  methods = plot_names(methods);
  for (std::size_t i = 0; i < methods.size(); ++i) plot.parts[i].name = methods[i];
  return plot;
}

// The values that a setting has in the cells, as texts; numbers in the order of their size.
std::vector<std::string> values_of(const std::vector<const SpecCell*>& cells,
                                   const std::string& setting) {
  std::vector<nlohmann::json> values;
  for (const SpecCell* const cell : cells) {
    const nlohmann::json& value = cell->settings.at(setting);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  std::stable_sort(values.begin(), values.end());
  std::vector<std::string> texts;
  for (const nlohmann::json& value : values) texts.push_back(json_text(value));
  return texts;
}

viz::GridPlot sweep_plot(const std::string& method, const std::vector<const SpecCell*>& cells,
                         int number) {
  viz::GridPlot plot;
  plot.name = "spec-sweep-" + std::to_string(number);
  const BenchSpec spec = bench_spec(method);
  plot.title = spec.method;
  for (const auto& [name, value] : spec.settings.items())
    if (!cells.front()->settings.contains(name))
      plot.title += ", " + name + " = " + json_text(value);
  std::vector<std::string> settings;
  for (const auto& [name, value] : cells.front()->settings.items()) settings.push_back(name);
  plot.x_name = settings.front();
  plot.xs = values_of(cells, plot.x_name);
  if (settings.size() > 1) {
    plot.y_name = settings[1];
    plot.ys = values_of(cells, plot.y_name);
  }
  const std::vector<std::vector<double>> empty(std::max<std::size_t>(1, plot.ys.size()),
                                               std::vector<double>(plot.xs.size(), kNone));
  plot.figures = {{"tokens a forward", empty}, {"speed over plain decoding", empty}};
  // Where the runs were stopped on the way, a cell of fewer prompts compares with none of the others.
  const int prompts = (*std::ranges::max_element(cells, {}, &SpecCell::prompts))->prompts;
  for (const SpecCell* const cell : cells) {
    if (cell->prompts < prompts) continue;
    const std::size_t x = place_of(plot.xs, json_text(cell->settings.at(plot.x_name)));
    const std::size_t y =
        plot.y_name.empty() ? 0 : place_of(plot.ys, json_text(cell->settings.at(plot.y_name)));
    plot.figures[0].values[y][x] = cell->tokens_per_forward();
    plot.figures[1].values[y][x] = cell->speed();
  }
  return plot;
}

}  // namespace

std::vector<std::unique_ptr<viz::Panel>> spec_plots(const std::vector<SpecCell>& cells) {
  std::vector<std::unique_ptr<viz::Panel>> plots;
  viz::BarChart speed = bars(cells, &SpecCell::speed);
  if (!speed.series.empty()) {
    speed.name = "spec-speed";
    speed.title = "Speed over plain decoding (×), prefill and drafting counted";
    plots.push_back(viz::make_bar_picture(std::move(speed)));
    viz::BarChart tokens = bars(cells, &SpecCell::tokens_per_forward);
    tokens.name = "spec-tokens";
    tokens.title = "Tokens a forward of the target (plain decoding: 1)";
    plots.push_back(viz::make_bar_picture(std::move(tokens)));
    plots.push_back(viz::make_histogram_plot(accepted_plot(cells)));
  }
  std::vector<std::string> names;
  std::map<std::string, std::vector<const SpecCell*>> sweeps;
  for (const SpecCell& cell : cells)
    if (is_spec_sweep(cell.method) && !cell.settings.empty()) {
      place_of(names, cell.method);
      sweeps[cell.method].push_back(&cell);
    }
  for (std::size_t i = 0; i < names.size(); ++i)
    plots.push_back(viz::make_grid_plot(
        sweep_plot(swept_text(names[i]), sweeps[names[i]], static_cast<int>(i) + 1)));
  return plots;
}

}  // namespace triescope::app

#include "app/cli/cost_json.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

ordered_json point_json(const viz::CostPoint& point) {
  return {{"drafts", point.drafts},
          {"tokens_per_step", point.tokens},
          {"step_cost", point.cost},
          {"speedup", point.speedup()}};
}

ordered_json series_json(const viz::CostSeries& one) {
  const viz::CostModel& model = one.model;
  const viz::SpeculationFacts& facts = model.facts;
  const auto needed = model.needed();
  ordered_json yields = ordered_json::array(), points = ordered_json::array();
  for (const viz::PlaceYield& place : model.yields)
    yields.push_back({{"place", place.place}, {"tokens_per_step", place.yield}, {"n", place.n}});
  for (int n = 0; n <= static_cast<int>(model.yields.size()); ++n)
    points.push_back(point_json(model.at(n)));
  const bool beams = facts.is_of_beams();
  ordered_json json = {{"name", one.name},
                       {"runs", one.runs},
                       {"beams", beams ? ordered_json(facts.plain_rows) : ordered_json(nullptr)},
                       {"steps", facts.steps},
                       {"share_drafting", facts.share_drafting()},
                       {"rows_per_step", facts.mean_rows()},
                       {"levels", facts.mean_levels()},
                       {"acceptance", facts.acceptance()},
                       {"tokens_per_step", facts.tokens_per_step()},
                       {"drafter_round", model.round},
                       {"forward_cost", model.forward_cost()},
                       {"step_cost", model.step_cost()},
                       {"speedup", model.speedup()},
                       {"needs",
                        {{"tokens_per_step", model.step_cost()},
                         {"acceptance", needed ? ordered_json(*needed) : ordered_json(nullptr)}}},
                       {"best", beams ? ordered_json(nullptr) : point_json(model.best())},
                       {"by_drafts", points},
                       {"places", yields}};
  json["measured"] = nullptr;
  if (one.measured)
    json["measured"] = {
        {"speedup", one.measured->mean}, {"low", one.measured->low}, {"high", one.measured->high}};
  return json;
}

}  // namespace

ordered_json cost_json(const std::vector<viz::CostSeries>& series) {
  const viz::CostModel& model = series.front().model;
  ordered_json rows = ordered_json::array(), methods = ordered_json::array();
  for (int n = 1; n <= 33; ++n) rows.push_back(model.forwards.of(n));
  for (const viz::CostSeries& one : series) methods.push_back(series_json(one));
  return {{"costs",
           {{"from", to_string(model.from)},
            {"experts_recorded", model.counts_experts},
            {"one_row_us", model.one_row_us},
            {"by_rows", rows}}},
          {"methods", methods}};
}

}  // namespace triescope::app

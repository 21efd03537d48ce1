// The numbers of the cost chart as a table.
#include <sstream>

#include "viz/panels/cost_chart.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

void csv_row(std::ostream& out, const std::string& name, const char* kind, double drafts,
             double tokens, double cost) {
  out << csv_field(name) << ',' << kind << ',' << csv_double(drafts) << ',' << csv_double(tokens)
      << ',' << csv_double(cost) << ',' << csv_double(tokens / cost) << ",,\n";
}

}  // namespace

std::string cost_csv(const std::vector<CostSeries>& series) {
  std::ostringstream out;
  out << "series,kind,drafts,tokens_per_step,step_cost,speedup,low,high\n";
  if (series.empty()) return out.str();
  for (const CostSeries& one : series) {
    const CostModel& model = one.model;
    for (int n = 0; n <= static_cast<int>(model.yields.size()); ++n) {
      const CostPoint point = model.at(n);
      csv_row(out, one.name, "curve", n, point.tokens, point.cost);
    }
    const CostPoint best = model.best();
    csv_row(out, one.name, "best", best.drafts, best.tokens, best.cost);
    csv_row(out, one.name, "ran", one.drafts(), model.facts.tokens_per_step(), model.step_cost());
    if (one.measured)
      out << csv_field(one.name) << ",measured," << csv_double(one.drafts()) << ",,,"
          << csv_double(one.measured->mean) << ',' << csv_double(one.measured->low) << ','
          << csv_double(one.measured->high) << '\n';
  }
  const ForwardCosts& forwards = series.front().model.forwards;
  for (const double acceptance : kChainAcceptances)
    for (int n = 0; n <= drafts_shown(series); ++n)
      csv_row(out, "alpha " + number_text(acceptance, 1), "curve", n, chain_tokens(acceptance, n),
              forwards.of(1 + n));
  return out.str();
}

}  // namespace triescope::viz

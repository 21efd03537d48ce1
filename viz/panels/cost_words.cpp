#include "viz/panels/cost_words.h"

#include "core/base/counted.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

std::string whose_costs(const CostModel& model) {
  switch (model.from) {
    case CostsFrom::kRun:
      return "measured in " + counted(model.timed, "forward") +
             (model.facts.timed_while_drawing ? ", timed while drawing" : "");
    case CostsFrom::kModel:
      return "as the kernels were calibrated for these weights";
    case CostsFrom::kGpu:
      return "as assumed for a GPU";
    case CostsFrom::kExperts:
      return model.counts_experts
                 ? "of a GPU that waits for weights, with the experts that the steps read together"
                 : "as assumed for a mixture of experts on a GPU";
    case CostsFrom::kTyped:
      return "typed in";
    case CostsFrom::kMeasured:
      break;
  }
  return "measured just now";
}

}  // namespace

std::string costs_sentence(const CostModel& model) {
  std::string text = "Costs, " + whose_costs(model) + ": a forward of ";
  std::string prices;
  for (const int rows : {2, 5, 9}) {
    text += std::to_string(rows) + (rows == 2 ? ", " : rows == 5 ? " and " : " rows costs ");
    prices += number_text(model.forwards.of(rows), 2) + (rows == 2   ? ", "
                                                         : rows == 5 ? " and "
                                                                     : " of one row");
  }
  text += prices;
  if (model.one_row_us > 0) text += " (" + duration_text(model.one_row_us) + " here)";
  return text + ".";
}

std::string worth_sentence(const CostSeries& series) {
  const CostModel& model = series.model;
  const bool beams = model.facts.is_of_beams();
  std::string text = series.name + ": a step of " + number_text(model.facts.mean_rows(), 1) +
                     " rows costs " + number_text(model.step_cost(), 2) +
                     (beams ? " plain steps of " + std::to_string(model.facts.plain_rows) + " beams"
                            : std::string(" plain steps")) +
                     " (the drafter " + number_text(model.step_cost() - model.forward_cost(), 2) +
                     ") and gives " + number_text(model.facts.tokens_per_step(), 2) +
                     (beams ? " levels: " : " tokens: ") + number_text(model.speedup(), 2) +
                     (beams ? " × plain beam search" : " × plain decoding");
  if (series.measured)
    text += " (measured " + number_text(series.measured->mean, 2) + " ×, the mean of " +
            counted(series.runs, "run") + ")";
  return text + ".";
}

std::string needs_sentence(const CostModel& model) {
  if (model.facts.is_of_beams())
    return "It pays from " + number_text(model.step_cost(), 2) +
           " levels a step on. What other numbers of drafts would have given is not known: a level "
           "counts where every beam has a row.";
  const auto needed = model.needed();
  std::string text = "It pays from " + number_text(model.step_cost(), 2) + " tokens a step on: ";
  text += !needed        ? "no acceptance gives that many"
          : *needed == 0 ? "always"
                         : "from " + number_text(*needed, 2) + " accepted (here " +
                               number_text(model.facts.acceptance(), 2) + ")";
  const CostPoint best = model.best();
  return text + ". " +
         (best.drafts == 0 ? "None of its drafts paid: plain decoding is faster."
                           : counted(best.drafts, "draft") +
                                 " would pay best: " + number_text(best.speedup(), 2) + " ×.");
}

}  // namespace triescope::viz

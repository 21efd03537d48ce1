#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/doctor/compare_runs.h"
#include "core/doctor/doctor.h"
#include "core/doctor/model/mistakes.h"
#include "core/doctor/model/model_checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

constexpr std::size_t kMostRows = 4000, kMostPairs = 5;

// The recorded rows of the target, in the order in which they were computed.
std::vector<RecordedRow> recorded_rows(const RunView& run) {
  std::vector<RecordedRow> rows;
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step) {
    const auto all = run.capture.candidates_of(step);
    const auto inputs = run.capture.inputs(step);
    const std::size_t first = rows.size();
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && all[end].node == all[i].node && all[end].rank > all[end - 1].rank)
        ++end;
      // A probe's row is no row of the text, and its input may be no token.
      if (all[i].node == 0 ||
          (run.at(all[i].node).token >= 0 && !capture::is_probe(run.at(all[i].node))))
        rows.push_back({step, all[i].node, all.subspan(i, end - i)});
      i = end;
    }
    // As they lay in the batch: the first that differs is then above all that it explains.
    const auto place = [&](const RecordedRow& row) {
      const auto at = std::ranges::find(inputs, row.node, &InputRow::node);
      return at == inputs.end() ? std::int32_t{-1} : at->row;
    };
    std::stable_sort(
        rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
        [&](const RecordedRow& a, const RecordedRow& b) { return place(a) < place(b); });
    if (rows.size() > kMostRows) break;
  }
  return rows;
}

// T of recorded = log softmax(logits / T), by least squares over the differences to the best.
double fitted_temperature(const RecordedRow& row, std::span<const float> logits) {
  double both = 0, recorded = 0;
  for (const CandidateRow& one : row.best) {
    const double r = one.logprob - row.best.front().logprob;
    const double z = logits[static_cast<std::size_t>(one.token)] -
                     logits[static_cast<std::size_t>(row.best.front().token)];
    both += z * r;
    recorded += r * r;
  }
  return recorded > 0 && both > 0 ? std::clamp(both / recorded, 0.01, 100.0) : 1;
}

class CauseSearch {
 public:
  CauseSearch(const RunView& run, const ModelToCheck& with, RowOracle& oracle)
      : run_(run), with_(with), oracle_(oracle) {}

  struct Cause {
    std::string name;
    double off = 0;
  };

  // The mistake, or the pair of them, that comes closest.
  Cause closest(const RecordedRow& row, double tolerance) {
    const auto mistakes = mistakes_of(run_, row, oracle_.info().bos_token_id,
                                      static_cast<bool>(with_.without_rope_scaling));
    std::vector<std::pair<double, std::size_t>> tried;
    for (std::size_t i = 0; i < mistakes.size(); ++i)
      tried.emplace_back(off(row, {&mistakes[i]}), i);
    std::ranges::stable_sort(tried, {}, &std::pair<double, std::size_t>::first);
    if (tried.empty()) return {"", 1e9};
    Cause best{mistakes[tried[0].second].name + temperature_text(row, {&mistakes[tried[0].second]}),
               tried[0].first};
    if (best.off <= tolerance) return best;
    // Each of the nearest with any other.
    for (std::size_t a = 0; a < std::min(kMostPairs, tried.size()); ++a)
      for (std::size_t b = a + 1; b < tried.size(); ++b) {
        const std::vector<const Mistake*> pair = {&mistakes[tried[a].second],
                                                  &mistakes[tried[b].second]};
        if (const double distance = off(row, pair); distance < best.off / 2)
          best = {pair[0]->name + "; and " + pair[1]->name, distance};
      }
    return best;
  }

 private:
  RowSetup setup_of(const RecordedRow& row, const std::vector<const Mistake*>& mistakes) const {
    RowSetup setup{.cells = cells_of(run_, row.node), .prompt = run_.prompt};
    for (const Mistake* mistake : mistakes) mistake->make(setup);
    return setup;
  }
  std::vector<float> logits_of(const RowSetup& setup) {
    if (setup.cells.empty()) return {};
    for (const Cell& cell : setup.cells)
      if (cell.position < 0) return {};
    RowOracle* oracle = &oracle_;
    if (!setup.has_rope_scaling) {
      if (!unscaled_) {
        unscaled_model_ = with_.without_rope_scaling();
        unscaled_ = std::make_unique<RowOracle>(*unscaled_model_);
      }
      oracle = unscaled_.get();
    }
    std::vector<float> logits = oracle->logits(setup.cells, setup.prompt);
    if (setup.repetition_penalty != 1) {
      std::set<std::int32_t> context;
      for (const Cell& cell : setup.cells) context.insert(cell.token);
      for (const std::int32_t token : context) {
        float& logit = logits[static_cast<std::size_t>(token)];
        const auto penalty = static_cast<float>(setup.repetition_penalty);
        logit = logit < 0 ? logit * penalty : logit / penalty;
      }
    }
    return logits;
  }
  double off(const RecordedRow& row, const std::vector<const Mistake*>& mistakes) {
    const RowSetup setup = setup_of(row, mistakes);
    const std::vector<float> logits = logits_of(setup);
    if (logits.empty()) return 1e9;
    return distance(
        row, log_softmax(logits, setup.has_temperature ? fitted_temperature(row, logits) : 1));
  }
  std::string temperature_text(const RecordedRow& row,
                               const std::vector<const Mistake*>& mistakes) {
    const RowSetup setup = setup_of(row, mistakes);
    if (!setup.has_temperature) return "";
    return " (" + number_of(fitted_temperature(row, logits_of(setup))) + ")";
  }

  const RunView& run_;
  const ModelToCheck& with_;
  RowOracle& oracle_;
  std::unique_ptr<Model> unscaled_model_;
  std::unique_ptr<RowOracle> unscaled_;
};

}  // namespace

double row_tolerance(const std::string& recorded, DType computed) {
  const auto of = [](const std::string& dtype) {
    return dtype == "bf16" ? 0.3 : dtype == "f16" ? 0.05 : 2e-3;
  };
  return std::max(of(recorded), of(to_string(computed)));
}

void check_logits(const RunView& run, const ModelToCheck& with, std::vector<Finding>& out) {
  // A beam search records what its processors made of a row.
  if (run.has_processors() && run.capture.run().kind == RunKind::kBeams) return;
  RowOracle oracle(with.model);
  const double tolerance = row_tolerance(run.dtype(), with.model.info().dtype);
  const std::vector<RecordedRow> rows = recorded_rows(run);
  const RecordedRow* first = nullptr;
  double first_off = 0;
  for (const RecordedRow& row : rows) {
    const auto logprobs = log_softmax(oracle.logits(cells_of(run, row.node), run.prompt));
    const double off = distance(row, logprobs);
    if (off <= tolerance) continue;
    if (first == nullptr) first = &row, first_off = off;
    const auto input = std::ranges::find(run.capture.inputs(row.step), row.node, &InputRow::node);
    const bool has_input = input != run.capture.inputs(row.step).end();
    const CandidateRow& best = row.best.front();
    out.push_back(
        {.code = Code::kLogitsRow,
         .step = row.step,
         .node = row.node,
         .row = has_input ? input->row : -1,
         .slot = has_input ? input->slot : -1,
         .kind = "a row's numbers are not those of its path",
         .text =
             "the row of " + run.name(row.node) + " says " + run.token_text(best.token) + " " +
             number_of(best.logprob) + "; its path alone gives " +
             number_of(logprobs[static_cast<std::size_t>(best.token)]) + ". Largest difference " +
             number_of(off) + ", tolerance " + number_of(tolerance) +
             (run.dtype().empty() ? " (that of f32: the capture does not name the dtype)" : "") +
             "; " + std::to_string(rows.size()) + " rows were computed",
         .sure = Sure::kCertain});
  }
  if (first == nullptr) return;
  Finding cause = out[0];
  for (const Finding& finding : out)
    if (finding.code == Code::kLogitsRow) {
      cause = finding;
      break;
    }
  const auto found = CauseSearch(run, with, oracle).closest(*first, tolerance);
  if (found.off > first_off / 2) return;  // nothing that is known explains it
  cause.code = Code::kLogitsCause;
  cause.kind = found.name;
  cause.sure = found.off <= tolerance ? Sure::kCertain : Sure::kHint;
  cause.text = "the row of " + run.name(first->node) +
               " has the numbers that this mistake makes: " + found.name +
               ". Then the largest difference is " + number_of(found.off) + " instead of " +
               number_of(first_off);
  out.push_back(std::move(cause));
}

void check_greedy_text(const RunView& run, const ModelToCheck& with, std::vector<Finding>& out) {
  if (run.capture.run().kind == RunKind::kBeams || run.has_processors() || run.is_lossy_or_drawn())
    return;
  for (std::int32_t step = 0; step <= run.capture.last_step(); ++step)
    for (const VerdictRow& row : run.capture.verdicts(step))
      if (row.u >= 0 || row.reason == Reason::kDrawn || row.reason == Reason::kGumbelArgmax) return;
  RowOracle oracle(with.model);
  std::int32_t parent = 0;
  for (const std::int32_t node : text_nodes(run.capture)) {
    const std::int32_t token = run.at(node).token;
    const auto logits = oracle.logits(cells_of(run, parent), run.prompt);
    const auto best = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    const std::int32_t before = parent;
    parent = node;
    const Source source = run.at(node).source;
    if (token < 0 || best == token || source == Source::kForced || source == Source::kSampled)
      continue;
    const double gap = static_cast<double>(logits[static_cast<std::size_t>(best)]) -
                       logits[static_cast<std::size_t>(token)];
    const std::string recorded = run.dtype(), computed = to_string(with.model.info().dtype);
    const std::string coarser =
        rounding_noise(recorded) > rounding_noise(computed) ? recorded : computed;
    const Parting parting = gap <= std::min(rounding_noise(recorded), rounding_noise(computed))
                                ? Parting::kTie
                            : gap <= 2 * rounding_noise(coarser) ? Parting::kArithmetic
                                                                 : Parting::kFault;
    const std::int32_t step = step_of(run.at(node).tick);
    const auto figures = run.capture.step(step);
    out.push_back(
        {.code = Code::kTextGreedy,
         .step = step,
         .node = node,
         .kind = std::string("the text leaves the model's greedy text: ") + to_string(parting),
         .text = "token " + std::to_string(run.at(node).depth) + " of the text is " +
                 run.token_text(token) + "; after " + run.name(before) + " the model's best is " +
                 run.token_text(best) + ", " + number_of(gap) + " higher in logits (" +
                 number_of(gap / logit_unit(coarser)) + " units of " +
                 (coarser.empty() ? "f32" : coarser) + "; " +
                 counted(figures ? figures->forward_rows : 0, "row") + " in that forward). " +
                 sentence_of(parting),
         .sure = parting == Parting::kFault ? Sure::kCertain : Sure::kLikely});
    return;
  }
}

std::vector<FindingGroup> diagnose_with(const Capture& capture, const ModelToCheck& with) {
  const RunView run(capture);
  const std::int32_t vocabulary = with.model.info().vocab_size;
  for (const std::int32_t token : capture.run().prompt_tokens)
    if (token < 0 || token >= vocabulary)
      throw Error(ErrorCode::kInvalidArgument,
                  "doctor: expected the model of the capture; found one with " +
                      std::to_string(vocabulary) + " tokens, and token " + std::to_string(token) +
                      " in the prompt");
  for (const NodeRow& node : capture.nodes())
    if (!capture::is_probe(node) && node.token >= vocabulary)
      throw Error(ErrorCode::kInvalidArgument,
                  "doctor: expected the model of the capture; found one with " +
                      std::to_string(vocabulary) + " tokens, and token " +
                      std::to_string(node.token) + " in node " + std::to_string(node.node));
  std::vector<Finding> findings;
  if (!capture.run().prompt_tokens.empty()) {
    check_logits(run, with, findings);
    check_greedy_text(run, with, findings);
  }
  return grouped(findings);
}

}  // namespace triescope::doctor

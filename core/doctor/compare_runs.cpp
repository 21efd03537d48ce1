#include "core/doctor/compare_runs.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/doctor/run_view.h"

namespace triescope::doctor {
namespace {

using namespace capture;

PartingSide side_of(const RunView& run, const std::vector<std::int32_t>& text, std::size_t at,
                    std::int32_t other_token) {
  const Capture& capture = run.capture;
  PartingSide side;
  const float unknown = std::nanf("");
  side.margin = side.gap = unknown;
  side.dtype = run.dtype();
  side.node = at == 0 ? 0 : text[at - 1];
  if (at < text.size()) side.token = run.at(text[at]).token;
  const auto best = capture.candidates(side.node, capture.end_tick());
  side.best.assign(best.begin(), best.end());
  if (best.empty()) return side;
  side.step = step_of(best.front().tick);
  if (const auto row = capture.step(side.step)) side.forward_rows = row->forward_rows;
  if (best.size() > 1) side.margin = best[0].logprob - best[1].logprob;
  const auto logprob_of = [&](std::int32_t token) {
    const auto found = std::ranges::find(best, token, &CandidateRow::token);
    return found == best.end() ? unknown : found->logprob;
  };
  side.gap = logprob_of(side.token) - logprob_of(other_token);
  return side;
}

bool is_best(const PartingSide& side) {
  return side.best.empty() || side.token < 0 ||
         std::ranges::any_of(side.best, [&](const CandidateRow& row) {
           return row.token == side.token && row.logprob >= side.best.front().logprob;
         });
}

Parting parting_of(const PartingSide& left, const PartingSide& right) {
  if (left.best.empty() || right.best.empty()) return Parting::kUnknown;
  if (!is_best(left) || !is_best(right)) return Parting::kChosen;
  if (std::isnan(left.gap) || std::isnan(right.gap)) return Parting::kFault;
  const double gap = std::max(std::abs(left.gap), std::abs(right.gap));
  if (gap <= std::min(rounding_noise(left.dtype), rounding_noise(right.dtype)))
    return Parting::kTie;
  if (gap <= 2 * std::max(rounding_noise(left.dtype), rounding_noise(right.dtype)))
    return Parting::kArithmetic;
  return Parting::kFault;
}

std::string units_text(double units) {
  return units < 100 ? number_of(units) : std::to_string(std::llround(units));
}

std::string told(const RunView& run, const PartingSide& side) {
  std::string text = side.token < 0 ? "ends" : "goes on with " + run.token_text(side.token);
  if (side.best.empty()) return text + " (its row was not recorded)";
  text += " (step " + std::to_string(side.step) + ", " + std::to_string(side.forward_rows) +
          (side.forward_rows == 1 ? " row" : " rows") + " in the forward; ";
  for (std::size_t i = 0; i < std::min<std::size_t>(side.best.size(), 3); ++i)
    text += (i ? ", " : "") + run.token_text(side.best[i].token) + " " +
            number_of(side.best[i].logprob);
  if (!std::isnan(side.margin))
    text += "; margin " + number_of(side.margin) + ", " +
            units_text(side.margin / logit_unit(side.dtype)) + " units of " +
            (side.dtype.empty() ? "f32" : side.dtype);
  return text + ")";
}

}  // namespace

const char* to_string(Parting parting) {
  constexpr const char* kNames[] = {"tie", "arithmetic", "chosen", "fault", "unknown"};
  return kNames[static_cast<std::size_t>(parting)];
}

const char* sentence_of(Parting parting) {
  switch (parting) {
    case Parting::kTie:
      return "It is a tie: another order of sums changes more than what lies between the two tokens";
    case Parting::kArithmetic:
      return "It is arithmetic: the number type cannot reliably tell the two tokens apart";
    case Parting::kChosen:
      return "It was chosen: a token that is not the best of its row was drawn, or kept by a search";
    case Parting::kFault:
      return "It is a fault: rounding does not explain it";
    case Parting::kUnknown:
      break;
  }
  return "Why is not known: the rows were not recorded";
}

std::vector<std::int32_t> text_nodes(const Capture& capture) {
  std::int32_t last = -1;
  for (const SequenceRow& row : capture.sequences())
    if (row.rank == 0 && row.node > 0) last = row.node;
  for (std::int32_t step = capture.last_step(); last < 0 && step >= 0; --step)
    if (const auto frontier = capture.frontier(step); !frontier.empty())
      last = frontier.front().node;
  return last > 0 ? capture.path_to(last) : std::vector<std::int32_t>();
}

double logit_unit(const std::string& dtype) {
  const int mantissa = dtype == "bf16" ? 7 : dtype == "f16" ? 10 : 23;
  return 16 * std::ldexp(1.0, -mantissa);
}

// Another order of sums changes a logit by a few units of a coarse type, or by many of a fine one, whose
// errors add up over the layers.
double rounding_noise(const std::string& dtype) {
  return logit_unit(dtype) * (dtype == "bf16" || dtype == "f16" ? 2 : 128);
}

std::optional<FirstDifference> first_difference(const Capture& left, const Capture& right) {
  if (left.run().prompt_tokens != right.run().prompt_tokens)
    throw Error(ErrorCode::kInvalidArgument,
                "doctor: expected two runs of one prompt; found other prompt tokens in " +
                    left.path() + " (" + std::to_string(left.run().prompt_tokens.size()) +
                    ") than in " + right.path() + " (" +
                    std::to_string(right.run().prompt_tokens.size()) + ")");
  const RunView a(left), b(right);
  const auto text_a = text_nodes(left), text_b = text_nodes(right);
  std::size_t at = 0;
  while (at < text_a.size() && at < text_b.size() &&
         a.at(text_a[at]).token == b.at(text_b[at]).token)
    ++at;
  if (at == text_a.size() && at == text_b.size()) return std::nullopt;
  // One stopped at its own limit: the texts do not contradict each other.
  const auto stops_at_limit = [&](const RunView& run, const std::vector<std::int32_t>& text) {
    const auto cap = static_cast<std::size_t>(run.capture.run().max_new_tokens);
    if (at != text.size()) return false;
    const bool was_stopped = std::ranges::any_of(run.capture.sequences(), [](const auto& row) {
      return row.rank == 0 && row.finish == "stopped";
    });
    return was_stopped || run.capture.status() != RunStatus::kDone || (cap > 0 && at >= cap);
  };
  if (stops_at_limit(a, text_a) || stops_at_limit(b, text_b)) return std::nullopt;

  FirstDifference out;
  out.token = static_cast<std::int32_t>(at);
  const auto token_at = [&](const RunView& run, const std::vector<std::int32_t>& text) {
    return at < text.size() ? run.at(text[at]).token : -1;
  };
  out.left = side_of(a, text_a, at, token_at(b, text_b));
  out.right = side_of(b, text_b, at, token_at(a, text_a));
  out.parting = parting_of(out.left, out.right);
  out.finding = {.code = Code::kTextGreedy,
                 .step = out.left.step,
                 .node = out.left.node,
                 .kind = std::string("two texts of one prompt part: ") + to_string(out.parting),
                 .text = "the texts part at token " + std::to_string(at + 1) + ". The first " +
                         told(a, out.left) + "; the second " + told(b, out.right) + ". " +
                         sentence_of(out.parting),
                 .sure = out.parting == Parting::kFault     ? Sure::kCertain
                         : out.parting == Parting::kUnknown ? Sure::kHint
                                                            : Sure::kLikely};
  return out;
}

}  // namespace triescope::doctor

// The shape of acceptance by depth. A head that is fed the wrong input guesses the first token from
// what it was right about, and nothing behind it; drafts that always pass are a copy of the target.
#include <algorithm>
#include <unordered_map>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

constexpr std::int64_t kEnoughSteps = 20;
constexpr double kGood = 0.3, kCliff = 0.1, kAll = 0.995;

struct Depth {
  std::int64_t tried = 0, accepted = 0;
  std::int32_t step = -1, node = -1;  // the first that was tried
  double rate() const {
    return tried == 0 ? 0 : static_cast<double>(accepted) / static_cast<double>(tried);
  }
};

}  // namespace

void check_acceptance_shape(const RunView& run, std::vector<Finding>& out) {
  const Capture& capture = run.capture;
  // Drafts found in a text come true in runs, for good reasons.
  const bool guesses = std::ranges::any_of(capture.drafters(), [](const DrafterRow& drafter) {
    return drafter.kind == DrafterKind::kModel || drafter.kind == DrafterKind::kHead;
  });
  if (!guesses || capture.run().kind == RunKind::kBeams) return;
  std::vector<Depth> depths;  // a place where drafts hang below an accepted path: one try
  for (std::int32_t step = 1; step <= capture.last_step(); ++step) {
    std::unordered_map<std::int32_t, bool> accepted_below;  // by parent
    std::unordered_map<std::int32_t, Verdict> decided;
    for (const VerdictRow& row : capture.verdicts(step)) {
      if (row.node <= 0 || (row.verdict != Verdict::kAccepted && row.verdict != Verdict::kRejected))
        continue;
      decided[row.node] = row.verdict;
      accepted_below[run.parent(row.node)] |= row.verdict == Verdict::kAccepted;
    }
    for (const auto& [parent, accepted] : accepted_below) {
      std::size_t depth = 0;
      std::int32_t node = parent;
      for (; decided.contains(node) && decided[node] == Verdict::kAccepted; node = run.parent(node))
        ++depth;
      if (decided.contains(node) || run.ends(parent))
        continue;  // below a refused draft, or the end
      if (depths.size() <= depth) depths.resize(depth + 1);
      Depth& at = depths[depth];
      if (at.step < 0) at.step = step, at.node = parent;
      ++at.tried;
      at.accepted += accepted;
    }
  }
  const auto found = [&](const Depth& at, const char* kind, std::string text) {
    out.push_back({.code = Code::kAcceptanceShape,
                   .step = at.step,
                   .node = at.node,
                   .kind = kind,
                   .text = std::move(text),
                   .sure = Sure::kHint});
  };
  const auto told = [](const Depth& at) {
    return std::to_string(at.accepted) + " of " + std::to_string(at.tried);
  };
  if (depths.size() < 2 || depths[0].tried < kEnoughSteps) return;
  if (depths[1].tried >= kEnoughSteps / 2 && depths[0].rate() >= kGood &&
      depths[1].rate() < kCliff * depths[0].rate()) {
    found(depths[1], "acceptance falls off a cliff after the first draft",
          "at depth 1 " + told(depths[0]) + " were accepted, at depth 2 " + told(depths[1]) +
              ": the drafter's second input is probably not what it was trained on (a hidden "
              "state or a position off by one)");
    return;
  }
  std::int64_t tried = 0, accepted = 0;
  for (const Depth& at : depths) tried += at.tried, accepted += at.accepted;
  if (tried >= 4 * kEnoughSteps &&
      static_cast<double>(accepted) >= kAll * static_cast<double>(tried))
    found(depths[0], "acceptance is complete at all depths",
          std::to_string(accepted) + " of " + std::to_string(tried) +
              " drafts were accepted: a drafter that is always right is a copy of the target");
}

}  // namespace triescope::doctor

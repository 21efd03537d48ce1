#include "core/doctor/finding.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace triescope::doctor {
namespace {

struct CodeWords {
  const char* name;
  const char* rule;
};

constexpr std::array<CodeWords, kCodeCount> kCodes = {{
    {"mask.extra", "A row attends to its prompt, its ancestors and itself, and to nothing else."},
    {"mask.missing",
     "A row attends to the whole prompt, to all its ancestors and to itself, as far as the sliding "
     "window reaches."},
    {"slot.clobbered", "A KV slot is not written while a later row still needs what it holds."},
    {"slot.lost", "The KV of a path stays, wherever it is moved, until no row sees it any more."},
    {"slot.double", "Two rows of a forward write to two slots."},
    {"position.depth",
     "A row's position is prompt tokens + depth − 1, so siblings share a position."},
    {"logits.cause", "A row's numbers are those of its path, and of nothing else."},
    {"logits.row", "A row's log-probabilities are those of its path."},
    {"accept.greedy",
     "Greedy verification accepts a draft if and only if it is the argmax of its parent's row."},
    {"accept.chain",
     "A drawn draft is accepted if and only if u < min(1, p/q); after a refusal the token is drawn "
     "from what max(0, p − q) leaves."},
    {"accept.tree",
     "Siblings are tried in the order in which they were drawn, until one is accepted; what is "
     "accepted is one path."},
    {"accept.q", "A draft that was chosen, not drawn, is verified with q = 1."},
    {"text.lost",
     "A step writes its accepted drafts and one token of the target, and the text keeps them."},
    {"text.twice", "A step writes each of its tokens once."},
    {"text.eos", "Nothing is written after an end-of-sequence token."},
    {"text.length", "A text has at most max_new_tokens tokens, also inside an accepted run."},
    {"text.greedy", "With greedy decoding the text is the model's greedy text."},
    {"beam.cut", "The best b of all continuations go on."},
    {"beam.order", "Beams are ranked by their scores."},
    {"beam.eos",
     "An end-of-sequence token finishes a beam where it is among the best b continuations, and the "
     "beam does not go on after it."},
    {"beam.score",
     "A beam's score is the sum of its log-probabilities; a finished one's is divided by tokens to "
     "the power of the length penalty."},
    {"padding", "A padding or unknown token is not accepted, and no path is drafted twice."},
    {"position.offset", "Positions count from 0 at the prompt's first token."},
    {"acceptance.shape",
     "Acceptance falls gently with the depth of a draft, and is not complete at all depths."},
}};

void sort_groups(std::vector<FindingGroup>& groups) {
  std::ranges::stable_sort(groups, {}, [](const FindingGroup& group) {
    return std::tuple(group.first.code, group.first.step, group.first.row);
  });
}

}  // namespace

const char* to_string(Code code) { return kCodes[static_cast<std::size_t>(code)].name; }
const char* rule_of(Code code) { return kCodes[static_cast<std::size_t>(code)].rule; }

const char* to_string(Sure sure) {
  constexpr const char* kNames[] = {"certain", "likely", "hint"};
  return kNames[static_cast<std::size_t>(sure)];
}

std::vector<FindingGroup> grouped(std::span<const Finding> findings) {
  std::map<std::tuple<Code, capture::Whose, std::string>, std::vector<const Finding*>> by_fault;
  for (const Finding& finding : findings)
    by_fault[{finding.code, finding.whose, finding.kind}].push_back(&finding);
  std::vector<FindingGroup> groups;
  for (auto& [fault, list] : by_fault) {
    std::ranges::stable_sort(list, {}, [](const Finding* finding) { return finding->step; });
    FindingGroup group{.first = *list.front(), .count = std::ssize(list), .steps = 0};
    std::int32_t before = -2;
    for (const Finding* finding : list) {
      group.steps += finding->step != before;
      before = finding->step;
    }
    groups.push_back(std::move(group));
  }
  sort_groups(groups);
  return groups;
}

void add_groups(std::vector<FindingGroup>& groups, std::vector<FindingGroup> more) {
  for (FindingGroup& group : more) groups.push_back(std::move(group));
  sort_groups(groups);
}

}  // namespace triescope::doctor

// RowSights: what the rows of a forward really attended to (`seen`, by slots), held against what the tree
// asks for: the prompt, the row's ancestors and itself, as far as the target's sliding window reaches.
// A slot whose occupant is not known is not judged. Borrows the capture, which may grow meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/cache_contents.h"
#include "core/capture/capture.h"

namespace triescope::capture {

enum class SightFaultKind : std::uint8_t {
  // The row attends to what it should not:
  kUnwritten = 0,  // a slot that nothing was written to
  kBeforeWindow,   // an ancestor before its sliding window
  kLater,          // a later token of its own text
  kStale,          // KV of a node that was refused or freed before this step
  kSibling,
  kBranch,  // another branch
  // The row does not attend to what it should:
  kNotItself,
  kNotPrompt,
  kNotAncestor,
};
inline constexpr int kSightFaultKinds = static_cast<int>(SightFaultKind::kNotAncestor) + 1;
constexpr bool is_missing(SightFaultKind kind) { return kind >= SightFaultKind::kNotItself; }

struct SightFault {
  SightFaultKind kind = SightFaultKind::kUnwritten;
  std::int32_t slot = -1;  // -1 = it lies in none
  std::int32_t occupant =
      -1;  // what is seen or missing: a node, or prompt token i as -2 - i; -1 = nothing
};

// How `occupant` is related to the row of `node`: "its sibling", "the sibling of its parent", "its own ancestor".
std::string relation_text(const Capture& capture, std::int32_t node, std::int32_t occupant);
// Why it is a fault: the same relation, or "refused or freed before this step (stale KV)", …
std::string sight_fault_text(const Capture& capture, std::int32_t node, const SightFault& fault);

class RowSights {
 public:
  RowSights(const Capture& capture, Whose whose);

  // Chooses the forward whose rows are asked about. Costs what changes on the way.
  void go_to(ForwardId forward);

  // The slots that the tree asks a row of that forward to attend to.
  SlotRuns asked(const InputRow& row);
  // Whether the row attended to what the tree asks for. True for a row without `seen`.
  bool is_right(const InputRow& row);
  // At most `most` places where it did not: extra ones by slot, then missing ones.
  std::vector<SightFault> faults(const InputRow& row, std::size_t most);

 private:
  std::int32_t window() const;
  // The row's own place; a row that is about no token of its own stands at the prompt's end.
  std::int32_t place_of(const InputRow& row) const;
  bool is_required(std::int32_t occupant) const;
  bool is_in_window(std::int32_t occupant, const InputRow& row) const;
  SightFault classified(const InputRow& row, std::int32_t slot, std::int32_t occupant) const;
  template <class Visit>
  void each_missing(const InputRow& row, const SlotRuns& asked, const SeenRow& seen, Visit visit);

  const Capture* capture_;
  Whose whose_;
  CacheContents contents_;
  ForwardId forward_{-1, 0};
};

}  // namespace triescope::capture

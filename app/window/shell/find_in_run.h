// FindInRun: searches the run shown for a text, in what was decoded and drafted, or for steps for
// which a condition is true. It knows which match was visited last. Draws nothing; window thread
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/step_condition.h"
#include "app/session/text_search.h"
#include "core/capture/capture.h"

namespace triescope::app {

class Workspace;
struct Document;

// The index of the key in `keys` (ascending) that comes after `from` (+1) or before it (-1),
// wrapping round. REQUIRES: `keys` is not empty.
template <class Key>
std::size_t match_beside(const std::vector<Key>& keys, std::int64_t from, int direction) {
  if (direction > 0) {
    const auto next = std::ranges::upper_bound(keys, from);
    return next == keys.end() ? 0 : static_cast<std::size_t>(next - keys.begin());
  }
  const auto here = std::ranges::lower_bound(keys, from);
  return (here == keys.begin() ? keys.size() : static_cast<std::size_t>(here - keys.begin())) - 1;
}

enum class FindBy : std::uint8_t {
  kText,   // `query`, anywhere in the tree
  kWhere,  // steps for which the condition `where` is true (step_condition.h)
};

struct FoundPlace {
  capture::Tick cursor = 0;  // the moment just behind it
  std::int32_t node = -1;    // -1 = the step itself
};

class FindInRun {
 public:
  bool open = false, just_opened = false;
  FindBy by = FindBy::kText;
  std::string query = {}, where = {};

  const std::string& asked() const { return by == FindBy::kText ? query : where; }
  // Searches again if the question, the run shown or its recorded part has changed.
  void update(const Workspace& workspace);
  // Goes to the next match; -1: to the previous one. A text is looked for from the locked node, else
  // from the cursor; a step from the cursor. Locks the node and puts the cursor just behind its
  // arrival, or behind the step. Says so where there is no match.
  void go(Workspace& workspace, int direction);
  const std::vector<FoundPlace>& matches() const { return places_; }
  // "3 of 12", "12 found", "not found"; "" without a question.
  std::string count_text(const Workspace& workspace) const;
  // Says why the step before the cursor is found; where it is not, how many steps are.
  std::string here_text(const Workspace& workspace) const;
  // The fault of the condition: "column 7: …"; "" = none.
  const std::string& problem() const { return problem_; }

 private:
  void add_steps(const capture::Capture& capture, std::int32_t first);
  std::int64_t key_here(const Document& document, int direction) const;
  std::string none_text() const;

  std::string found_for_, problem_;
  FindBy found_by_ = FindBy::kText;
  std::uint64_t serial_ = 0;  // the document's
  std::size_t nodes_ = 0;
  std::int32_t steps_ = 0;  // recorded to their end
  std::vector<FoundPlace> places_;
  std::vector<std::int64_t> keys_;  // of the places: nodes, or cursors
};

}  // namespace triescope::app

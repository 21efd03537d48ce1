// Comparison: two runs side by side. The active capture is on the left and its partner on the
// right; they share one cursor and one focus. Window thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/window/workspace/documents.h"
#include "app/window/workspace/layouts.h"
#include "viz/query/comparison.h"
#include "viz/query/step_range.h"

namespace triescope::app {

class Comparison {
 public:
  Comparison(Documents& documents, Layouts& layouts, Preferences& preferences)
      : documents_(documents), layouts_(layouts), preferences_(preferences) {}

  bool is_on() const { return documents_.comparing; }
  // The capture on the right; nullptr = nothing is compared, or none was chosen yet.
  Document* partner() const { return is_on() ? documents_.partner : nullptr; }
  // Switches to the compare layout. nullptr = the partner before, else the newest other capture.
  void start(Document* other);
  void stop();
  // Each run is drawn to scales of its own, in the window and in pictures of both; else they share
  // them.
  bool own_scales() const { return preferences_.compare_own_scales; }
  viz::Along along() const { return along_; }
  void set_along(viz::Along along);

  // Limits figures to these steps; nullopt = all. While two runs are compared, both are limited.
  void set_range_of(Document& document, viz::StepRange range);
  // Makes the active document's range begin (or end) at the cursor's step. The other end stays
  // where it fits, else it is the run's.
  void end_range(bool first);

  void sync();  // before drawing: moves the cursor that follows and finds the twins
  void mirror_focus(const Document& from);
  void lock_focus(std::int32_t node);  // of the active document, and its twin; -1 = clear
  bool go_to_difference();             // to the first; false: the texts are the same so far
  bool go_to_next_difference();        // to the next one; false: there is none
  // The left run has ended and the right one goes on, so a step goes through the rest of it.
  bool steps_in_partner(int direction) const;

 private:
  // The state that the twins were found for.
  struct Compared {
    std::uint64_t left = 0, right = 0, lead = 0;  // serials
    capture::Tick cursor = -1, end = -1, other_end = -1;
    std::int64_t verdicts = -1, other_verdicts = -1;
    bool operator==(const Compared&) const = default;
  };
  void show_difference(std::size_t index);

  Documents& documents_;
  Layouts& layouts_;
  Preferences& preferences_;
  viz::Along along_ = viz::Along::kTokens;
  Compared compared_;
};

}  // namespace triescope::app

// FindInRun: a text that is looked for in the run shown, in what it decoded and in every draft; and which of
// the places that have it was gone to last. No drawing. The window thread's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::app {

class Workspace;

// The nodes at which `query` ends: in their own token, or begun in those before them on their path, the
// prompt included; in the order in which they came into the tree. ASCII case does not count. A token is
// also found as panels write it ("·the"). An empty query: none.
std::vector<std::int32_t> nodes_with(const capture::Capture& capture, const std::string& query);

// Which of `nodes`, which are in ascending order, comes after `from` (+1) or before it (-1), round the
// end. REQUIRES: there are some.
std::size_t match_beside(const std::vector<std::int32_t>& nodes, std::int32_t from, int direction);

class FindInRun {
 public:
  bool open = false, just_opened = false;
  std::string query = {};

  // Looks again where the query, the run shown or what it has recorded is another one than before.
  void update(const Workspace& workspace);
  // To the next match after the node that is locked, else after the cursor; -1: to the one before. The
  // cursor goes to where it had just come, and it is locked. Says so where there is none.
  void go(Workspace& workspace, int direction);
  const std::vector<std::int32_t>& matches() const { return matches_; }
  // "3 of 12", "12 found", "not found"; "" while nothing is looked for.
  std::string count_text(const Workspace& workspace) const;

 private:
  std::string found_for_;
  std::uint64_t serial_ = 0;  // of the document
  std::size_t nodes_ = 0;
  std::vector<std::int32_t> matches_;
};

}  // namespace triescope::app

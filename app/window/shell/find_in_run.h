// FindInRun: searches the text of the run shown and every draft, and knows which match was visited
// last. Draws nothing; window thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::app {

class Workspace;

// The nodes at which `query` ends, in the order in which they came into the tree. A match lies in
// the node's own token, or begins in earlier tokens of its path or in the prompt. ASCII case is
// ignored. A token is also found as panels write it ("·the"). An empty query matches nothing.
std::vector<std::int32_t> nodes_with(const capture::Capture& capture, const std::string& query);

// The index of the node in `nodes` (ascending) that comes after `from` (+1) or before it (-1),
// wrapping round. REQUIRES: `nodes` is not empty.
std::size_t match_beside(const std::vector<std::int32_t>& nodes, std::int32_t from, int direction);

class FindInRun {
 public:
  bool open = false, just_opened = false;
  std::string query = {};

  // Searches again if the query, the run shown or its recorded part has changed.
  void update(const Workspace& workspace);
  // Goes to the next match after the locked node, else after the cursor; -1: to the previous one.
  // Locks the node and puts the cursor just behind its arrival. Says so where there is no match.
  void go(Workspace& workspace, int direction);
  const std::vector<std::int32_t>& matches() const { return matches_; }
  // "3 of 12", "12 found", "not found"; "" without a query.
  std::string count_text(const Workspace& workspace) const;

 private:
  std::string found_for_;
  std::uint64_t serial_ = 0;  // the document's
  std::size_t nodes_ = 0;
  std::vector<std::int32_t> matches_;
};

}  // namespace triescope::app

// RunsSideBySide: the chosen runs of the table as columns beside each other, with where their texts
// part, which is read from their captures on a thread of its own. Window thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/study/runs_beside.h"
#include "app/window/workspace/later.h"

namespace triescope::app {

class RunsSideBySide {
 public:
  // `rows`: folded ones, two or more. `paths`: of their captures; "" = none. `columns`: those to show.
  void show(const std::vector<StudyRow>& rows, const std::vector<std::string>& paths,
            const std::vector<std::string>& columns);
  // Reads on where texts part. True if there is something new to see.
  bool update();
  bool busy() const { return task_ != nullptr; }
  const RunsBeside& beside() const { return beside_; }
  const TextPartings& partings() const { return partings_; }  // empty while they are read
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  RunsBeside beside_;
  TextPartings partings_;
  std::vector<std::string> paths_;
  std::vector<std::string> wanted_, asked_;  // whose texts are to be compared, and are or were
  std::unique_ptr<Later<TextPartings>> task_;
};

}  // namespace triescope::app

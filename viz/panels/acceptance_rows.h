// AcceptanceRows: the groups of drafts as bars under each other, each with its share, its 95 %
// interval and its n; and as CSV. The mouse says what is behind a bar.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/acceptance.h"
#include "viz/query/draft_causes.h"

namespace triescope::viz {

class AcceptanceRows {
 public:
  static float height_em(std::size_t groups);  // in which all of them stand, axis included

  // Cuts what does not fit and counts it; the wheel scrolls.
  void draw(Canvas& canvas, Rect area, AcceptanceBy by, const Acceptance& acceptance,
            const Scene& scene);
  // Over a bar: its figures. A click goes to the next refused case behind it, from the cursor on
  // and around the end; with shift to the next accepted one.
  void input(const Input& in, AcceptanceBy by, const Acceptance& acceptance, const Scene& scene,
             Reaction& reaction);
  void clear() { bars_.clear(); }
  // Where each bar was drawn last, and its group.
  const std::vector<std::pair<Rect, std::size_t>>& bars() const { return bars_; }

 private:
  std::vector<std::pair<Rect, std::size_t>> bars_;
  float scroll_ = 0;  // in rows
};

// A group in lines: what is counted, its figures, its interval, the mean p.
std::vector<std::string> acceptance_group_lines(AcceptanceBy by, const AcceptanceGroup& group);
// The bars' headline: "Accepted, by depth of the drafts", "Why it was refused".
std::string acceptance_headline(AcceptanceBy by);
// Causes that explain nothing have no bar.
void drop_empty_causes(AcceptanceBy by, Acceptance& acceptance);
// Header line and a row a group: by,group,n,accepted,share,low,high,mean_p
std::string acceptance_csv(AcceptanceBy by, const Acceptance& acceptance);
// Why drafts failed, as CSV: header line and a row each, step,node,parent,token,text,cause,p,drafter_rank,drafter_q,
// drafter_score. The drafter's columns are about the token that came; ranks are from 1.
std::string failures_csv(const capture::Capture& capture,
                         const std::vector<DraftFailure>& failures);

}  // namespace triescope::viz

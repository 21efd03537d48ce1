// TokenListRows: the lists of tokens that a step's drafts come from, one row per list. Below a list
// that was looked up stands where it was found. Rows of one table (a window's) share their columns. What
// was looked up is lit as the text panel lights it; a token with a node is a box to click on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/token_lists.h"

namespace triescope::viz {

class TokenListRows {
 public:
  static float height_em(const std::vector<TokenList>& lists);  // 0 for none

  void clear();  // the mouse meets nothing until the next draw()
  // As many lists as `area` has rows for; a last row says how many are left.
  void draw(Canvas& canvas, Rect area, const std::vector<TokenList>& lists, const Scene& scene);
  // Returns whether the mouse was over a token or a title.
  bool input(const Input& in, const Scene& scene, Reaction& reaction) const;

 private:
  // As drawn last: the step shown may be another one when the mouse comes.
  struct Box {
    Rect box;
    std::int32_t node;               // -1 = none
    std::vector<std::string> words;  // of the tooltip, without a node
    std::string place;               // where the list was found; "" = it was not looked up
  };
  void draw_list(Canvas& canvas, Rect row, const TokenList& list, const std::vector<float>& widths,
                 const Scene& scene);

  std::vector<Box> boxes_;
};

// TallestLists: the height that the lists of a run's steps need at most. In a run that grows, each step is measured
// once it is done.
class TallestLists {
 public:
  float height_em(const capture::Capture& capture);

 private:
  const capture::Capture* of_ = nullptr;
  std::int32_t done_ = 0;    // steps before it are measured
  capture::Tick seen_ = -1;  // the capture's end when it was asked last
  float most_em_ = 0;
};

}  // namespace triescope::viz

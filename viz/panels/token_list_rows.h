// TokenListRows: the lists of tokens that a step's drafts come from, a row a list, and below one
// that was looked up where it was found. Rows of one table (a window's) share their columns. What was looked up is lit as
// the text panel lights it; a token with a node is a box to click on.
#pragma once

#include <cstddef>
#include <cstdint>
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
  bool input(const Input& in, const std::vector<TokenList>& lists, const Scene& scene,
             Reaction& reaction) const;

 private:
  struct Box {
    Rect box;
    std::size_t list;
    std::int32_t token;  // its place in the list; -1 = the title
  };
  void draw_list(Canvas& canvas, Rect row, const std::vector<TokenList>& lists, std::size_t index,
                 const Scene& scene);

  std::vector<Box> boxes_;
};

}  // namespace triescope::viz

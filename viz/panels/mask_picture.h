// The mask as a picture: what is drawn and where, and the pieces it is drawn in.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/mask_grid.h"
#include "viz/panels/mask_rows.h"
#include "viz/panels/panel.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

struct MaskPicture {
  MaskRows mask;
  MaskGrid grid;
  bool slot_order = false;  // of the columns; else by path
};

// Draws the tokens above the columns, or the number of columns where tokens do not fit. `band` is
// the area above the prompt's band.
void draw_mask_header(Canvas& canvas, const MaskPicture& picture, Rect band, const Scene& scene);
// Draws the rows in sight: labels on the left, the prompt as a band `band` px wide, then the cells.
void draw_mask_rows(Canvas& canvas, const MaskPicture& picture, Rect labels, float band,
                    const Scene& scene);
// Draws the focus as a row and a column. `left` is the area of labels and band.
void draw_mask_cross(Canvas& canvas, const MaskPicture& picture, Rect left, const Scene& scene);
// Draws prefill's causal triangle in place of the mask, or what comes next.
void draw_no_mask(Canvas& canvas, Rect area, const RowSource& source, const PanelInfo& panel,
                  const Scene& scene);

}  // namespace triescope::viz

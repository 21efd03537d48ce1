// ExpertGrid: the experts of one step: layers down, experts across. A cell is divided among the step's rows,
// from left to right in their order; a row's part is filled, in its colour, where it goes through that expert.
// Cells too narrow for that show the share of the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/drawing.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

class ExpertGrid {
 public:
  // Gathers the rows of the shown step before the cursor. False: there are none.
  bool update(const Scene& scene);
  // How much of the canvas it likes, in em.
  Point size_em() const;
  // An entry for each row, in their order.
  std::vector<LegendEntry> legend(const Scene& scene) const;
  void draw(Canvas& canvas, Rect area, const Scene& scene);
  void input(const Input& in, const Scene& scene, Reaction& reaction) const;
  void clear() { body_ = {}; }

 private:
  struct Choice {
    std::int32_t expert = 0;
    std::size_t row = 0;
    float weight = 0;  // NaN = not known
  };
  struct Layer {
    std::int32_t layer = 0;
    std::vector<Choice> choices;  // by expert, then by row
    std::size_t different = 0;    // experts among them
  };
  Color color_of(std::size_t row, const Scene& scene) const;
  void draw_layer(Canvas& canvas, const Layer& layer, Rect line, std::span<const Color> colors,
                  const Scene& scene) const;
  std::vector<std::string> tooltip(const Layer& layer, std::int32_t expert,
                                   const Scene& scene) const;

  std::vector<std::int32_t> nodes_;  // of the rows
  std::vector<Layer> layers_;
  std::int32_t experts_ = 0;  // columns
  Rect body_;                 // as drawn
};

// Header line and a line for each expert of each row of the shown step: step,node,layer,expert,weight
std::string expert_csv(const Scene& scene);

}  // namespace triescope::viz

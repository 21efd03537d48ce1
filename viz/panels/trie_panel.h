// TriePanel: the token tree, growing to the right. Tokens on the nodes, probabilities below them,
// beams by colour and number, dead branches dimmed with their mark and gap. What is drawn is
// TrieShape's; nodes and edges are in trie_nodes.cpp, mouse, keys and view state in trie_input.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "viz/layouts/trie_view.h"
#include "viz/panels/panel.h"
#include "viz/panels/trie_shape.h"

namespace triescope::viz {

class TriePanel final : public Panel {
 public:
  const PanelInfo& info() const override;
  void draw(Canvas& canvas, Rect area, const Scene& scene) override;
  Reaction input(const Input& input, Rect area, const Scene& scene) override;
  Point extent(Canvas& canvas, const Scene& scene) const override;
  std::string csv(const Scene& scene) const override;
  std::string view_state() const override;  // "mode=auto;zoom=1;closed=3,7;opened=12"
  void set_view_state(const std::string& state) override;

 private:
  static constexpr float kRowEm = 2.45f, kChipEm = 1.5f, kMarginEm = 1.2f;  // at zoom 1
  static constexpr float kMinChipEm = TrieShape::kMinChipEm, kGutterEm = TrieShape::kGutterEm,
                         kTailEm = TrieShape::kTailEm;

  struct Chip {
    Rect area;
    std::int32_t item;
    std::int32_t merged;  // further items on the same spot
  };

  static std::size_t index(std::int32_t i) { return TrieShape::index(i); }

  Rect draw_header(Canvas& canvas, Rect area, const Scene& scene);  // the room below it
  void draw_body(Canvas& canvas, const Scene& scene);
  void draw_merged(Canvas& canvas, const Scene& scene, std::int32_t first, std::int32_t last,
                   std::int32_t top, std::int32_t bottom);
  template <class Visit>
  void for_rows(std::int32_t column, std::int32_t top, std::int32_t bottom, Visit visit) const;

  Rect chip_of(std::int32_t item) const;
  Rect box_of(std::int32_t item) const;
  void draw_edge(Canvas& canvas, std::int32_t item, const Scene& scene) const;
  void draw_chip(Canvas& canvas, std::int32_t item, const Scene& scene);
  void draw_details(Canvas& canvas, std::int32_t item, Rect box, float column_end,
                    const Scene& scene) const;

  void explain(const TrieItem& item, std::int32_t merged, const Scene& scene,
               std::vector<std::string>& lines) const;
  void toggle(const TrieItem& item);
  void step_focus(int direction, const Scene& scene, Reaction& reaction) const;

  // View state.
  TrieView view_;
  FoldOptions folds_;
  int fold_version_ = 0;

  TrieShape shape_;

  // What was drawn last, for the mouse.
  Rect body_, mode_button_;
  float unit_ = 14;
  std::vector<Chip> chips_;
  std::unordered_set<std::int32_t> path_;
};

}  // namespace triescope::viz

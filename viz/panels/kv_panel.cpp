// KV slots: the storage of the cache, slot by slot: live, garbage, free, moved or reused in this
// step. The prompt's slots are one band. A step that moves slots is drawn before and after the move.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/layouts/slot_grid.h"
#include "viz/layouts/zoom.h"
#include "viz/panels/fault_head.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/kv_slots.h"
#include "viz/panels/kv_strip.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/panels/zoom_input.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kBandEm = 1.5f, kRangeEm = 1.25f;
constexpr float kKvMaxZoom = 12;

class KvPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "kv",
        "KV slots",
        std::string(
            "The cache, slot by slot. Live slots carry their token and beam colour, "
            "garbage is dashed, free slots are hollow, reserved ones dotted. A dot marks a "
            "slot reused in this step; where slots were moved, both states are shown, with "
            "arrows between them. ▲ marks a slot that two rows wrote, or whose KV is gone although a "
            "later row needs it. A range of steps dragged on the timeline is counted, and "
            "a bar stands under what was written in it. Wheel to zoom, drag to scroll.") +
            OwnerSwitch::kHelp,
        "Step (F10) until a beam falls out: its slots become garbage, and the next step writes into "
        "them.",
        "No KV yet: step once (F10) to run the prefill.",
        /*rows=*/{"slot"},
        /*zooms=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    strips_.clear();
    band_ = {};
    head_ = {};
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner = owner_.draw(canvas, area, scene);
    if (!scene.capture || source.slot_count_at(*scene.capture, scene.cursor) == 0)
      return draw_empty_state(canvas, area,
                              source.is_target() ? empty_text(scene.capture, info(), info().empty)
                                                 : "The " + std::string(owner_name(source.whose)) +
                                                       " holds no KV yet: step on (F10).",
                              scene);
    const KvSlots counts = slots_at(source, *scene.capture, scene.cursor);
    range_.update(source, scene);
    const float right = owner.w > 0 ? owner.x : area.right();
    const float legend = draw_legend(canvas, {area.x + pad, area.y + em * 0.2f},
                                     right - pad - (area.x + pad), legend_of(counts, scene), scene);
    float top = area.y + legend + em * 0.3f;
    if (top + em * (kBandEm + 2) > area.bottom()) top = area.y + em * 0.3f;
    if (owner.w > 0) top = std::max(top, owner.bottom() + em * 0.3f);
    const auto steps = scene.capture->row_faults().slot_steps(source.whose);
    if (!steps.empty() && top + em * (kRangeEm + kBandEm + 2) <= area.bottom())
      top +=
          head_.draw(canvas, {area.x + pad, top - em * 0.1f, area.w - 2 * pad, em},
                     faults_at(source, *scene.capture, scene.cursor).size(), "slot", steps, scene);
    if (range_.any() && top + em * (kRangeEm + kBandEm + 2) <= area.bottom()) {
      const TextStyle style = ui_text(scene, 0.84f);
      text_in(canvas, {area.x + pad, top - em * 0.15f, area.w - 2 * pad, em * kRangeEm},
              range_.text(canvas, style, area.w - 2 * pad), style);
      top += em * kRangeEm;
    }
    if (counts.prompt > 0) {
      draw_band(canvas, {area.x + pad, top, area.w - 2 * pad, em * kBandEm}, counts, scene);
      top += em * (kBandEm + 0.35f);
    }
    const Rect body{area.x + pad, top, area.w - 2 * pad,
                    std::max(1.0f, area.bottom() - pad * 0.5f - top)};
    const capture::Tick commit = capture::make_tick(scene.shown_step(), source.move_phase());
    const bool moves = counts.moved > 0 && scene.cursor > commit && body.h > em * 5;
    // Marks of changes stand on the cells' corners, half outside.
    const float over = scene.lights() ? em * 0.35f : 0;
    canvas.push_clip({body.x - over, body.y - over, body.w + over, body.h + over});
    if (moves) {
      const KvSlots before = slots_at(source, *scene.capture, commit);
      const float gap = em * 1.1f, half = (body.h - gap) / 2;
      const std::size_t most =
          room_for(std::max(counts.others.size(), before.others.size()), source, scene);
      add_strip({body.x, body.y, body.w, half}, commit, before.others, most,
                source.is_target() ? "before the commit" : "before", scene);
      add_strip({body.x, body.y + half + gap, body.w, half}, scene.cursor, counts.others, most,
                source.gathers(*scene.capture)
                    ? "after: each beam's cache gathered from its parent's"
                    : "after: survivors moved together",
                scene);
    } else {
      add_strip(body, scene.cursor, counts.others, room_for(counts.others.size(), source, scene),
                "", scene);
    }
    for (const KvStrip& strip : strips_) draw_strip(canvas, source, strip, range_, scene);
    if (moves) draw_moves(canvas, source, strips_[0], strips_[1], counts.moved, scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (owner_.input(in, scene, reaction) || !scene.capture || strips_.empty()) return reaction;
    if (head_.input(in, scene.capture->row_faults().slot_steps(owner_.source(scene).whose), scene,
                    reaction))
      return reaction;
    const KvStrip& first = strips_.front();
    // Clamps to the picture drawn last; draw() clamps again to the new one.
    scroll_ = scroll_within(scroll_, first.grid.height(), first.body.h);
    if (const auto factor = static_cast<float>(zoom_of(in)); factor != 1) {
      const float zoom = std::clamp(zoom_ * factor, 1.0f, kKvMaxZoom), ratio = zoom / zoom_;
      // Cells grow in both directions, so a slot's place in the strip moves with the square.
      scroll_ = scroll_about(scroll_, in.mouse.y - first.body.y, ratio * ratio);
      zoom_ = zoom;
    }
    if (in.dragging) scroll_ -= in.drag_delta.y;
    if (in.fit) zoom_ = 1, scroll_ = 0;
    if (!in.inside) return reaction;
    reaction.hover = -1;
    if (band_.contains(in.mouse)) {
      reaction.tooltip = {"the prompt's slots: every beam and every draft sees them"};
      return reaction;
    }
    for (const KvStrip& strip : strips_) {
      if (!strip.body.contains(in.mouse)) continue;
      const auto cell =
          strip.grid.at({in.mouse.x - strip.body.x, in.mouse.y - strip.body.y + strip.scroll});
      if (!cell) continue;
      const std::size_t slot_index = *cell * strip.grid.merge;
      if (slot_index >= strip.slots.size()) continue;
      explain(strip, slot_index, scene, reaction);
      if (in.clicked && *reaction.hover != -1) reaction.lock = *reaction.hover;
      if (in.clicked && *reaction.hover == -1) reaction.lock = -1;
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    if (!scene.capture) return {scene.em * 30, scene.em * 8};
    const KvSlots counts = slots_at(owner_.source(scene), *scene.capture, scene.cursor);
    const auto slots = static_cast<float>(std::max<std::size_t>(1, counts.others.size()));
    const float columns = std::clamp(std::ceil(std::sqrt(slots * 1.6f)), 12.0f, 48.0f);
    const float rows = std::ceil(slots / columns);
    const bool moves = counts.moved > 0;
    return {scene.em * (columns * SlotGrid::kWidestEm + 1.2f),
            scene.em * ((moves ? 2 : 1) * (rows * SlotGrid::kTallestEm + kStripTitleEm) + 6)};
  }

  std::string csv(const Scene& scene) const override { return kv_csv(owner_.source(scene), scene); }
  std::string whose(const Scene& scene) const override { return owner_.name(scene); }
  std::string view_state() const override { return owner_.state(); }
  void set_view_state(const std::string& state) override { owner_.set_state(state); }

 private:
  // A steady picture has slots of one size: as many as the cache will hold.
  static std::size_t room_for(std::size_t slots, const RowSource& source, const Scene& scene) {
    if (!scene.steady) return slots;
    return std::max(slots,
                    slots_at(source, *scene.capture, scene.capture->end_tick()).others.size());
  }

  std::vector<LegendEntry> legend_of(const KvSlots& c, const Scene& scene) const {
    const Color star = scene.theme.mark(NodeState::kBonus).color;
    std::vector<LegendEntry> entries = {
        {"live " + std::to_string(c.live), scene.theme.accent, "■"},
        {"garbage " + std::to_string(c.garbage), scene.theme.mark(NodeState::kPruned).color, "–"},
        {"free " + std::to_string(c.free), scene.theme.text_dim, "□"}};
    if (c.pending > 0)
      entries.insert(entries.begin() + 1, {"pending " + std::to_string(c.pending),
                                           scene.theme.mark(NodeState::kPending).color, "■"});
    if (c.reserved > 0)
      entries.push_back({"reserved, never used " + std::to_string(c.reserved), scene.theme.text_dim,
                         "", LineStyle::kDotted});
    if (c.mask_prefix > 0)
      entries.push_back({.label = "masks' prefix " + std::to_string(c.mask_prefix),
                         .color = scene.theme.text_dim,
                         .glyph = "■",
                         .term = "masks' prefix"});
    // A steady picture names from the beginning what will occur, so that nothing moves.
    const std::string& policy = scene.capture->run().kv_policy;
    const bool moves = scene.steady && (policy == "compact" || policy == "batch");
    const bool reuses = scene.steady && policy == "recycle";
    if (c.moved > 0 || moves)
      entries.push_back(
          {(owner_.source(scene).gathers(*scene.capture) ? "from another beam's cache "
                                                         : "moved ") +
               std::to_string(c.moved),
           star, "→"});
    if (c.reused > 0 || reuses)
      entries.push_back({"reused " + std::to_string(c.reused), scene.theme.series(2), "●"});
    if (scene.steady) entries.push_back(lit_entry(scene));
    const RowSource source = owner_.source(scene);
    const auto faults = faults_at(source, *scene.capture, scene.cursor);
    if (!faults.empty() ||
        (scene.steady && !scene.capture->row_faults().slot_steps(source.whose).empty()))
      entries.push_back(
          recorded_fault_entry("not as the tree asks " + std::to_string(faults.size()), scene));
    if (scene.twins) entries.push_back({"the other run differs", scene.theme.difference, "≠"});
    if (range_.any())
      entries.push_back({.label = "written in " + range_.steps(),
                         .color = scene.theme.text,
                         .glyph = "",
                         .term = "written in"});
    return entries;
  }

  void draw_band(Canvas& canvas, Rect band, const KvSlots& counts, const Scene& scene) {
    band_ = band;
    canvas.fill_rect(band, scene.theme.accent.with_alpha(0.2f), scene.em * 0.2f);
    const auto prompt = static_cast<int>(scene.capture->run().prompt_tokens.size());
    std::string label = "prompt: " + counted(counts.prompt, "slot");
    if (prompt > 0 && counts.prompt > prompt)
      label += ", " + std::to_string((counts.prompt + prompt - 1) / prompt) + " copies of its " +
               counted(prompt, "token");
    else
      label += ", shared by every path";
    text_in(canvas, {band.x + scene.em * 0.5f, band.y, band.w - scene.em, band.h}, label,
            ui_text(scene, 0.86f));
  }

  void add_strip(Rect body, capture::Tick tick, std::vector<std::int32_t> slots, std::size_t most,
                 std::string title, const Scene& scene) {
    KvStrip strip;
    strip.title = std::move(title);
    if (!strip.title.empty()) {
      body.y += scene.em * kStripTitleEm;
      body.h -= scene.em * kStripTitleEm;
    }
    strip.body = {body.x, body.y, body.w, std::max(1.0f, body.h)};
    strip.tick = tick;
    strip.used = owner_.source(scene).slot_count_at(*scene.capture, tick);
    strip.slots = std::move(slots);
    for (const auto& fault : faults_at(owner_.source(scene), *scene.capture, tick))
      strip.faulty.push_back(fault.slot);
    std::ranges::sort(strip.faulty);
    strip.grid =
        SlotGrid::fit(strip.body.w, strip.body.h, most, scene.em, scene.export_mode ? 1 : zoom_);
    strip.scroll = scene.export_mode ? 0 : scroll_within(scroll_, strip.grid.height(), body.h);
    strips_.push_back(std::move(strip));
  }

  void explain(const KvStrip& strip, std::size_t i, const Scene& scene, Reaction& reaction) const {
    const std::int32_t slot = strip.slots[i];
    const RowSource source = owner_.source(scene);
    const capture::SlotView view = source.slot_at(*scene.capture, slot, strip.tick);
    static constexpr const char* kNames[] = {"free", "live", "garbage: its node is dead"};
    const std::string cache =
        source.is_target() ? "" : " of the " + std::string(owner_name(source.whose)) + "'s cache";
    reaction.tooltip = {"slot " + std::to_string(slot) + cache + ", " +
                        (slot >= strip.used ? "reserved, never used"
                                            : kNames[static_cast<std::size_t>(view.state)])};
    if (view.node != -1 && slot < strip.used) {
      reaction.hover = view.node;
      reaction.tooltip.push_back(node_summary(scene, view.node, source.whose));
      if (const std::string text = difference_text(scene, view.node); !text.empty())
        reaction.tooltip.push_back(text);
    }
    for (const auto& fault : faults_at(source, *scene.capture, strip.tick))
      if (fault.slot == slot) reaction.tooltip.push_back("▲ " + slot_text(scene, fault));
    if (view.moved_this_step)
      reaction.tooltip.push_back((source.gathers(*scene.capture) ? "copied" : "moved") +
                                 std::string(" here from slot ") + std::to_string(view.moved_from) +
                                 " in this step");
    if (view.reused_this_step)
      reaction.tooltip.push_back("reused in this step: its former node died");
    if (const std::int32_t writes = range_.writes(slot); writes > 0)
      reaction.tooltip.push_back("written " +
                                 (writes == 1 ? "once" : std::to_string(writes) + " times") +
                                 " in " + range_.steps() + ", moves into it included");
    if (strip.grid.merge > 1)
      reaction.tooltip.push_back("one mark = " + counted(strip.grid.merge, "slot") + ": zoom in");
    if (const std::int64_t bytes = source.kv_bytes_per_token(*scene.capture); bytes > 0)
      reaction.tooltip.push_back("one slot = K and V of one position in every layer = " +
                                 bytes_text(static_cast<double>(bytes)));
  }

  OwnerSwitch owner_;
  FaultHead head_;
  float zoom_ = 1, scroll_ = 0;
  KvRange range_;
  std::vector<KvStrip> strips_;
  Rect band_;
};

}  // namespace

std::unique_ptr<Panel> make_kv_panel() { return std::make_unique<KvPanel>(); }

}  // namespace triescope::viz

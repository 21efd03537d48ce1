#include "viz/panels/owner_switch.h"

#include <algorithm>

#include "viz/draw/drawing.h"

namespace triescope::viz {

using capture::Whose;

RowSource OwnerSwitch::source(const Scene& scene) const {
  if (!scene.capture || !chosen_) return {};
  const auto owners = scene.capture->owners();
  return {std::find(owners.begin(), owners.end(), *chosen_) == owners.end() ? Whose::kTarget
                                                                            : *chosen_};
}

namespace {

struct SwitchLabels {
  std::vector<std::pair<std::string, float>> labels;  // with their widths; empty: nothing is drawn
  float width = 0;
};

constexpr float kMostShare = 0.3f;  // of the panel's width, for long names

// Short names where the long ones take more than their share.
SwitchLabels switch_labels(Canvas& canvas, Rect area, const Scene& scene) {
  if (!scene.capture || !scene.has_buttons()) return {};
  const auto owners = scene.capture->owners();
  if (owners.size() < 2) return {};
  SwitchLabels result;
  for (const bool brief : {false, true}) {
    if (brief && result.width <= area.w * kMostShare) break;
    result = {};
    for (const Whose whose : owners) {
      std::string label = brief ? capture::to_string(whose) : owner_name(whose);
      const float width = canvas.measure(label, dim_text(scene, 0.8f)).x + scene.em * 0.9f;
      result.labels.emplace_back(std::move(label), width);
      result.width += width;
    }
  }
  return result;
}

}  // namespace

float OwnerSwitch::width(Canvas& canvas, Rect area, const Scene& scene) const {
  return switch_labels(canvas, area, scene).width;
}

Rect OwnerSwitch::draw(Canvas& canvas, Rect area, const Scene& scene) {
  parts_.clear();
  const auto [labels, width] = switch_labels(canvas, area, scene);
  if (labels.empty()) return {};
  const auto owners = scene.capture->owners();
  const float em = scene.em;
  const TextStyle style = dim_text(scene, 0.8f), chosen_style = ui_text(scene, 0.8f);
  const Rect box{area.right() - em * 0.6f - width, area.y + em * 0.2f, width, em * 1.3f};
  const Whose shown = source(scene).whose;
  canvas.fill_rect(box, scene.theme.surface, em * 0.3f);
  float x = box.x;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Rect part{x, box.y, labels[i].second, box.h};
    const bool on = owners[i] == shown;
    if (on) canvas.fill_rect(part, scene.theme.accent.with_alpha(0.28f), em * 0.3f);
    text_in(canvas, part, labels[i].first, on ? chosen_style : style, Align::kCenter);
    parts_.emplace_back(part, owners[i]);
    x += part.w;
    if (i + 1 < owners.size()) canvas.line({x, box.y}, {x, box.bottom()}, scene.theme.border, 1);
  }
  canvas.stroke_rect(box, scene.theme.border, 1, LineStyle::kSolid, em * 0.3f);
  return box;
}

bool OwnerSwitch::input(const Input& in, const Scene& scene, Reaction& reaction) {
  if (parts_.size() > 1 && (in.next || in.previous)) {
    const Whose shown = source(scene).whose;
    const auto at = std::ranges::find(parts_, shown, &std::pair<Rect, Whose>::second);
    const std::size_t step = in.next ? 1 : parts_.size() - 1;
    chosen_ = parts_[(static_cast<std::size_t>(at - parts_.begin()) + step) % parts_.size()].second;
    reaction.wants_redraw = true;
  }
  if (!in.inside) return false;
  for (const auto& [part, whose] : parts_) {
    if (!part.contains(in.mouse)) continue;
    reaction.tooltip = {std::string(source(scene).whose == whose ? "shown: the " : "show the ") +
                        owner_name(whose) + "'s rows"};
    if (in.clicked) chosen_ = whose;
    return true;
  }
  return false;
}

std::string no_rows_text(const RowSource& source, const Scene& scene) {
  const std::string name = owner_name(source.whose);
  const auto forwards =
      scene.capture ? scene.capture->forwards(source.whose) : std::span<const capture::ForwardId>{};
  return forwards.empty() || scene.shown_step() < forwards.front().step
             ? "The " + name + " has run no forward yet: step on (F10)."
             : "The " + name + " ran no forward in this step.";
}

std::string OwnerSwitch::name(const Scene& scene) const {
  if (!scene.capture || scene.capture->owners().size() < 2) return "";
  return owner_name(source(scene).whose);
}

std::string OwnerSwitch::state() const {
  return chosen_ ? std::string("whose=") + capture::to_string(*chosen_) : "";
}

void OwnerSwitch::set_state(const std::string& view_state) {
  chosen_.reset();
  const auto at = view_state.find("whose=");
  if (at == std::string::npos) return;
  const std::string name = view_state.substr(at + 6, view_state.find(';', at) - at - 6);
  for (int i = 0; i < capture::kWhoseCount; ++i)
    if (name == capture::to_string(static_cast<Whose>(i))) chosen_ = static_cast<Whose>(i);
}

}  // namespace triescope::viz

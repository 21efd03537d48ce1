#include "app/window/lecture_mode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/lecture_layout.h"
#include "app/window/workspace.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMostPanels = 2;
constexpr float kSpotlightStep = 1.12f, kLeastSpotlight = 0.05f, kMostSpotlight = 0.6f;
constexpr float kMostScale = 2;

}  // namespace

void LectureMode::enter() {
  if (on_ || !workspace_.active()) return;
  on_ = true;
  blank_ = spotlight_ = presenter_view_ = false;
  panels_ = lecture_arrangements(*workspace_.active()->capture).front();
  seen_document_ = 0;
  reset_time();
}

void LectureMode::leave() {
  on_ = presenter_view_ = false;
  own_.clear();
  enlarged.clear();
  shown.clear();
  panels_of_ = 0;
}

void LectureMode::next() {
  if (std::exchange(blank_, false)) return;
  workspace_.step_phase();
}

void LectureMode::back() {
  if (std::exchange(blank_, false)) return;
  workspace_.back_phase();
}

void LectureMode::set_panels(std::vector<std::string> panels) {
  for (const std::string& name : panels) viz::make_panel(name);
  // The narration has a place of its own.
  std::erase(panels, "narration");
  if (panels.empty()) return;
  if (panels.size() > kMostPanels) panels.resize(kMostPanels);
  if (panels.size() == kMostPanels && panels[0] == panels[1]) panels.pop_back();
  panels_ = std::move(panels);
}

void LectureMode::toggle_panel(const std::string& name) {
  const auto at = std::find(panels_.begin(), panels_.end(), name);
  if (at == panels_.end()) return show_panel(name);
  if (panels_.size() > 1) panels_.erase(at);
}

void LectureMode::show_panel(const std::string& name) {
  if (name == "narration" || std::find(panels_.begin(), panels_.end(), name) != panels_.end())
    return;
  if (panels_.size() == kMostPanels) panels_.pop_back();
  panels_.push_back(name);
}

void LectureMode::next_panels() {
  if (!workspace_.active()) return;
  const auto all = lecture_arrangements(*workspace_.active()->capture);
  const auto at = std::find(all.begin(), all.end(), panels_);
  panels_ = at == all.end() || at + 1 == all.end() ? all.front() : *(at + 1);
}

void LectureMode::toggle_spotlight() { spotlight_ = !spotlight_; }

void LectureMode::resize_spotlight(float notches) {
  spotlight_radius_ = std::clamp(spotlight_radius_ * std::pow(kSpotlightStep, notches),
                                 kLeastSpotlight, kMostSpotlight);
}

void LectureMode::escape() {
  if (std::exchange(blank_, false) || std::exchange(spotlight_, false)) return;
  leave();
}

void LectureMode::set_scale(float scale) { scale_ = std::clamp(scale, 1.0f, kMostScale); }

double LectureMode::seconds_to_tick() const {
  return has_presenter_view() ? std::max(0.001, 1 - std::fmod(elapsed(), 1.0)) : -1;
}

capture::Tick LectureMode::lit_from(const Document& document) {
  const capture::Tick cursor = document.cursor;
  if (document.serial == seen_document_ && cursor == seen_cursor_) return lit_from_;
  const capture::Tick moved = cursor - seen_cursor_;
  const bool goes_on = document.serial == seen_document_ && moved > 0 &&
                       moved <= static_cast<capture::Tick>(capture::kPhaseCount);
  lit_from_ = goes_on ? seen_cursor_ : std::max<capture::Tick>(0, cursor - 1);
  seen_document_ = document.serial;
  seen_cursor_ = cursor;
  return lit_from_;
}

viz::Panel& LectureMode::panel(const std::string& name, const Document& document) {
  if (panels_of_ != document.serial) {
    own_ = viz::make_panels();
    panels_of_ = document.serial;
    enlarged.clear();
  }
  const auto at = std::find_if(own_.begin(), own_.end(),
                               [&](const auto& panel) { return panel->info().name == name; });
  return at == own_.end() ? *own_.front() : **at;
}

nlohmann::json LectureMode::state_json() const {
  if (!on_) return nullptr;
  nlohmann::json state = {{"panels", panels_},
                          {"blank", blank_},
                          {"spotlight", spotlight_},
                          {"spotlight_radius", spotlight_radius_},
                          {"presenter_view", presenter_view_},
                          {"scale", scale_},
                          {"elapsed", elapsed()},
                          {"lit_from", lit_from_},
                          {"areas", nlohmann::json::object()}};
  for (const Shown& one : shown)
    state["areas"][one.name] = {one.area.x, one.area.y, one.area.w, one.area.h, one.em};
  return state;
}

}  // namespace triescope::app

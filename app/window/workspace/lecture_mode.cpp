#include "app/window/workspace/lecture_mode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/workspace/lecture_layout.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMostRuns = 2;
constexpr float kSpotlightStep = 1.12f, kLeastSpotlight = 0.05f, kMostSpotlight = 0.6f;
constexpr float kMostScale = 2;
// A led run goes as far as one step of the leading run takes it, which may be several steps of its
// own.
constexpr capture::Tick kMostLedSteps = 16;

}  // namespace

void LectureMode::enter(std::vector<std::string> panels) {
  if (on_ || !documents_.active()) return;
  on_ = true;
  blank_ = spotlight_ = presenter_view_ = false;
  seen_.clear();
  panels_.clear();
  set_panels(std::move(panels));
  if (panels_.empty()) set_panels(lecture_arrangements(*documents_.active()->capture).front());
  reset_time();
}

std::size_t LectureMode::most_panels() const { return comparison_.partner() ? 1 : 2; }

void LectureMode::leave() {
  on_ = presenter_view_ = false;
  own_.clear();
  next_.clear();
  enlarged.clear();
  shown.clear();
}

void LectureMode::next() {
  if (std::exchange(blank_, false)) return;
  transport_.step_phase();
}

void LectureMode::back() {
  if (std::exchange(blank_, false)) return;
  transport_.back_phase();
}

void LectureMode::set_panels(std::vector<std::string> panels) {
  for (const std::string& name : panels) viz::make_panel(name);
  // The narration has a place of its own.
  std::erase(panels, "narration");
  if (panels.empty()) return;
  if (panels.size() > most_panels()) panels.resize(most_panels());
  if (panels.size() == 2 && panels[0] == panels[1]) panels.pop_back();
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
  if (panels_.size() >= most_panels()) panels_.resize(most_panels() - 1);
  panels_.push_back(name);
}

void LectureMode::next_panels() {
  if (!documents_.active()) return;
  auto all = lecture_arrangements(*documents_.active()->capture);
  if (most_panels() == 1) {  // each of their panels once
    std::vector<std::vector<std::string>> single;
    for (const auto& panels : all)
      for (const std::string& name : panels)
        if (std::ranges::count(single, std::vector{name}) == 0) single.push_back({name});
    all = std::move(single);
  }
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
  auto seen = std::ranges::find(seen_, document.serial, &Seen::document);
  if (seen == seen_.end()) {
    if (seen_.size() == kMostRuns) seen_.pop_back();
    seen = seen_.insert(seen_.begin(), {.document = document.serial});
  }
  const capture::Tick cursor = document.cursor;
  if (cursor == seen->cursor) return seen->lit_from;
  const capture::Tick moved = cursor - seen->cursor;
  const capture::Tick step = capture::kPhaseCount;
  const bool goes_on = seen->cursor >= 0 && moved > 0 &&
                       moved <= (comparison_.partner() ? kMostLedSteps * step : step);
  seen->lit_from = goes_on ? seen->cursor : std::max<capture::Tick>(0, cursor - 1);
  seen->cursor = cursor;
  return seen->lit_from;
}

viz::Panel& LectureMode::panel(const std::string& name, const Document& document) {
  return panel_of(own_, name, document);
}

viz::Panel& LectureMode::next_panel(const std::string& name, const Document& document) {
  return panel_of(next_, name, document);
}

viz::Panel& LectureMode::panel_of(std::vector<Own>& all, const std::string& name,
                                  const Document& document) {
  auto own = std::ranges::find(all, document.serial, &Own::document);
  if (own == all.end()) {
    if (all.size() == kMostRuns) all.pop_back();
    own = all.insert(all.begin(), {document.serial, viz::make_panels()});
  }
  const auto at = std::find_if(own->panels.begin(), own->panels.end(),
                               [&](const auto& panel) { return panel->info().name == name; });
  return at == own->panels.end() ? *own->panels.front() : **at;
}

nlohmann::json LectureMode::state_json() const {
  if (!on_) return nullptr;
  nlohmann::json state = {{"panels", panels_},
                          {"blank", blank_},
                          {"spotlight", spotlight_},
                          {"spotlight_radius", spotlight_radius_},
                          {"presenter_view", presenter_view_},
                          {"presenter_em", has_presenter_view() ? presenter_em : 0},
                          {"scale", scale_},
                          {"elapsed", elapsed()},
                          {"lit_from", nullptr},
                          {"compared_with", nullptr},
                          {"areas", nlohmann::json::object()}};
  for (const Seen& one : seen_)
    if (documents_.active() && one.document == documents_.active()->serial)
      state["lit_from"] = one.lit_from;
  if (const Document* const other = comparison_.partner()) state["compared_with"] = other->title;
  for (const Shown& one : shown)
    state["areas"][one.name] = {one.area.x, one.area.y, one.area.w, one.area.h, one.em};
  return state;
}

}  // namespace triescope::app

#include "viz/panels/what_if_knobs.h"
#include "viz/panels/button_row.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "viz/draw/drawing.h"

namespace triescope::viz {
namespace {

constexpr float kKnobRowEm = 1.55f;
constexpr int kMostBound = 1024;

std::optional<int> bound_of(const std::string& text) {
  int value = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value >= 1 && value <= kMostBound ? std::optional<int>(value) : std::nullopt;
}

bool goes_with(const capture::Capture& capture, const std::string& verify) {
  const auto rules = rejudge_rules(capture);
  return std::ranges::find(rules, verify) != rules.end();
}

}  // namespace

RejudgeSettings WhatIfKnobs::settings(const capture::Capture& capture) const {
  RejudgeSettings settings = recorded_settings(capture);
  if (!verify_.empty() && goes_with(capture, verify_)) settings.verify = verify_;
  if (accept_top_k_) settings.accept_top_k = *accept_top_k_;
  settings.drafts = drafts_;
  settings.depth = depth_;
  settings.rank = rank_;
  return settings;
}

std::string WhatIfKnobs::words(const capture::Capture& capture) const {
  const RejudgeSettings chosen = settings(capture), recorded = recorded_settings(capture);
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (!chosen.same_rule(recorded))
    add("verify " + chosen.verify +
        (chosen.verify == "top_k" ? ", K " + std::to_string(chosen.accept_top_k) : ""));
  if (drafts_) add("drafts at most " + std::to_string(*drafts_));
  if (depth_) add("depth at most " + std::to_string(*depth_));
  if (rank_) add("rank at most " + std::to_string(*rank_));
  return text.empty() ? "as recorded" : text;
}

float WhatIfKnobs::draw(Canvas& canvas, Rect room, const Most& most, const Scene& scene) {
  const float em = scene.em, pad = em * 0.5f;
  ButtonRow row(canvas, room, scene);
  const RejudgeSettings now = settings(*scene.capture);
  for (const std::string& rule : rejudge_rules(*scene.capture))
    buttons_.push_back({.box = row.button(rule, rule == now.verify), .verify = rule});
  const auto bound = [&](const char* name, std::optional<int> WhatIfKnobs::*knob, int largest,
                         std::optional<int> value) {
    const std::string text =
        std::string(name) + " " + (value ? "≤ " + std::to_string(*value) : std::string("all"));
    const float side = em * 1.3f,
                width = canvas.measure(std::string(name) + " ≤ 000", row.on()).x + pad;
    const float between = em * 0.3f;
    const Rect whole = row.place(width + 2 * side + between);
    const Rect less{whole.x + width, whole.y, side, whole.h},
        more{less.right() + between, whole.y, side, whole.h};
    text_in(canvas, {whole.x, whole.y, width - pad, whole.h}, text, value ? row.on() : row.off(),
            Align::kRight);
    row.draw(less, "−", false);
    row.draw(more, "+", false);
    const int bounded = value ? std::min(*value, largest) : largest;
    buttons_.push_back(
        {.box = less, .verify = {}, .knob = knob, .value = std::max(1, bounded - 1)});
    buttons_.push_back(
        {.box = more,
         .verify = {},
         .knob = knob,
         .value = bounded + 1 < largest ? std::optional<int>(bounded + 1) : std::nullopt});
  };
  bound("drafts", &WhatIfKnobs::drafts_, most.drafts, drafts_);
  bound("depth", &WhatIfKnobs::depth_, most.depth, depth_);
  bound("rank", &WhatIfKnobs::rank_, most.rank, rank_);
  if (now.verify == "top_k") bound("K", &WhatIfKnobs::accept_top_k_, kMostBound, now.accept_top_k);
  return row.last_line() + em * kKnobRowEm;
}

bool WhatIfKnobs::input(const Input& in, const capture::Capture& capture) {
  if (in.next || in.previous) choose_rule(capture, in.next ? 1 : -1);
  if (!in.inside || !in.clicked) return false;
  for (const Button& button : buttons_) {
    if (!button.box.contains(in.mouse)) continue;
    if (button.knob)
      this->*button.knob = button.value;
    else
      verify_ = button.verify;
    return true;
  }
  return false;
}

void WhatIfKnobs::choose_rule(const capture::Capture& capture, int steps) {
  const auto rules = rejudge_rules(capture);
  const auto at = std::ranges::find(rules, settings(capture).verify);
  const auto count = static_cast<int>(rules.size());
  const int now = at == rules.end() ? 0 : static_cast<int>(at - rules.begin());
  verify_ = rules[static_cast<std::size_t>((now + steps + count) % count)];
}

std::string WhatIfKnobs::state() const {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + value;
  };
  if (!verify_.empty()) add("verify", verify_);
  if (accept_top_k_) add("accept_top_k", std::to_string(*accept_top_k_));
  if (drafts_) add("drafts", std::to_string(*drafts_));
  if (depth_) add("depth", std::to_string(*depth_));
  if (rank_) add("rank", std::to_string(*rank_));
  return text;
}

void WhatIfKnobs::set_state(const std::string& state) {
  std::istringstream words(state);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "verify") verify_ = value;
    for (const auto& [known, knob] : {std::pair{"accept_top_k", &WhatIfKnobs::accept_top_k_},
                                      {"drafts", &WhatIfKnobs::drafts_},
                                      {"depth", &WhatIfKnobs::depth_},
                                      {"rank", &WhatIfKnobs::rank_}})
      if (name == known)
        if (const auto bound = bound_of(value)) this->*knob = bound;
  }
}

}  // namespace triescope::viz

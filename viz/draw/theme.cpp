#include "viz/draw/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest_name.h"

namespace triescope::viz {
namespace {

constexpr float kDifferenceTint = 0.24f;  // opacity

// Okabe and Ito's palette without black; the first beams take its most distant members.
constexpr std::array<std::uint32_t, 6> kBeamsDark = {0x56B4E9, 0xE69F00, 0x009E73,
                                                     0xCC79A7, 0xF0E442, 0xD55E00};
constexpr std::array<std::uint32_t, 6> kBeamsLight = {0x0072B2, 0xE69F00, 0x009E73,
                                                      0xCC79A7, 0x8A7A00, 0xD55E00};

Color mix(Color a, Color b, float share) {
  const auto part = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(static_cast<float>(x) +
                                     (static_cast<float>(y) - static_cast<float>(x)) * share);
  };
  return {part(a.r, b.r), part(a.g, b.g), part(a.b, b.b), 255};
}

// WCAG 2.2's luminance. A contrast of 21 is black on white; text needs 4.5, a mark 3.
double luminance(Color c) {
  const auto linear = [](std::uint8_t v) {
    const double x = v / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}
double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

constexpr double kMarkContrast = 3;  // of everything except letters

// `c`, moved towards the text's colour only as far as it must be to have the contrast `wanted` with
// every one of `grounds`.
Color standing_out(Color c, Color text, std::initializer_list<Color> grounds, double wanted) {
  for (float share = 0; share < 1; share += 0.02f) {
    const Color moved = mix(c, text, share);
    if (std::all_of(grounds.begin(), grounds.end(),
                    [&](Color ground) { return contrast(moved, ground) >= wanted; }))
      return moved;
  }
  return text;
}

}  // namespace

Mark Theme::mark(capture::NodeState state) const {
  using S = capture::NodeState;
  switch (state) {
    case S::kLive:
      return {kept, "✓", LineStyle::kSolid, "kept"};
    case S::kAccepted:
      return {kept, "✓", LineStyle::kSolid, "accepted"};
    case S::kFinished:
      return {kept, "■", LineStyle::kSolid, "finished"};
    case S::kRejected:
      return {rejected, "✕", LineStyle::kSolid, "rejected", false, true};
    case S::kBonus:
      return {star, "★", LineStyle::kSolid, "bonus", false, false, star_outlined};
    case S::kCorrected:
      return {corrected, "◆", LineStyle::kSolid, "corrected"};
    case S::kPruned:
      return {gone, "–", LineStyle::kDashed, "pruned"};
    case S::kWithdrawn:
      return {gone, "◇", LineStyle::kDotted, "withdrawn", true};
    case S::kProbe:
      return {gone, "▽", LineStyle::kDotted, "probe", true};
    case S::kPending:
      return {text, "○", LineStyle::kSolid, "pending", true};
    case S::kAbsent:
      break;
  }
  return {text_dim, "", LineStyle::kDotted, "absent", true};
}

Color Theme::beam(int rank) const {
  const auto& colors = dark ? kBeamsDark : kBeamsLight;
  if (rank < 0) return text_dim;
  const auto index = static_cast<std::size_t>(rank);
  const Color base = rgb(colors[index % colors.size()]);
  // Later rounds fade towards the background; the rank number tells them apart.
  const float fade = std::min(0.6f, 0.25f * static_cast<float>(index / colors.size()));
  return standing_out(mix(base, background, fade), text, {background, surface}, kMarkContrast);
}

Color Theme::difference_tint() const { return difference.with_alpha(kDifferenceTint); }

// The grounds are the page, the bars around it, a button, and a place where two runs differ.
Color Theme::legible(Color c) const {
  return standing_out(c, text,
                      {background, surface, raised, mix(background, difference, kDifferenceTint)},
                      text_contrast);
}

Color Theme::series(int index) const { return beam(index); }

Color Theme::metric(int index) const {
  const Color colors[] = {rejected, corrected, lit, text};
  return standing_out(colors[index % 4], text, {background, surface}, kMarkContrast);
}

Theme dark_theme() {
  Theme theme;
  theme.dark = true;
  theme.background = rgb(0x1B1D21);
  theme.surface = rgb(0x24272C);
  theme.raised = rgb(0x31353C);
  theme.border = rgb(0x454A53);
  theme.grid = rgb(0x33373E);
  theme.text = rgb(0xE8EAED);
  theme.text_dim = rgb(0x9AA0A8);
  theme.accent = rgb(0x56B4E9);
  theme.focus = rgb(0xFFFFFF);
  theme.current = rgb(0xFFFFFF);
  theme.difference = rgb(0xCC79A7);
  theme.kept = rgb(0x56B4E9);
  theme.rejected = rgb(0xD55E00);
  theme.star = rgb(0xF0E442);
  theme.corrected = rgb(0xCCFFCC);
  theme.gone = rgb(0x7A7A7A);
  theme.lit = rgb(0xC58CFF);
  theme.fault = rgb(0xFF6B6B);
  return theme;
}

Theme light_theme() {
  Theme theme;
  theme.name = ThemeName::kLight;
  theme.dark = false;
  theme.background = rgb(0xFFFFFF);
  theme.surface = rgb(0xF3F4F6);
  theme.raised = rgb(0xE4E7EB);
  theme.border = rgb(0xC3C8CF);
  theme.grid = rgb(0xE3E6EA);
  theme.text = rgb(0x17191C);
  theme.text_dim = rgb(0x5F656D);
  theme.accent = rgb(0x0072B2);
  theme.focus = rgb(0x000000);
  theme.current = rgb(0x000000);
  theme.difference = rgb(0xA84C80);
  theme.kept = rgb(0x0072B2);
  // Darker than in the palette, because deuteranopes would see too little difference from the
  // bonus.
  theme.rejected = rgb(0xB84300);
  theme.star = rgb(0xE69F00);
  theme.star_outlined = true;
  theme.corrected = rgb(0x200060);
  theme.gone = rgb(0x767676);
  theme.lit = rgb(0x6A1FB0);
  theme.fault = rgb(0xC00020);
  return theme;
}

Theme projector_theme() {
  Theme theme = light_theme();
  theme.name = ThemeName::kProjector;
  theme.text_contrast = 7;
  theme.surface = rgb(0xF0F2F5);
  theme.raised = rgb(0xDDE2E8);
  theme.border = rgb(0x98A0AA);
  theme.grid = rgb(0xD3D8DE);
  theme.text = rgb(0x000000);
  theme.text_dim = rgb(0x3F454C);
  theme.accent = rgb(0x005A9E);
  theme.difference = rgb(0x8A2A66);
  theme.fault = rgb(0xA00018);
  // Dark enough without an outline, and still distinct for colour-blind eyes.
  theme.rejected = rgb(0x901800);
  theme.star = rgb(0xC07800);
  theme.star_outlined = false;
  theme.gone = rgb(0x606060);
  return theme;
}

Theme theme_of(ThemeName name) {
  return name == ThemeName::kDark    ? dark_theme()
         : name == ThemeName::kLight ? light_theme()
                                     : projector_theme();
}

const char* to_string(ThemeName name) {
  static constexpr const char* kNames[] = {"dark", "light", "projector"};
  return kNames[static_cast<std::size_t>(name)];
}

ThemeName theme_name_from_string(const std::string& name) {
  std::vector<std::string> known;
  for (const ThemeName one : {ThemeName::kDark, ThemeName::kLight, ThemeName::kProjector}) {
    if (name == to_string(one)) return one;
    known.emplace_back(to_string(one));
  }
  throw Error(ErrorCode::kInvalidArgument, "theme: expected dark, light or projector; found '" +
                                               name + "'" + did_you_mean(name, known));
}

}  // namespace triescope::viz

// The colours are checked for colour-blind eyes: docs/colours.md has the numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "viz/draw/theme.h"

namespace test_theme {

using namespace triescope::viz;
using triescope::capture::NodeState;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

// Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
constexpr std::array<Matrix, 4> kEyes = {
    Matrix{Triple{1, 0, 0}, Triple{0, 1, 0}, Triple{0, 0, 1}},
    Matrix{Triple{0.152286, 1.052583, -0.204868}, Triple{0.114503, 0.786281, 0.099216},
           Triple{-0.003882, -0.048116, 1.051998}},  // protanopia
    Matrix{Triple{0.367322, 0.860646, -0.227968}, Triple{0.280085, 0.672501, 0.047413},
           Triple{-0.011820, 0.042940, 0.968881}},  // deuteranopia
    Matrix{Triple{1.255528, -0.076749, -0.178779}, Triple{-0.078411, 0.930809, 0.147602},
           Triple{0.004733, 0.691367, 0.303900}}};  // tritanopia

double linear(std::uint8_t v) {
  const double c = v / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Triple lab(Color color, const Matrix& eye) {
  const Triple rgb = {linear(color.r), linear(color.g), linear(color.b)};
  Triple seen{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) seen[i] += eye[i][k] * rgb[k];
    seen[i] = std::clamp(seen[i], 0.0, 1.0);
  }
  const double x = (0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047,
               y = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2],
               z = (0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883;
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0; };
  return {116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))};
}

double smallest_distance(const std::vector<Color>& colors) {
  double smallest = 1e9;
  for (const Matrix& eye : kEyes)
    for (std::size_t i = 0; i < colors.size(); ++i)
      for (std::size_t k = i + 1; k < colors.size(); ++k) {
        const Triple a = lab(colors[i], eye), b = lab(colors[k], eye);
        smallest =
            std::min(smallest, std::sqrt(std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2) +
                                         std::pow(a[2] - b[2], 2)));
      }
  return smallest;
}

double luminance(Color c) {
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}
double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

std::vector<Color> verdicts(const Theme& theme) {
  return {theme.mark(NodeState::kAccepted).color, theme.mark(NodeState::kRejected).color,
          theme.mark(NodeState::kBonus).color, theme.mark(NodeState::kPruned).color};
}

}  // namespace

TEST_CASE("theme: verdict colours stay apart for normal and for three kinds of colour-blind eyes") {
  CHECK(smallest_distance(verdicts(dark_theme())) >= 33);
  CHECK(smallest_distance(verdicts(light_theme())) >= 29);
  CHECK(smallest_distance(verdicts(projector_theme())) >= 30);
  CHECK(light_theme().mark(NodeState::kBonus).outlined);
  CHECK_FALSE(dark_theme().mark(NodeState::kBonus).outlined);
  CHECK_FALSE(projector_theme().mark(NodeState::kBonus).outlined);
  // The measure itself works: it catches the usual pair of green and red.
  CHECK(smallest_distance({rgb(0x2CA02C), rgb(0xD62728)}) < 10);
}

TEST_CASE(
    "theme: a bonus and a correction differ in colour and glyph, from each other and from all verdicts") {
  for (const Theme& theme : {dark_theme(), light_theme(), projector_theme()}) {
    CAPTURE(to_string(theme.name));
    const Mark bonus = theme.mark(NodeState::kBonus), corrected = theme.mark(NodeState::kCorrected);
    CHECK(bonus.glyph != corrected.glyph);
    for (const NodeState other :
         {NodeState::kAccepted, NodeState::kRejected, NodeState::kBonus, NodeState::kPruned})
      CHECK(smallest_distance({theme.mark(other).color, corrected.color}) >= 32);
    CHECK(contrast(corrected.color, theme.background) >= 3);
  }
}

TEST_CASE(
    "theme: curves of a recorder's figures have colours apart from the phases' and from each other") {
  const auto apart = [](Color a, Color b) {
    const Triple x = lab(a, kEyes[0]), y = lab(b, kEyes[0]);
    return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
  };
  for (const Theme& theme : {dark_theme(), light_theme(), projector_theme()}) {
    CAPTURE(to_string(theme.name));
    for (int curve = 0; curve < 4; ++curve) {
      CAPTURE(curve);
      CHECK(contrast(theme.metric(curve), theme.background) >= 3);
      for (int phase = 0; phase < 5; ++phase)
        CHECK(apart(theme.metric(curve), theme.series(phase)) >= 30);
      for (int other = 0; other < curve; ++other)
        CHECK(smallest_distance({theme.metric(curve), theme.metric(other)}) >= 15);
    }
  }
}

TEST_CASE("theme: text can be read on the background, marks can be seen on it") {
  for (const Theme& theme : {dark_theme(), light_theme(), projector_theme()}) {
    CHECK(contrast(theme.text, theme.background) >= 7);
    CHECK(contrast(theme.text_dim, theme.background) >= theme.text_contrast);
    CHECK(contrast(theme.text_dim, theme.surface) >= theme.text_contrast);
    for (const NodeState state : {NodeState::kAccepted, NodeState::kRejected, NodeState::kPruned})
      CHECK(contrast(theme.mark(state).color, theme.background) >= (theme.dark ? 3.8 : 4.5));
    CHECK(contrast(theme.mark(NodeState::kBonus).color, theme.background) >=
          (theme.star_outlined ? 2.2 : 3));
    CHECK(contrast(theme.difference, theme.background) >= theme.text_contrast);
    CHECK(contrast(theme.lit, theme.background) >= theme.text_contrast);
    CHECK(contrast(theme.fault, theme.background) >= theme.text_contrast);
    CHECK(contrast(theme.fault, theme.surface) >= theme.text_contrast);
    for (int rank = 0; rank < 6; ++rank) CHECK(contrast(theme.beam(rank), theme.background) >= 2.2);
  }
}

TEST_CASE("theme: every text can be read on every ground it stands on, every mark be seen") {
  const auto over = [](Color top, double share, Color ground) {
    const auto part = [&](int t, int g) {
      return static_cast<std::uint8_t>(std::lround(t * share + g * (1 - share)));
    };
    return Color{part(top.r, ground.r), part(top.g, ground.g), part(top.b, ground.b), 255};
  };
  CHECK(dark_theme().text_contrast == 4.5);
  CHECK(light_theme().text_contrast == 4.5);
  CHECK(projector_theme().text_contrast == 7);
  for (const Theme& theme : {dark_theme(), light_theme(), projector_theme()}) {
    CAPTURE(to_string(theme.name));
    const double wanted = theme.text_contrast;
    const Color differs = over(theme.difference, 0.24, theme.background);
    for (const Color ground : {theme.background, theme.surface, theme.raised}) {
      CHECK(contrast(theme.text, ground) >= wanted);
      CHECK(contrast(theme.text_dim, ground) >= wanted);
      CHECK(contrast(theme.accent, ground) >= 3);  // the line under a tab, the edges of a range
    }
    for (const Color ground : {theme.background, theme.surface})
      CHECK(contrast(theme.difference, ground) >= wanted);
    // Buttons, chosen rows and the locked node's chip have the accent's tints under plain text.
    for (const double share : {0.28, 0.3, 0.38, 0.45, 0.5})
      CHECK(contrast(theme.text, over(theme.accent, share, theme.background)) >= wanted);
    CHECK(contrast(theme.text, differs) >= wanted);
    // Recent changes: tokens are readable on the tint, and the mark and halo are visible anywhere.
    CHECK(contrast(theme.text, over(theme.lit, 0.16, theme.background)) >= wanted);
    CHECK(contrast(theme.text_dim, over(theme.lit, 0.14, theme.background)) >= wanted);
    for (const Color ground : {theme.background, theme.surface})
      CHECK(contrast(theme.lit, ground) >= 3);
    if (theme.name == ThemeName::kProjector) CHECK(contrast(theme.text, theme.border) >= wanted);
    // The KV panel's slots have the beam's tint under plain text.
    for (int rank = 0; rank < 18; ++rank) {
      CAPTURE(rank);
      const Color beam = theme.beam(rank);
      CHECK(contrast(theme.text, over(beam, theme.dark ? 0.32 : 0.26, theme.background)) >= wanted);
      for (const Color ground : {theme.background, theme.surface})
        CHECK(contrast(beam, ground) >= 3);
      for (const Color ground : {theme.background, theme.surface, theme.raised, differs})
        CHECK(contrast(theme.legible(beam), ground) >= wanted);
    }
    for (int state = 0; state <= static_cast<int>(NodeState::kWithdrawn); ++state) {
      CAPTURE(state);
      const Mark mark = theme.mark(static_cast<NodeState>(state));
      for (const Color ground : {theme.background, theme.surface}) {
        // An outlined mark has its contrast from the outline, which has the text's colour.
        if (!mark.outlined) CHECK(contrast(mark.color, ground) >= 3);
      }
      for (const Color ground : {theme.background, theme.surface, theme.raised, differs})
        CHECK(contrast(theme.legible(mark.color), ground) >= wanted);
    }
    // A colour that can be read already stays as it is.
    CHECK(contrast(theme.legible(theme.text), theme.text) == doctest::Approx(1));
    CHECK(contrast(theme.legible(theme.text_dim), theme.text) > 1.5);
  }
}

TEST_CASE("never colour alone: every state has a glyph, or a line, and a word of its own") {
  const Theme theme = dark_theme();
  std::vector<std::string> seen;
  for (const NodeState state :
       {NodeState::kPending, NodeState::kLive, NodeState::kAccepted, NodeState::kRejected,
        NodeState::kPruned, NodeState::kFinished, NodeState::kBonus, NodeState::kCorrected,
        NodeState::kWithdrawn, NodeState::kProbe}) {
    const Mark mark = theme.mark(state);
    CHECK_FALSE(mark.glyph.empty());
    CHECK_FALSE(mark.word.empty());
    seen.emplace_back(mark.word);
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  CHECK(theme.mark(NodeState::kRejected).struck);
  CHECK(theme.mark(NodeState::kPruned).line == LineStyle::kDashed);
  CHECK(theme.mark(NodeState::kPending).hollow);
  CHECK(theme.mark(NodeState::kWithdrawn).hollow);
  CHECK(theme.mark(NodeState::kWithdrawn).glyph != theme.mark(NodeState::kPending).glyph);
  CHECK(theme.mark(NodeState::kWithdrawn).line == LineStyle::kDotted);
}

TEST_CASE("theme: the first beams have colours of their own") {
  for (const Theme& theme : {dark_theme(), light_theme(), projector_theme()})
    for (int a = 0; a < 9; ++a)
      for (int b = a + 1; b < 9; ++b) {
        const Color x = theme.beam(a), y = theme.beam(b);
        CHECK((x.r != y.r || x.g != y.g || x.b != y.b));
      }
}

TEST_CASE(
    "theme: beams take the palette in order, a later round is a quarter nearer to the background") {
  const auto same = [](Color a, Color b) { return a.r == b.r && a.g == b.g && a.b == b.b; };
  const Theme dark = dark_theme(), light = light_theme();
  const std::uint32_t palette[] = {0x56B4E9, 0xE69F00, 0x009E73, 0xCC79A7, 0xF0E442, 0xD55E00};
  for (int rank = 0; rank < 6; ++rank) {
    CAPTURE(rank);
    CHECK(same(dark.beam(rank), rgb(palette[rank])));
    CHECK(same(dark.series(rank), dark.beam(rank)));
  }
  CHECK(same(dark.beam(6), {71, 142, 183, 255}));
  CHECK(same(light.beam(0), rgb(0x0072B2)));
  CHECK(same(dark.beam(-1), dark.text_dim));
}

TEST_CASE("theme: themes have names, and another name is refused with those there are") {
  for (const ThemeName name : {ThemeName::kDark, ThemeName::kLight, ThemeName::kProjector}) {
    CHECK(theme_of(name).name == name);
    CHECK(theme_name_from_string(to_string(name)) == name);
  }
  CHECK(std::string(to_string(ThemeName::kProjector)) == "projector");
  CHECK(theme_of(ThemeName::kDark).dark);
  CHECK_FALSE(theme_of(ThemeName::kProjector).dark);
  CHECK_THROWS_WITH_AS(
      theme_name_from_string("projektor"),
      "theme: expected dark, light or projector; found 'projektor'; did you mean projector?",
      triescope::Error);
}

}  // namespace test_theme

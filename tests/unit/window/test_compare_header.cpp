#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/window/compare/compare_header.h"

namespace triescope::app::test_compare_header {
namespace {

viz::CompareFigures figures(double tokens_per_second) {
  viz::CompareFigures out;
  out.tokens = 31;
  out.steps = 12;
  out.rows = 88;
  out.peak_kv = 574;
  out.decode_us = 1'500'000;
  out.tokens_per_forward = 2.583;
  out.acceptance = 0.714;
  out.tokens_per_second = tokens_per_second;
  return out;
}

std::vector<std::string> texts(const std::vector<HeaderFigure>& all) {
  std::vector<std::string> out;
  for (const HeaderFigure& one : all) out.push_back(one.text);
  return out;
}

TEST_CASE(
    "compare header: the head of two runs has the figures one compares, and how many times as fast one is") {
  CHECK(texts(header_figures(figures(66), figures(36))) ==
        std::vector<std::string>{"31 tokens", "2.58 tok/fwd", "71 % accepted", "66.0 tok/s, 1.83 ×",
                                 "1.50 s", "peak KV 574", "12 steps", "88 rows"});
  CHECK(header_figures(figures(36), figures(66))[3].text == "36.0 tok/s");
  viz::CompareFigures none;
  CHECK(texts(header_figures(none, figures(36)))[1] == "– tok/fwd");
  CHECK(header_figures(none, none)[2].text == "no drafts");
}

TEST_CASE(
    "compare header: where the head is too narrow whole figures are left out, the least important first") {
  const auto all = header_figures(figures(66), figures(36));
  const std::vector<float> widths(all.size(), 100);
  for (const int lines : {1, 2})
    for (float room = 0; room <= 900; room += 50) {
      CAPTURE(lines);
      CAPTURE(room);
      const auto places = place_figures(widths, all, room, lines);
      REQUIRE(places.size() == all.size());
      std::size_t kept = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) continue;
        ++kept;
        CHECK(places[i]->x + widths[i] <= room);
        CHECK(places[i]->line < lines);
        for (std::size_t j = 0; j < places.size(); ++j)  // nothing less important takes its place
          if (all[j].rank < all[i].rank) CHECK(places[j].has_value());
      }
      const auto fit = static_cast<std::size_t>(room / 100) * static_cast<std::size_t>(lines);
      CHECK(kept == std::min(fit, all.size()));
    }
}

TEST_CASE(
    "compare header: the first difference is said in fewer words where there is less room, never in a cut one") {
  const FirstDifference first{.count = 12,
                              .token = 34,
                              .left = "·the",
                              .right = "·a",
                              .left_step = 5,
                              .right_step = 30,
                              .prompts_differ = true};
  const auto wordings = difference_wordings(first);
  CHECK(
      wordings.front() ==
      "≠ the prompts differ;  ≠ 12 differences, the first at token 34: ·the (step 5)  |  ·a (step 30)");
  CHECK(wordings.back() == "≠");
  const auto alike = difference_wordings({});
  CHECK(alike.front() == "= the two texts agree as far as both go");
  CHECK(alike.back() == "=");
  for (const FirstDifference& one :
       {first, FirstDifference{}, FirstDifference{.prompts_differ = true},
        FirstDifference{.count = 1, .token = 3, .left = "x", .right = "y"}}) {
    const auto all = difference_wordings(one);
    for (std::size_t i = 1; i < all.size(); ++i) {
      CAPTURE(all[i]);
      CHECK(all[i].size() <= all[i - 1].size());
      CHECK(all[i].find("…") == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace triescope::app::test_compare_header

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

TEST_CASE("the head of two runs has the figures one compares, and how many times as fast one is") {
  CHECK(texts(header_figures(figures(66), figures(36))) ==
        std::vector<std::string>{"31 tokens", "2.58 tok/fwd", "71 % accepted", "66.0 tok/s, 1.83 ×",
                                 "1.50 s", "peak KV 574", "12 steps", "88 rows"});
  CHECK(header_figures(figures(36), figures(66))[3].text == "36.0 tok/s");
  viz::CompareFigures none;
  CHECK(texts(header_figures(none, figures(36)))[1] == "– tok/fwd");
  CHECK(header_figures(none, none)[2].text == "no drafts");
}

TEST_CASE("where the head is too narrow whole figures are left out, the least important first") {
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

}  // namespace
}  // namespace triescope::app::test_compare_header

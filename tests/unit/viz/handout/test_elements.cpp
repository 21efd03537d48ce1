// The parts of a handout: elements, their clips, two themes, and what pictures share.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "viz/handout/element_canvas.h"
#include "viz/handout/page_data.h"
#include "viz/handout/shared_list.h"
#include "viz/handout/theme_pairs.h"

namespace test_elements {

using namespace triescope::viz;
using Kind = Element::Kind;

namespace {

constexpr Color kRed{200, 0, 0, 255}, kBlue{0, 0, 200, 255};

std::vector<Element> drawn(const std::function<void(ElementCanvas&)>& draw) {
  static TextSizes sizes;
  ElementCanvas canvas(sizes);
  draw(canvas);
  return canvas.take();
}

}  // namespace

TEST_CASE("handout: a text that would end the script element is a JSON string without '<'") {
  const std::string text = "</script><!--\"\\\n\t\xE2\x80\xA8\xE2\x80\xA9 é";
  const std::string json = script_string(text);
  CHECK(json.find('<') == std::string::npos);
  CHECK(json.find("\xE2\x80\xA8") == std::string::npos);
  CHECK(json.find("\xE2\x80\xA9") == std::string::npos);
  CHECK(json.find("\\u2028\\u2029 é") != std::string::npos);
  CHECK(nlohmann::json::parse(json).get<std::string>() == text);
}

TEST_CASE("handout: bytes that are not UTF-8 become the replacement character") {
  CHECK(script_string("a\xE2\x82z") == "\"a\xEF\xBF\xBDz\"");
  CHECK(script_string("") == "\"\"");
  CHECK(script_string(std::string_view("\0", 1)) == "\"\\u0000\"");
}

TEST_CASE("handout: geometry is kept in whole tenths of a px") {
  const auto elements = drawn([](ElementCanvas& c) {
    c.fill_rect({1.04f, 2.06f, 10, 20}, kRed, 3);
    c.stroke_rect({1, 2, 10, 20}, kRed, 1.2f, LineStyle::kSolid, 9);
    c.line({0, 0}, {5.5f, 7}, kRed, 2, LineStyle::kSolid);
    c.bezier({0, 1}, {2, 3}, {4, 5}, {6, 7}, kRed, 1, LineStyle::kSolid);
    const Point corners[] = {{0, 0}, {4, 0}, {0, 4}};
    c.fill_polygon(corners, kRed);
    c.fill_circle({5, 6}, 2.5f, kRed);
    c.stroke_circle({5, 6}, 2.5f, kRed, 1);
  });
  REQUIRE(elements.size() == 7);
  CHECK(elements[0].shape == "100,200,30");
  CHECK(elements[1].shape == "100,200,50,12,0,0");  // a radius is at most half a side
  CHECK(elements[2].shape == "\"M0 0L55 70\",20,0,0");
  CHECK(elements[3].shape == "\"M0 0C20 20 40 40 60 60\",10,0,0");
  CHECK(elements[4].shape == "\"M0 0L40 0L0 40Z\"");
  CHECK(elements[5].shape == "25");
  CHECK(elements[6].shape == "25,10");
  const std::pair<long, long> places[] = {{10, 21}, {10, 20}, {0, 0},  {0, 10},
                                          {0, 0},   {50, 60}, {50, 60}};
  for (std::size_t i = 0; i < elements.size(); ++i)
    CHECK(std::pair(elements[i].x, elements[i].y) == places[i]);
  const Kind kinds[] = {Kind::kFill, Kind::kFrame, Kind::kStroke, Kind::kStroke,
                        Kind::kArea, Kind::kDisc,  Kind::kRing};
  for (std::size_t i = 0; i < elements.size(); ++i) CHECK(elements[i].kind == kinds[i]);
}

TEST_CASE("handout: dashes are the canvas's own") {
  const auto elements = drawn([](ElementCanvas& c) {
    c.line({0, 0}, {50, 0}, kRed, 1, LineStyle::kDashed);
  });
  CHECK(elements.at(0).shape == "\"M0 0L500 0\",10,40,30");
}

TEST_CASE("handout: text stays text, with the width and the baseline it was laid out for") {
  TextSizes sizes;
  ElementCanvas canvas(sizes);
  const TextStyle style{FontFace::kMono, 14, kRed};
  const Point size = canvas.measure("a\"<b", style);
  const float baseline = sizes.of("a\"<b", style).baseline;
  CHECK(baseline > size.y / 2);
  CHECK(baseline < size.y);
  canvas.text({10, 20}, "a\"<b", style);
  const auto elements = canvas.take();
  REQUIRE(elements.size() == 1);
  const auto parts = nlohmann::json::parse("[" + elements[0].shape + "]");
  CHECK(elements[0].x == 100);
  CHECK(elements[0].y == std::lround((20 + baseline) * 10));
  CHECK(parts[0] == std::lround(size.x * 10));
  CHECK(parts[1] == 129);  // 14 × 0.92
  CHECK(parts[2] == 2);
  CHECK(parts[3] == "a\"<b");
  CHECK(elements[0].box.w == size.x);
}

TEST_CASE("handout: what lies outside of the clip is left out, what is inside needs none") {
  const auto elements = drawn([](ElementCanvas& c) {
    c.push_clip({0, 0, 100, 100});
    c.fill_circle({50, 50}, 10, kRed);
    c.fill_circle({500, 50}, 10, kRed);
    c.fill_circle({-9.5f, 50}, 10, kRed);
    c.fill_rect({90, 90, 50, 50}, kRed, 0);  // a plain box is cut
    c.pop_clip();
    c.fill_circle({500, 50}, 10, kRed);
  });
  REQUIRE(elements.size() == 6);
  CHECK(elements[0].shape == "100");
  CHECK(elements[1].kind == Kind::kClip);
  CHECK(elements[1].shape == "1000,1000");
  CHECK(elements[2].shape == "100");
  CHECK(elements[2].x == -95);
  CHECK(elements[2].box.w == doctest::Approx(0.5));
  CHECK(elements[4].x == 900);
  CHECK(elements[5].x == 5000);
  CHECK(elements[3].kind == Kind::kUnclip);
  CHECK(elements[4].shape == "100,100,0");
  CHECK(elements[5].shape == "100");
}

TEST_CASE("handout: neighbours in one clip share it, and the innermost counts") {
  const auto elements = drawn([](ElementCanvas& c) {
    c.push_clip({0, 0, 100, 100});
    c.push_clip({50, 0, 100, 100});
    c.fill_circle({50, 50}, 10, kRed);
    c.fill_circle({50, 60}, 10, kRed);
    c.pop_clip();
    c.fill_circle({0, 60}, 10, kRed);
    c.pop_clip();
  });
  std::vector<Kind> kinds;
  for (const Element& element : elements) kinds.push_back(element.kind);
  CHECK(kinds == std::vector<Kind>{Kind::kClip, Kind::kDisc, Kind::kDisc, Kind::kUnclip,
                                   Kind::kClip, Kind::kDisc, Kind::kUnclip});
  CHECK(elements[0].shape == "500,1000");
  CHECK(elements[4].shape == "1000,1000");
  CHECK(elements[0].x == 500);
  CHECK(elements[4].x == 0);
}

TEST_CASE("handout: the legend is what was drawn before the first clip") {
  TextSizes sizes;
  ElementCanvas canvas(sizes);
  canvas.fill_circle({5, 5}, 2, kRed);
  canvas.fill_circle({9, 5}, 2, kRed);
  CHECK(canvas.before_clips() == 2);
  canvas.push_clip({0, 0, 10, 10});
  canvas.fill_circle({5, 5}, 2, kRed);
  canvas.pop_clip();
  canvas.push_clip({0, 0, 10, 10});
  canvas.pop_clip();
  CHECK(canvas.before_clips() == 2);
  CHECK(canvas.take().size() == 3);
  CHECK(canvas.before_clips() == 0);
}

TEST_CASE("handout: what nobody can see is not kept") {
  CHECK(drawn([](ElementCanvas& c) {
          c.fill_rect({0, 0, 10, 10}, kRed.with_alpha(0), 0);
          c.fill_rect({0, 0, 0, 10}, kRed, 0);
          c.text({0, 0}, "", {});
        }).empty());
}

TEST_CASE("handout: shapes of both themes are one element with two colours") {
  ColorPairs colors;
  SharedList looks;
  const std::vector<Element> light = {{Kind::kDisc, 1, 2, "3", kRed, {}},
                                      {Kind::kDisc, 4, 5, "3", kRed, {}},
                                      {Kind::kUnclip, 0, 0, "", {}, {}}};
  std::vector<Element> dark = light;
  dark[0].color = kBlue;
  CHECK(paired(light, dark, colors, looks) == std::vector<std::string>{"0,1,2", "1,4,5", "2,0,0"});
  CHECK(looks.json() == "[[4,0,3],[4,1,3],[8]]");
  CHECK(colors.json() == R"([["#c80000ff","#0000c8ff"],["#c80000ff","#c80000ff"]])");
  CHECK(colors.index_of(kRed, kBlue) == 0);
}

TEST_CASE("handout: a shape of one theme alone is invisible in the other") {
  ColorPairs colors;
  SharedList looks;
  const Element a{Kind::kDisc, 1, 1, "1", kRed, {}}, b{Kind::kDisc, 1, 2, "1", kRed, {}},
      c{Kind::kDisc, 3, 2, "1", kRed, {}}, d{Kind::kRing, 3, 2, "1", kBlue, {}};
  const std::vector<Element> light = {a, b, c}, dark = {a, d, d, c};
  CHECK(paired(light, dark, colors, looks) ==
        std::vector<std::string>{"0,1,1", "1,1,2", "2,3,2", "2,3,2", "0,3,2"});
  CHECK(looks.json() == "[[4,0,1],[4,1,1],[5,2,1]]");
  CHECK(colors.json() == R"([["#c80000ff","#c80000ff"],["#c80000ff","#00000000"],)"
                         R"(["#00000000","#0000c8ff"]])");
  CHECK(paired(light, {}, colors, looks).size() == 3);
  CHECK(paired({}, dark, colors, looks).size() == 4);
}

TEST_CASE("handout: a picture is stretches of what the pictures before it had") {
  SharedList list;
  const auto things = [](std::initializer_list<const char*> names) {
    return std::vector<std::string>(names.begin(), names.end());
  };
  CHECK(list.stretches(things({"1", "2", "3"})) == "[0,3]");
  CHECK(list.stretches(things({"1", "2", "3"})) == "[0,3]");
  CHECK(list.stretches(things({"1", "2", "4", "3"})) == "[0,2,1,1,-2,1]");
  CHECK(list.stretches(things({"2", "2"})) == "[1,1,-1,1]");
  CHECK(list.stretches(things({})) == "[]");
  CHECK(list.size() == 4);
  CHECK(list.json() == "[1,2,3,4]");
}

}  // namespace test_elements

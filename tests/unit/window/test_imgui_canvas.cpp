#include <doctest/doctest.h>
#include <imgui.h>

#include <memory>
#include <string>

#include "app/window/shell/fonts.h"
#include "tests/unit/window/headless_imgui.h"
#include "viz/canvas/imgui_canvas.h"

namespace triescope::app::test_imgui_canvas {
namespace {

class Frames : test::HeadlessImGui {
 public:
  Frames() : HeadlessImGui({4000, 4000}) {
    fonts = load_fonts(glyphs);
    ImGui::NewFrame();
    list = ImGui::GetForegroundDrawList();
  }
  ~Frames() { ImGui::EndFrame(); }

  viz::ImGuiCanvas canvas() { return {list, fonts}; }

  viz::PangoGlyphs glyphs;
  viz::ImGuiFonts fonts;
  ImDrawList* list = nullptr;
};

viz::TextStyle style(float size = 15) { return {viz::FontFace::kUi, size, {255, 255, 255}}; }

TEST_CASE("ImGui canvas: a panel may draw more letters than 16-bit indices can name") {
  Frames frames;
  viz::ImGuiCanvas canvas = frames.canvas();
  const std::string line(200, 'x');
  for (int i = 0; i < 120; ++i) canvas.text({0, static_cast<float>(i * 16)}, line, style());
  CHECK(frames.list->VtxBuffer.Size >= 120 * 200 * 4);
  CHECK(frames.list->IdxBuffer.Size >= 120 * 200 * 6);
  CHECK(sizeof(ImDrawIdx) == 4);
  // No index was truncated: the last quad names the last vertices.
  CHECK(static_cast<int>(frames.list->IdxBuffer.back()) > frames.list->VtxBuffer.Size - 5);
}

TEST_CASE("ImGui canvas: letters are made in the size that is drawn, rounded to whole pixels") {
  Frames frames;
  viz::ImGuiCanvas canvas = frames.canvas();
  CHECK(canvas.measure("word", style(15.4f)).x == canvas.measure("word", style(15)).x);
  CHECK(canvas.measure("word", style(15)).y == 15);
  CHECK(canvas.measure("word", style(40)).y == 40);
  const float ratio =
      canvas.measure("wide word", style(60)).x / canvas.measure("wide word", style(15)).x;
  CHECK(ratio == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("every character has a glyph: of some font, or its code point in a box") {
  Frames frames;
  ImFontBaked* const letters = frames.fonts.ui->GetFontBaked(15);
  for (const ImWchar c : {0x41u, 0x4E2Du, 0x5D0u, 0x633u, 0x939u, 0x1F600u, 0x2605u, 0x10FFFDu}) {
    CAPTURE(c);
    const ImFontGlyph* glyph = letters->FindGlyphNoFallback(c);
    REQUIRE(glyph);
    CHECK(glyph->Visible);
    CHECK(glyph->AdvanceX > 4);
    CHECK(glyph->X1 > glyph->X0);
  }
  // The box of a character beyond U+FFFF is 15 px wide.
  const ImFontGlyph* box = letters->FindGlyphNoFallback(0x10FFFD);
  CHECK(box->X1 - box->X0 == 15);
  CHECK(box->AdvanceX == 17);
}

TEST_CASE(
    "ImGui canvas: a text that needs shaping is one glyph on the line of the letters beside it") {
  Frames frames;
  viz::ImGuiCanvas canvas = frames.canvas();
  const int before = frames.list->VtxBuffer.Size;
  canvas.text({100, 50}, "e\u0301e\u0301", style(30));
  REQUIRE(frames.list->VtxBuffer.Size == before + 4);
  const ImDrawVert& corner = frames.list->VtxBuffer[before];
  const ImDrawVert& opposite = frames.list->VtxBuffer[before + 2];
  CHECK(corner.pos.x >= 99);
  CHECK(corner.pos.y >= 50);
  // The letters end on the baseline.
  const float baseline = 50 + frames.fonts.ui->GetFontBaked(30)->Ascent;
  CHECK(opposite.pos.y == doctest::Approx(baseline).epsilon(0.03));
  CHECK(canvas.measure("e\u0301e\u0301", style(30)).x ==
        doctest::Approx(canvas.measure("ee", style(30)).x).epsilon(0.12));
  // The same text gives the same character, another text another one.
  CHECK(frames.glyphs.character("e\u0301e\u0301") == frames.glyphs.character("e\u0301e\u0301"));
  CHECK(frames.glyphs.character("e\u0301") != frames.glyphs.character("e\u0301e\u0301"));
}

TEST_CASE("ImGui canvas: without a completer the canvas draws every character by itself") {
  Frames frames;
  viz::ImGuiFonts plain = frames.fonts;
  plain.glyphs = nullptr;
  viz::ImGuiCanvas canvas(frames.list, plain);
  const int before = frames.list->VtxBuffer.Size;
  canvas.text({0, 0}, "שלום", style());
  CHECK(frames.list->VtxBuffer.Size == before + 16);
}

}  // namespace
}  // namespace triescope::app::test_imgui_canvas

#include "viz/canvas/imgui_glyphs.h"

#include <imgui_internal.h>

#include <cmath>

#include "core/base/unicode.h"
#include "viz/canvas/shaping.h"

namespace triescope::viz {
namespace {

// texts are numbered from here; lower numbers are Dear ImGui's own
constexpr ImWchar kFirstText = 0x100;
constexpr ImWchar kLastText = 0x10FFFF;

// In Dear ImGui a font's size is its line: ascent and descent. The em square is this share of it in
// Inter and DejaVu, and in JetBrains Mono, whose lines are higher.
double em_share(FontFace face) { return face == FontFace::kMono ? 0.78 : 0.84; }

PangoText::Picture box_picture(char32_t code, float size) {
  const CodePointBox box = code_point_box(code, size);
  PangoText::Picture picture;
  picture.width = box.width;
  picture.height = box.height;
  picture.left = 1;
  // It extends as far above the middle of the letters as below it.
  picture.top = std::floor(-size * 0.28f - static_cast<float>(box.height) / 2);
  picture.advance = static_cast<float>(box.width) + 2;
  for (const std::uint8_t alpha : box.alpha)
    picture.rgba.insert(picture.rgba.end(), {255, 255, 255, alpha});
  return picture;
}

}  // namespace

// Dear ImGui's interface to a font library (ImFontLoader), implemented with Pango.
struct PangoLoader {
  static const PangoGlyphs::Source& source(const ImFontConfig* src) {
    return *static_cast<const PangoGlyphs::Source*>(src->FontData);
  }

  static PangoText::Picture picture(const PangoGlyphs::Source& from, ImWchar c, float size) {
    PangoGlyphs& glyphs = *from.glyphs;
    const double em = static_cast<double>(size) * em_share(from.face);
    if (from.of_texts) return glyphs.pango_.picture(*glyphs.texts_[c - kFirstText], from.face, em);
    std::string utf8;
    append_utf8(utf8, static_cast<char32_t>(c));
    PangoText::Picture found = glyphs.pango_.picture(utf8, from.face, em);
    return found.complete ? found : box_picture(static_cast<char32_t>(c), size);
  }

  static bool begin_size(ImFontAtlas*, ImFontConfig* src, ImFontBaked* baked, void*) {
    if (!src->MergeMode) baked->Ascent = baked->Descent = 0;
    return true;
  }

  static bool load(ImFontAtlas* atlas, ImFontConfig* src, ImFontBaked* baked, void*, ImWchar c,
                   ImFontGlyph* out, float* advance) {
    const PangoGlyphs::Source& from = source(src);
    if (from.of_texts ? c < kFirstText || c - kFirstText >= from.glyphs->texts_.size() : c < ' ')
      return false;
    const PangoText::Picture made = picture(from, c, baked->Size);
    if (advance) {
      *advance = made.advance;
      return true;
    }
    out->Codepoint = c;
    out->AdvanceX = made.advance;
    if (made.width == 0) return true;
    const ImFontAtlasRectId room = ImFontAtlasPackAddRect(atlas, made.width, made.height);
    if (room == ImFontAtlasRectId_Invalid) return false;  // larger than any texture
    ImTextureRect* const where = ImFontAtlasPackGetRect(atlas, room);
    // Texts stand on the same line as the letters beside them.
    const PangoGlyphs::Face& face = from.glyphs->faces_[static_cast<std::size_t>(from.face)];
    const float baseline =
        from.of_texts ? face.letters->GetFontBaked(baked->Size)->Ascent : baked->Ascent;
    out->X0 = made.left;
    out->Y0 = baseline + made.top;
    out->X1 = out->X0 + static_cast<float>(made.width);
    out->Y1 = out->Y0 + static_cast<float>(made.height);
    out->Visible = true;
    out->Colored = made.colored;
    out->PackId = room;
    ImFontAtlasBakedSetFontGlyphBitmap(atlas, baked, src, out, where, made.rgba.data(),
                                       ImTextureFormat_RGBA32, made.width * 4);
    return true;
  }

  static const ImFontLoader* get() {
    static const ImFontLoader loader = [] {
      ImFontLoader made;
      made.Name = "Pango";
      made.FontBakedInit = begin_size;
      made.FontBakedLoadGlyph = load;
      return made;
    }();
    return &loader;
  }
};

void PangoGlyphs::complete(ImFontAtlas& atlas, ImFont* font, FontFace face) {
  Face& completed = faces_[static_cast<std::size_t>(face)];
  completed.letters = font;
  completed.fallback = {this, face, false};
  completed.whole = {this, face, true};
  const auto add = [&](Source& source, ImFont* into) {
    ImFontConfig config;
    config.FontLoader = PangoLoader::get();
    config.FontData = &source;
    config.FontDataSize = sizeof source;
    config.FontDataOwnedByAtlas = false;
    config.MergeMode = into != nullptr;
    config.DstFont = into;
    return atlas.AddFont(&config);
  };
  add(completed.fallback, font);
  completed.texts = add(completed.whole, nullptr);
}

ImWchar PangoGlyphs::character(std::string_view utf8) {
  if (const auto known = characters_.find(utf8); known != characters_.end()) return known->second;
  const ImWchar c = kFirstText + static_cast<ImWchar>(texts_.size());
  if (c > kLastText) return ' ';
  const auto [added, is_new] = characters_.emplace(utf8, c);
  texts_.push_back(&added->first);
  return c;
}

}  // namespace triescope::viz

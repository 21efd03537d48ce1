#include "app/window/fonts.h"

#include <fontconfig/fontconfig.h>
#include <imgui.h>
#include <imgui_freetype.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace triescope::app {
namespace {

// The scripts of tokens and labels. Before Dear ImGui 1.92 every glyph must be listed in advance.
const ImWchar kRanges[] = {
    0x0020, 0x024F,  // Latin with its extensions
    0x0370, 0x052F,  // Greek, Cyrillic
    0x2000, 0x206F,  // punctuation
    0x2070, 0x20CF,  // super- and subscripts, currency
    0x2100, 0x214F,  // letterlike
    0x2190, 0x22FF,  // arrows, mathematics
    0x2300, 0x23FF,  // technical: ⏎
    0x25A0, 0x26FF,  // shapes: ○ ● ★
    0x2700, 0x27EF,  // dingbats: ✓ ✕, ⟨ ⟩
    0xFFFD, 0xFFFD,  // replacement character
    0,
};

// The file of the font fontconfig names for `pattern`; "" if it is of another family (`strict`) or
// of a kind we cannot load.
std::string font_file(const std::string& pattern, const std::string& family, bool strict) {
  std::string path;
  FcPattern* wanted = FcNameParse(reinterpret_cast<const FcChar8*>(pattern.c_str()));
  if (!wanted) return path;
  FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
  FcDefaultSubstitute(wanted);
  FcResult result = FcResultNoMatch;
  if (FcPattern* match = FcFontMatch(nullptr, wanted, &result)) {
    FcChar8 *file = nullptr, *found = nullptr;
    FcPatternGetString(match, FC_FAMILY, 0, &found);
    if (FcPatternGetString(match, FC_FILE, 0, &file) == FcResultMatch && file)
      path = reinterpret_cast<const char*>(file);
    if (strict && (!found || family != reinterpret_cast<const char*>(found))) path.clear();
    FcPatternDestroy(match);
  }
  FcPatternDestroy(wanted);
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension != ".ttf" && extension != ".otf" && extension != ".ttc") path.clear();
  return path;
}

struct Choice {
  const char* pattern;
  const char* family;
  bool strict;
};

// The first choice that is installed, then the others for the glyphs it lacks.
ImFont* load_face(ImFontAtlas& atlas, const std::vector<Choice>& choices, float size_px) {
  ImFont* font = nullptr;
  std::vector<std::string> used;
  for (const Choice& choice : choices) {
    const std::string path = font_file(choice.pattern, choice.family, choice.strict);
    if (path.empty() || std::find(used.begin(), used.end(), path) != used.end()) continue;
    ImFontConfig config;
    config.MergeMode = font != nullptr;
    if (ImFont* loaded = atlas.AddFontFromFileTTF(path.c_str(), size_px, &config, kRanges);
        loaded && !font)
      font = loaded;
    used.push_back(path);
  }
  if (font) return font;
  ImFontConfig config;
  config.SizePixels = size_px;
  return atlas.AddFontDefault(&config);
}

}  // namespace

viz::ImGuiFonts load_fonts(float size_px) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  FcInit();
  viz::ImGuiFonts fonts{};
  const std::vector<Choice> ui = {{"Inter:weight=80", "Inter", true},
                                  {"DejaVu Sans", "DejaVu Sans", true},
                                  {"sans-serif", "", false}};
  fonts.ui = load_face(atlas, ui, size_px);
  fonts.ui_bold = load_face(atlas,
                            {{"Inter:weight=180", "Inter", true},
                             {"DejaVu Sans:weight=200", "DejaVu Sans", true},
                             {"sans-serif:weight=200", "", false}},
                            size_px);
  const std::vector<Choice> mono = {{"JetBrains Mono:weight=80", "JetBrains Mono", true},
                                    {"DejaVu Sans Mono", "DejaVu Sans Mono", true},
                                    {"monospace", "", false},
                                    {"DejaVu Sans", "DejaVu Sans", true}};
  fonts.mono = load_face(atlas, mono, size_px);
  // Small print in pictures, at a whole number of pixels to stay sharp.
  const auto small = [&](const std::vector<Choice>& choices, float share) {
    const float px = std::round(size_px * share);
    return viz::ImGuiFonts::Sized{load_face(atlas, choices, px), px};
  };
  fonts.ui_small = {small(ui, 0.86f), small(ui, 0.74f)};
  fonts.mono_small = {small(mono, 0.88f), small(mono, 0.74f)};
  return fonts;
}

}  // namespace triescope::app

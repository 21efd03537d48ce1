#include "app/window/shell/fonts.h"

#include <fontconfig/fontconfig.h>
#include <imgui.h>
#include <imgui_freetype.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "viz/canvas/letters.h"

namespace triescope::app {
namespace {

// The file of the font that fontconfig finds for `pattern`; "" if it is of another family
// (`strict`) or of a kind that cannot be loaded.
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

// Loads the first choice that is installed; the others fill the glyphs it lacks. Where no font has
// letters, the built-in one comes first.
ImFont* load_face(ImFontAtlas& atlas, const std::vector<Choice>& choices, bool has_letters) {
  ImFont* font = has_letters ? nullptr : atlas.AddFontDefaultVector();
  std::vector<std::string> used;
  for (const Choice& choice : choices) {
    const std::string path = font_file(choice.pattern, choice.family, choice.strict);
    if (path.empty() || std::find(used.begin(), used.end(), path) != used.end()) continue;
    ImFontConfig config;
    config.MergeMode = font != nullptr;
    if (ImFont* loaded = atlas.AddFontFromFileTTF(path.c_str(), 0, &config); loaded && !font)
      font = loaded;
    used.push_back(path);
  }
  return font ? font : atlas.AddFontDefaultVector();
}

}  // namespace

viz::ImGuiFonts load_fonts(viz::PangoGlyphs& glyphs) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
  FcInit();
  viz::ImGuiFonts fonts{};
  // A font without letters can still supply other characters.
  const bool has_letters = viz::why_no_letters().empty();
  fonts.ui = load_face(atlas,
                       {{"Inter:weight=80", "Inter", true},
                        {"DejaVu Sans", "DejaVu Sans", true},
                        {"sans-serif", "", false}},
                       has_letters);
  fonts.ui_bold = load_face(atlas,
                            {{"Inter:weight=180", "Inter", true},
                             {"DejaVu Sans:weight=200", "DejaVu Sans", true},
                             {"sans-serif:weight=200", "", false}},
                            has_letters);
  fonts.mono = load_face(atlas,
                         {{"JetBrains Mono:weight=80", "JetBrains Mono", true},
                          {"DejaVu Sans Mono", "DejaVu Sans Mono", true},
                          {"monospace", "", false},
                          {"DejaVu Sans", "DejaVu Sans", true}},
                         has_letters);
  glyphs.complete(atlas, fonts.ui, viz::FontFace::kUi);
  glyphs.complete(atlas, fonts.ui_bold, viz::FontFace::kUiBold);
  glyphs.complete(atlas, fonts.mono, viz::FontFace::kMono);
  fonts.glyphs = &glyphs;
  return fonts;
}

}  // namespace triescope::app

#include "viz/canvas/pango_text.h"

#include <cairo.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <map>
#include <utility>

namespace triescope::viz {
namespace {

constexpr int kMostPx = 8192;  // of the largest texture that glyphs go into

}  // namespace

struct PangoText::Impl {
  cairo_t* target = nullptr;  // borrowed
  PangoLayout* layout = nullptr;
  std::map<std::pair<int, int>, PangoFontDescription*> fonts;  // (face, em in Pango units)

  ~Impl() {
    for (auto& [key, font] : fonts) pango_font_description_free(font);
    g_object_unref(layout);
  }

  void set(std::string_view utf8, FontFace face, double em_px) {
    const std::pair key{static_cast<int>(face), static_cast<int>(em_px * PANGO_SCALE)};
    PangoFontDescription*& font = fonts[key];
    if (!font) {
      font = pango_font_description_new();
      pango_font_description_set_family(font, face == FontFace::kMono
                                                  ? "JetBrains Mono, DejaVu Sans Mono, monospace"
                                                  : "Inter, DejaVu Sans, sans-serif");
      if (face == FontFace::kUiBold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
      pango_font_description_set_absolute_size(font, em_px * PANGO_SCALE);
    }
    pango_layout_set_font_description(layout, font);
    pango_layout_set_text(layout, utf8.data(), static_cast<int>(utf8.size()));
  }
};

PangoText::PangoText(cairo_t* target) : impl_(std::make_unique<Impl>()) {
  impl_->target = target;
  if (target) {
    impl_->layout = pango_cairo_create_layout(target);
  } else {
    PangoContext* context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    impl_->layout = pango_layout_new(context);
    g_object_unref(context);
  }
  // Sizes are px of the picture, whatever the target's resolution is.
  pango_cairo_context_set_resolution(pango_layout_get_context(impl_->layout), 96);
  pango_layout_set_single_paragraph_mode(impl_->layout, TRUE);
  // A token is its characters, so "<|" and "->" must not become one sign.
  PangoAttrList* attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_font_features_new("liga=0, clig=0, calt=0"));
  pango_layout_set_attributes(impl_->layout, attributes);
  pango_attr_list_unref(attributes);
}

PangoText::~PangoText() = default;

Point PangoText::measure(std::string_view utf8, FontFace face, double em_px) {
  impl_->set(utf8, face, em_px);
  int width = 0, height = 0;
  pango_layout_get_size(impl_->layout, &width, &height);
  return {static_cast<float>(width) / PANGO_SCALE, static_cast<float>(height) / PANGO_SCALE};
}

float PangoText::baseline(std::string_view utf8, FontFace face, double em_px) {
  impl_->set(utf8, face, em_px);
  return static_cast<float>(pango_layout_get_baseline(impl_->layout)) / PANGO_SCALE;
}

void PangoText::show(Point p, std::string_view utf8, FontFace face, double em_px) {
  impl_->set(utf8, face, em_px);
  cairo_move_to(impl_->target, p.x, p.y);
  pango_cairo_show_layout(impl_->target, impl_->layout);
  cairo_new_path(impl_->target);
}

PangoText::Picture PangoText::picture(std::string_view utf8, FontFace face, double em_px) {
  impl_->set(utf8, face, em_px);
  PangoRectangle ink, logical;
  pango_layout_get_pixel_extents(impl_->layout, &ink, &logical);
  Picture picture;
  picture.advance = static_cast<float>(logical.width);
  picture.complete = pango_layout_get_unknown_glyphs_count(impl_->layout) == 0;
  if (ink.width <= 0 || ink.height <= 0) return picture;
  // Without any font on the system Pango gives unknown glyphs arbitrary extents.
  if (std::max(ink.width, ink.height) > kMostPx) return picture;
  const int baseline = PANGO_PIXELS(pango_layout_get_baseline(impl_->layout));
  picture.width = ink.width;
  picture.height = ink.height;
  picture.left = static_cast<float>(ink.x - logical.x);
  picture.top = static_cast<float>(ink.y - baseline);

  cairo_surface_t* surface =
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, picture.width, picture.height);
  cairo_t* cr = cairo_create(surface);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_move_to(cr, -ink.x, -ink.y);
  pango_cairo_show_layout(cr, impl_->layout);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  // Cairo's pixels are premultiplied, with alpha in the highest byte of a native word.
  const unsigned char* data = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  picture.rgba.reserve(static_cast<std::size_t>(picture.width * picture.height) * 4);
  for (int y = 0; data && y < picture.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(data + y * stride);
    for (int x = 0; x < picture.width; ++x) {
      const std::uint32_t alpha = row[x] >> 24;
      for (const int shift : {16, 8, 0}) {
        const std::uint32_t color =
            alpha ? ((row[x] >> shift & 255) * 255 + alpha / 2) / alpha : 255;
        picture.rgba.push_back(static_cast<std::uint8_t>(std::min(color, 255u)));
        // Where white is nearly transparent, rounding leaves it a little below 255.
        picture.colored |= alpha > 128 && color < 240;
      }
      picture.rgba.push_back(static_cast<std::uint8_t>(alpha));
    }
  }
  cairo_surface_destroy(surface);
  if (!picture.colored)
    for (std::size_t i = 0; i < picture.rgba.size(); ++i)
      if (i % 4 != 3) picture.rgba[i] = 255;
  return picture;
}

}  // namespace triescope::viz

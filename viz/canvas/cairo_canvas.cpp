#include "viz/canvas/cairo_canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "viz/canvas/dash.h"
#include "viz/canvas/letters.h"
#include "viz/canvas/markup_text.h"
#include "viz/canvas/pango_text.h"

namespace triescope::viz {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::uint32_t kCrcPolynomial = 0xEDB88320u;

std::uint32_t crc32(const std::string& data) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kCrcPolynomial : crc >> 1;
  }
  return ~crc;
}

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

// An iTXt chunk: UTF-8 text with a keyword.
std::string png_text_chunk(const std::string& key, const std::string& value) {
  const std::string body = "iTXt" + key + std::string(5, '\0') + value;
  return big_endian(static_cast<std::uint32_t>(body.size() - 4)) + body + big_endian(crc32(body));
}

// Cairo numbers its surfaces over the life of the process. They are numbered again from 1 in the
// order of the file, so that the same picture gives the same file.
std::string with_own_numbers(const std::string& svg) {
  constexpr std::string_view kName = "surface";
  std::map<std::string, std::string> names;
  std::string out;
  for (std::size_t at = 0; at < svg.size();) {
    std::size_t found = svg.find(kName, at);
    if (found == std::string::npos) found = svg.size();
    out.append(svg, at, found - at);
    at = std::min(svg.size(), found + kName.size());
    if (found == svg.size()) break;
    std::size_t end = at;
    while (end < svg.size() && svg[end] >= '0' && svg[end] <= '9') ++end;
    const std::string number = svg.substr(at, end - at);
    out += kName;
    if (!number.empty())
      out += names.try_emplace(number, std::to_string(names.size() + 1)).first->second;
    at = end;
  }
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  if (!file.flush())
    throw Error(ErrorCode::kIoError, path + ": cannot be written; is the disk full?");
}

}  // namespace

struct CairoCanvas::Impl {
  CairoFormat format;
  std::string path;
  cairo_surface_t* surface = nullptr;
  cairo_t* cr = nullptr;
  std::unique_ptr<PangoText> words;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string created_digits;  // YYYYMMDDhhmmss
  bool finished = false;

  ~Impl() {
    words.reset();
    if (cr) cairo_destroy(cr);
    if (surface) cairo_surface_destroy(surface);
  }

  void check(cairo_status_t status) const {
    if (status != CAIRO_STATUS_SUCCESS)
      throw Error(ErrorCode::kIoError, path + ": the picture cannot be written (" +
                                           cairo_status_to_string(status) + ")");
  }

  void set(Color c) {
    cairo_set_source_rgba(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
  }

  void stroke(Color c, float width, LineStyle style) {
    set(c);
    cairo_set_line_width(cr, width);
    const DashPattern pattern = dash_pattern(style, width);
    const double lengths[] = {pattern.on, pattern.off};
    cairo_set_dash(cr, lengths, pattern.on > 0 ? 2 : 0, 0);
    cairo_stroke(cr);
  }

  void box(Rect r, float radius) {
    if (radius <= 0) {
      cairo_rectangle(cr, r.x, r.y, r.w, r.h);
      return;
    }
    const double q = std::min({static_cast<double>(radius), r.w / 2.0, r.h / 2.0});
    cairo_new_sub_path(cr);
    cairo_arc(cr, r.right() - q, r.y + q, q, -kPi / 2, 0);
    cairo_arc(cr, r.right() - q, r.bottom() - q, q, 0, kPi / 2);
    cairo_arc(cr, r.x + q, r.bottom() - q, q, kPi / 2, kPi);
    cairo_arc(cr, r.x + q, r.y + q, q, kPi, 1.5 * kPi);
    cairo_close_path(cr);
  }
};

CairoCanvas::CairoCanvas(CairoFormat format, const std::string& path, float width, float height,
                         float scale)
    : impl_(std::make_unique<Impl>()) {
  if (const std::string why = why_no_letters(); !why.empty())
    throw Error(ErrorCode::kIoError, "a picture cannot be drawn: " + why);
  impl_->format = format;
  impl_->path = path;
  switch (format) {
    case CairoFormat::kSvg:
      impl_->surface = cairo_svg_surface_create(path.c_str(), width, height);
      cairo_svg_surface_set_document_unit(impl_->surface, CAIRO_SVG_UNIT_PX);
      break;
    case CairoFormat::kPdf:
      // A px is 1/96 inch; PDF counts in 1/72 inch.
      impl_->surface = cairo_pdf_surface_create(path.c_str(), width * 0.75, height * 0.75);
      break;
    case CairoFormat::kPng:
      impl_->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32,
                                                  static_cast<int>(std::ceil(width * scale)),
                                                  static_cast<int>(std::ceil(height * scale)));
      break;
    case CairoFormat::kMeasure:
      impl_->surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr);
      break;
  }
  impl_->check(cairo_surface_status(impl_->surface));
  impl_->cr = cairo_create(impl_->surface);
  if (format == CairoFormat::kPdf) cairo_scale(impl_->cr, 0.75, 0.75);
  if (format == CairoFormat::kPng) cairo_scale(impl_->cr, scale, scale);
  cairo_set_line_join(impl_->cr, CAIRO_LINE_JOIN_ROUND);
  impl_->words = std::make_unique<PangoText>(impl_->cr);
}

CairoCanvas::~CairoCanvas() = default;

void CairoCanvas::set_metadata(std::vector<std::pair<std::string, std::string>> entries,
                               const std::string& created) {
  impl_->metadata = std::move(entries);
  if (impl_->format != CairoFormat::kPdf) return;
  std::string subject;
  for (const auto& [key, value] : impl_->metadata)
    subject += (subject.empty() ? "" : "; ") + key + ": " + value;
  cairo_pdf_surface_set_metadata(impl_->surface, CAIRO_PDF_METADATA_SUBJECT, subject.c_str());
  cairo_pdf_surface_set_metadata(impl_->surface, CAIRO_PDF_METADATA_CREATOR, "triescope");
  std::ranges::copy_if(created, std::back_inserter(impl_->created_digits),
                       [](char c) { return c >= '0' && c <= '9'; });
  // Before 1.18, cairo writes a given date without the "D:" with which it must begin: for those
  // versions finish() replaces the time of writing.
  if (!created.empty() && cairo_version() >= CAIRO_VERSION_ENCODE(1, 18, 0))
    cairo_pdf_surface_set_metadata(impl_->surface, CAIRO_PDF_METADATA_CREATE_DATE, created.c_str());
  if (!impl_->metadata.empty())
    cairo_pdf_surface_set_metadata(impl_->surface, CAIRO_PDF_METADATA_TITLE,
                                   impl_->metadata.front().second.c_str());
}

CairoCanvas::Pixels CairoCanvas::pixels() const {
  impl_->check(cairo_status(impl_->cr));
  cairo_surface_flush(impl_->surface);
  Pixels out;
  out.width = cairo_image_surface_get_width(impl_->surface);
  out.height = cairo_image_surface_get_height(impl_->surface);
  const unsigned char* data = cairo_image_surface_get_data(impl_->surface);
  const int stride = cairo_image_surface_get_stride(impl_->surface);
  out.rgb.reserve(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height));
  for (int y = 0; data && y < out.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(data + y * stride);
    for (int x = 0; x < out.width; ++x) out.rgb.push_back(row[x] & 0xFFFFFF);
  }
  return out;
}

void CairoCanvas::finish() {
  if (impl_->finished) return;
  impl_->finished = true;
  impl_->check(cairo_status(impl_->cr));
  if (impl_->format == CairoFormat::kPng)
    impl_->check(cairo_surface_write_to_png(impl_->surface, impl_->path.c_str()));
  cairo_surface_finish(impl_->surface);
  impl_->check(cairo_surface_status(impl_->surface));
  if (impl_->metadata.empty()) return;
  if (impl_->format == CairoFormat::kSvg) {
    std::string text = with_own_numbers(read_file(impl_->path)), description;
    for (const auto& [key, value] : impl_->metadata) description += key + ": " + value + "\n";
    const auto open = text.find("<svg"),
               close = open == std::string::npos ? open : text.find('>', open);
    if (close == std::string::npos) return;
    text.insert(close + 1, "\n<title>" + markup_text(impl_->metadata.front().second) +
                               "</title>\n<desc>" + markup_text(description) + "</desc>");
    write_file(impl_->path, text);
  } else if (impl_->format == CairoFormat::kPng) {
    std::string data = read_file(impl_->path), chunks;
    for (const auto& [key, value] : impl_->metadata) chunks += png_text_chunk(key, value);
    constexpr std::size_t kAfterHeader = 8 + 25;  // PNG signature and IHDR
    if (data.size() > kAfterHeader) data.insert(kAfterHeader, chunks);
    write_file(impl_->path, data);
  } else if (impl_->format == CairoFormat::kPdf && impl_->created_digits.size() == 14) {
    // The time of writing becomes the run's, digit by digit, so nothing moves.
    constexpr std::string_view kDate = "/CreationDate (D:";
    std::string data = read_file(impl_->path);
    const auto at = data.find(kDate);
    if (at == std::string::npos || data.size() < at + kDate.size() + 14) return;
    data.replace(at + kDate.size(), 14, impl_->created_digits);
    write_file(impl_->path, data);
  }
}

void CairoCanvas::fill_rect(Rect r, Color c, float radius) {
  impl_->box(r, radius);
  impl_->set(c);
  cairo_fill(impl_->cr);
}

void CairoCanvas::stroke_rect(Rect r, Color c, float width, LineStyle style, float radius) {
  impl_->box(r, radius);
  impl_->stroke(c, width, style);
}

void CairoCanvas::line(Point a, Point b, Color c, float width, LineStyle style) {
  cairo_move_to(impl_->cr, a.x, a.y);
  cairo_line_to(impl_->cr, b.x, b.y);
  impl_->stroke(c, width, style);
}

void CairoCanvas::polyline(std::span<const Point> points, Color c, float width, LineStyle style) {
  if (points.size() < 2) return;
  cairo_move_to(impl_->cr, points[0].x, points[0].y);
  for (const Point& p : points.subspan(1)) cairo_line_to(impl_->cr, p.x, p.y);
  impl_->stroke(c, width, style);
}

void CairoCanvas::fill_polygon(std::span<const Point> convex, Color c) {
  if (convex.empty()) return;
  cairo_move_to(impl_->cr, convex[0].x, convex[0].y);
  for (const Point& p : convex.subspan(1)) cairo_line_to(impl_->cr, p.x, p.y);
  cairo_close_path(impl_->cr);
  impl_->set(c);
  cairo_fill(impl_->cr);
}

void CairoCanvas::bezier(Point p0, Point c0, Point c1, Point p1, Color c, float width,
                         LineStyle style) {
  cairo_move_to(impl_->cr, p0.x, p0.y);
  cairo_curve_to(impl_->cr, c0.x, c0.y, c1.x, c1.y, p1.x, p1.y);
  impl_->stroke(c, width, style);
}

void CairoCanvas::fill_circle(Point center, float radius, Color c) {
  cairo_new_sub_path(impl_->cr);
  cairo_arc(impl_->cr, center.x, center.y, radius, 0, 2 * kPi);
  impl_->set(c);
  cairo_fill(impl_->cr);
}

void CairoCanvas::stroke_circle(Point center, float radius, Color c, float width) {
  cairo_new_sub_path(impl_->cr);
  cairo_arc(impl_->cr, center.x, center.y, radius, 0, 2 * kPi);
  impl_->stroke(c, width, LineStyle::kSolid);
}

void CairoCanvas::text(Point p, std::string_view utf8, const TextStyle& style) {
  impl_->set(style.color);
  impl_->words->show(p, utf8, style.face, kEmShare * static_cast<double>(style.size_px));
}

Point CairoCanvas::measure(std::string_view utf8, const TextStyle& style) {
  return impl_->words->measure(utf8, style.face, kEmShare * static_cast<double>(style.size_px));
}

float CairoCanvas::baseline(std::string_view utf8, const TextStyle& style) {
  return impl_->words->baseline(utf8, style.face, kEmShare * static_cast<double>(style.size_px));
}

void CairoCanvas::push_clip(Rect r) {
  cairo_save(impl_->cr);
  cairo_rectangle(impl_->cr, r.x, r.y, r.w, r.h);
  cairo_clip(impl_->cr);
}

void CairoCanvas::pop_clip() { cairo_restore(impl_->cr); }

}  // namespace triescope::viz

#include "viz/export/export.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "viz/canvas/cairo_canvas.h"
#include "viz/draw/drawing.h"
#include "viz/export/export_picture.h"
#include "viz/export/note_marks.h"
#include "viz/export/run_facts.h"
#include "viz/export/whole_file.h"
#include "viz/panels/charts.h"
#include "viz/panels/panel.h"
#include "viz/text/csv_columns.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

namespace fs = std::filesystem;

constexpr float kMaxPicturePx = 30000;  // Cairo's own limit for images is 32767
constexpr float kRunTitleEm = 1.7f;     // above each of two runs

Facts facts_of(const Scene& scene, const Panel& panel) {
  Facts facts = run_facts(*scene.capture);
  facts.insert(facts.begin(), {"Title", panel.info().title + ", " + scene.capture->run().method});
  const auto recorded =
      std::ranges::find(facts, "Recorded", &std::pair<std::string, std::string>::first);
  facts.insert(recorded, {"Step", std::to_string(std::max(0, scene.shown_step()))});
  if (scene.range) facts.push_back({"Range", range_text(scene.range)});
  if (const std::string whose = panel.whose(scene); !whose.empty())
    facts.push_back({"Rows of", "the " + whose});
  return facts;
}

std::string caption_of(const Facts& facts) {
  std::string line;
  for (const auto& [key, value] : facts) {
    // The panel that shows times marks them itself.
    if (key == "Method" || key == "Settings" || key == "Recorded" || key == "Times") continue;
    if (value.empty()) continue;  // another program's recorder need not say it
    const char* const word = key == "KV policy" ? "KV "
                             : key == "Seed"    ? "seed "
                             : key == "Step"    ? "step "
                             : key == "Rows of" ? "rows of "
                                                : "";
    line += (line.empty() ? "" : "  ·  ") + (word + value);
  }
  return line;
}

// One of the runs of a picture, ready to be drawn.
struct OneRun {
  std::unique_ptr<Panel> own;  // null: the panel belongs to somebody else
  Panel* panel = nullptr;
  Scene scene;
  Facts facts;
  std::string created;  // ISO 8601
  std::string title;    // "" = it is the only run
  Point size;           // 0 = the panel's extent
};

OneRun part_of(const ExportRun& run, const std::string& panel, const ExportOptions& options) {
  OneRun part;
  part.own = make_picture(panel);
  part.panel = part.own.get();
  if (!run.view_state.empty()) part.panel->set_view_state(run.view_state);
  part.scene.capture = run.capture;
  part.scene.cursor = run.cursor;
  part.scene.range = run.range;
  if (options.part == ExportPart::kStep && part.panel->info().grows)
    part.scene.range =
        std::pair(std::max(0, part.scene.shown_step()), std::max(0, part.scene.shown_step()));
  part.scene.theme = theme_of(options.theme);
  part.scene.em = options.em;
  part.scene.animate = false;
  // As in frames, the visible part of a pane follows the run.
  part.scene.series = options.part == ExportPart::kSeen;
  part.scene.export_mode = !part.scene.series;
  if (options.part == ExportPart::kSeen) part.size = kSlide;
  part.title = run.title;
  part.facts = facts_of(part.scene, *part.panel);
  part.created = run.capture->run().created_utc;
  return part;
}

// The file's metadata.
Facts notes_of(const std::vector<OneRun>& parts) {
  if (parts.size() == 1) return parts[0].facts;
  Facts notes = {
      {"Title", parts[0].panel->info().title + ", " + parts[0].title + " | " + parts[1].title}};
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const auto& [key, value] : parts[i].facts)
      if (key != "Title") notes.push_back({(i == 0 ? "Left, " : "Right, ") + key, value});
  return notes;
}

std::string table_of(const std::vector<OneRun>& parts) {
  if (parts.size() == 1) return parts[0].panel->csv(parts[0].scene);
  std::string out;
  for (const OneRun& part : parts)
    out += with_columns("run", csv_field(part.title), part.panel->csv(part.scene), out.empty());
  return out;
}

void draw_caption(Canvas& canvas, Rect area, const OneRun& part) {
  const float em = part.scene.em;
  canvas.line({area.x, area.y}, {area.right(), area.y}, part.scene.theme.grid, 1,
              LineStyle::kSolid);
  const TextStyle style = dim_text(part.scene, 0.8f);
  const auto lines = wrap_text(canvas, caption_of(part.facts), style, area.w);
  for (std::size_t i = 0; i < lines.size() && i < 2; ++i)
    text_in(canvas,
            {area.x, area.y + em * (0.25f + 1.1f * static_cast<float>(i)), area.w, em * 1.1f},
            lines[i], style);
}

// Where the panel itself stands.
Rect below_run_title(Rect area, const OneRun& part) {
  if (part.title.empty()) return area;
  const float title = part.scene.em * kRunTitleEm;
  return {area.x, area.y + title, area.w, area.h - title};
}

void draw_part(Canvas& canvas, Rect area, const OneRun& part) {
  if (!part.title.empty()) {
    const float em = part.scene.em;
    const TextStyle style = bold_text(part.scene);
    text_in(canvas, {area.x, area.y, area.w, em * kRunTitleEm * 0.8f},
            fit_text(canvas, part.title, style, area.w), style);
  }
  const Rect panel = below_run_title(area, part);
  canvas.push_clip(panel);
  part.panel->draw(canvas, panel, part.scene);
  canvas.pop_clip();
}

// A part's place in the picture, its run's title included, and the notes that are marked there.
struct Place {
  Rect area;
  std::vector<NoteMark> marks = {};
};

// The parts beside each other, in a room of this height.
std::vector<Place> places_of(CairoCanvas& measure, const std::vector<OneRun>& parts,
                             const std::vector<float>& widths, float height, float margin,
                             bool notes) {
  std::vector<Place> places;
  float x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Place& place =
        places.emplace_back(Place{Rect{x + margin, margin, widths[i] - 2 * margin, height}});
    if (notes)
      place.marks = note_marks(*parts[i].panel, below_run_title(place.area, parts[i]),
                               parts[i].scene, measure);
    x += widths[i];
  }
  return places;
}

void write(std::vector<OneRun>& parts, const std::string& path, const ExportOptions& options,
           const ProgressSink& progress) {
  const std::string doing = "exporting " + parts[0].panel->info().name;
  if (progress) progress(doing, 0, 3);
  const auto notes = notes_of(parts);

  WholeFile whole(path);
  if (options.format == ExportFormat::kCsv) {
    std::ofstream file(whole.path(), std::ios::binary);
    for (const auto& [key, value] : notes) file << "# " << key << ": " << value << "\n";
    file << table_of(parts);
    whole.commit(file);
    if (progress) progress(doing, 3, 3);
    return;
  }
  const float em = options.em, margin = em, caption = em * 2.6f;
  const float title = parts.size() > 1 ? em * kRunTitleEm : 0;
  CairoCanvas measure(CairoFormat::kMeasure, "", 100, 100);
  std::vector<float> widths;  // of each run, with half of the space between them
  float height = em * 6;
  for (const OneRun& part : parts) {
    const Point extent = part.size.x > 0 ? part.size : part.panel->extent(measure, part.scene);
    widths.push_back((part.size.x > 0 ? extent.x : std::max(extent.x, em * 30)) + 2 * margin);
    height = std::max(height, extent.y);
  }
  height = std::min(kMaxPicturePx, options.height_px > 0 ? options.height_px
                                                         : height + 2 * margin + caption + title);
  const auto runs = static_cast<float>(parts.size());
  float width = 0;
  for (float& one : widths) {
    if (options.width_px > 0) one = options.width_px / runs;
    one = std::min(one, kMaxPicturePx / runs);
    width += one;
  }
  const float around = 2 * margin + caption;
  auto places = places_of(measure, parts, widths, height - around, margin, options.notes);
  float notes_px = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    notes_px = std::max(notes_px, draw_notes(measure, places[i].area, places[i].marks,
                                             parts[i].scene, /*draws=*/false));
  const float wanted = height + notes_px;
  if (options.height_px <= 0) height = std::min(kMaxPicturePx, wanted);
  // Where the picture cannot grow by the notes, the panels give them room.
  if (height < wanted)
    places = places_of(measure, parts, widths, height - around - notes_px, margin, options.notes);
  if (progress) progress(doing, 1, 3);

  const CairoFormat format = options.format == ExportFormat::kSvg   ? CairoFormat::kSvg
                             : options.format == ExportFormat::kPdf ? CairoFormat::kPdf
                                                                    : CairoFormat::kPng;
  const float scale = std::min(options.scale, kMaxPicturePx / std::max(width, height));
  CairoCanvas canvas(format, whole.path(), width, height, scale);
  canvas.set_metadata(notes, parts[0].created);
  const Theme& theme = parts[0].scene.theme;
  canvas.fill_rect({0, 0, width, height}, theme.background, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [area, marks] = places[i];
    const float left = area.x - margin;
    if (i > 0)
      canvas.line({left, margin}, {left, height - margin}, theme.border, 1, LineStyle::kSolid);
    draw_part(canvas, area, parts[i]);
    draw_note_marks(canvas, below_run_title(area, parts[i]), marks, parts[i].scene);
    draw_notes(canvas, {area.x, area.bottom(), area.w, notes_px}, marks, parts[i].scene, true);
    draw_caption(canvas, {area.x, height - caption, area.w, caption}, parts[i]);
  }
  if (progress) progress(doing, 2, 3);
  canvas.finish();
  whole.commit();
  if (progress) progress(doing, 3, 3);
}

}  // namespace

ExportFormat export_format_from_string(const std::string& s) {
  if (s == "svg") return ExportFormat::kSvg;
  if (s == "pdf") return ExportFormat::kPdf;
  if (s == "png") return ExportFormat::kPng;
  if (s == "csv") return ExportFormat::kCsv;
  throw Error(ErrorCode::kInvalidArgument,
              "format '" + s +
                  "' is not one of: svg, pdf, png, csv (or, by step: gif, png-frames; of the "
                  "whole run: html, jsonl)");
}

ExportPart export_part_from_string(const std::string& s) {
  if (s == "whole") return ExportPart::kWhole;
  if (s == "step") return ExportPart::kStep;
  if (s == "seen") return ExportPart::kSeen;
  throw Error(ErrorCode::kInvalidArgument, "part '" + s + "' is not one of: whole, step, seen");
}

std::string title_of(const capture::Capture& capture) {
  const std::string file = fs::path(capture.path()).filename().string();
  const std::string& method = capture.run().method_title;
  return method.empty() ? file : method + " (" + file + ")";
}

capture::Tick cursor_after(const capture::Capture& capture, std::optional<std::int32_t> step) {
  if (!step) return capture.end_tick();
  const std::int32_t last = capture.last_step();
  if (*step < 0 || *step > last)
    throw Error(ErrorCode::kInvalidArgument,
                "step " + std::to_string(*step) + ": expected 0 to " + std::to_string(last));
  return std::min<capture::Tick>(capture.end_tick(),
                                 capture::make_tick(*step + 1, capture::Phase::kDraft));
}

void export_panel(const capture::Capture& capture, const std::string& panel,
                  const std::string& path, const ExportOptions& options,
                  const ProgressSink& progress) {
  std::vector<OneRun> parts;
  parts.push_back(part_of({.capture = &capture,
                           .cursor = cursor_after(capture, options.step),
                           .title = "",
                           .view_state = options.view_state,
                           .range = options.range},
                          panel, options));
  write(parts, path, options, progress);
}

void export_pair(const ExportRun& left, const ExportRun& right, const std::string& panel,
                 const std::string& path, const ExportOptions& options,
                 const ProgressSink& progress) {
  std::vector<OneRun> parts;
  parts.push_back(part_of(left, panel, options));
  parts.push_back(part_of(right, panel, options));
  if (parts[0].title == parts[1].title) {
    parts[0].title += ", left";
    parts[1].title += ", right";
  }
  const Twins twins = find_twins(*left.capture, left.cursor, *right.capture, right.cursor),
              other = find_twins(*right.capture, right.cursor, *left.capture, left.cursor);
  parts[0].scene.twins = &twins;
  parts[1].scene.twins = &other;
  if (!options.own_scales) {
    parts[0].scene.beside = {right.capture, right.cursor, right.range};
    parts[1].scene.beside = {left.capture, left.cursor, left.range};
  }
  write(parts, path, options, progress);
}

void export_picture(Panel& picture, const Facts& facts, const std::string& created,
                    const std::string& path, const ExportOptions& options,
                    const ProgressSink& progress) {
  std::vector<OneRun> parts(1);
  OneRun& part = parts.front();
  part.panel = &picture;
  part.scene.theme = theme_of(options.theme);
  part.scene.em = options.em;
  part.scene.animate = false;
  part.scene.export_mode = true;
  part.facts = facts;
  part.created = created;
  write(parts, path, options, progress);
}

void export_seen(const std::vector<SeenPanel>& panels, const std::string& path,
                 ExportOptions options) {
  std::vector<OneRun> parts;
  for (const SeenPanel& one : panels) {
    OneRun part;
    part.panel = one.panel;
    part.scene = one.scene;
    part.scene.theme = theme_of(options.theme);
    part.scene.focus.hovered = -1;
    part.scene.animate = false;
    part.scene.series = true;  // no buttons
    // A hair larger, because what was measured with the screen's fonts is measured again with
    // these.
    part.scene.em *= 1.0001f;
    part.title = panels.size() > 1 ? one.title : "";
    part.size = one.size;
    part.facts = facts_of(part.scene, *part.panel);
    part.created = part.scene.capture->run().created_utc;
    parts.push_back(std::move(part));
  }
  options.em = panels.front().scene.em;
  options.width_px = options.height_px = 0;
  write(parts, path, options, {});
}

}  // namespace triescope::viz

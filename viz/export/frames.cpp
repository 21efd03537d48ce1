#include "viz/export/frames.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "viz/canvas/cairo_canvas.h"
#include "viz/draw/drawing.h"
#include "viz/export/color_table.h"
#include "viz/export/export.h"
#include "viz/export/gif_file.h"
#include "viz/export/run_facts.h"
#include "viz/export/whole_file.h"
#include "viz/panels/charts.h"
#include "viz/panels/panel.h"

namespace triescope::viz {
namespace {

constexpr float kPairPx = 1280;
constexpr float kFrameTitleEm = 1.9f, kCaptionEm = 1.8f;

// Keeps the panels, because they remember what they know from one step to the next.
class Frames {
 public:
  Frames(const capture::Capture& capture, const FrameOptions& options)
      : capture_(capture), options_(options) {
    if (options.panels.empty() || options.panels.size() > 2)
      throw Error(ErrorCode::kInvalidArgument,
                  "--panel: expected one panel or two for frames; found " +
                      std::to_string(options.panels.size()));
    for (const std::string& name : options.panels) panels_.push_back(make_picture(name));
    for (std::size_t i = 0; i < options.view_states.size() && i < panels_.size(); ++i)
      if (!options.view_states[i].empty()) panels_[i]->set_view_state(options.view_states[i]);
    width_ = options.width_px > 0 ? options.width_px : panels_.size() == 2 ? kPairPx : kSlide.x;
    height_ = options.height_px > 0 ? options.height_px : kSlide.y;
    const double pixels = std::ceil(static_cast<double>(width_) * options.scale) *
                          std::ceil(static_cast<double>(height_) * options.scale);
    if (pixels > kMaxFramePixels)
      throw Error(ErrorCode::kInvalidArgument,
                  "--size: expected at most " + std::to_string(std::lround(kMaxFramePixels)) +
                      " pixels a frame; found " + std::to_string(std::llround(pixels)));
    for (const capture::StepRow& row : capture.steps())
      if (row.step >= options.steps.first && row.step <= options.steps.second)
        steps_.push_back(row.step);
    if (steps_.empty() || steps_.size() > static_cast<std::size_t>(kMaxFrames))
      throw Error(ErrorCode::kInvalidArgument,
                  capture.path() + ": expected 1 to " + std::to_string(kMaxFrames) +
                      " steps for frames, found " + std::to_string(steps_.size()) +
                      "; choose them with --steps FIRST:LAST");
  }

  const std::vector<std::int32_t>& steps() const { return steps_; }
  float width() const { return width_; }
  float height() const { return height_; }

  void draw(Canvas& canvas, std::int32_t step) {
    const Scene scene = scene_at(step);
    const float em = scene.em, margin = em * 0.8f;
    canvas.fill_rect({0, 0, width_, height_}, scene.theme.background, 0);
    const float part = width_ / static_cast<float>(panels_.size());
    const float bottom = height_ - em * kCaptionEm;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const float x = part * static_cast<float>(i);
      if (i > 0)
        canvas.line({x, margin}, {x, bottom - margin}, scene.theme.border, 1, LineStyle::kSolid);
      const Rect title{x + margin + em * 0.6f, em * 0.5f, part - 2 * margin, em * 1.3f};
      text_in(canvas, title, panels_[i]->info().title, bold_text(scene));
      const Rect area{x + margin, em * kFrameTitleEm, part - 2 * margin,
                      bottom - em * kFrameTitleEm};
      canvas.push_clip(area);
      panels_[i]->draw(canvas, area, scene);
      canvas.pop_clip();
    }
    const capture::RunInfo& run = capture_.run();
    const Rect line{margin + em * 0.6f, bottom + em * 0.25f, width_ - 2 * margin - em * 1.2f,
                    em * 1.3f};
    const std::string where =
        "step " + std::to_string(step) + " of " + std::to_string(capture_.last_step());
    const TextStyle bold = bold_text(scene, 0.86f);
    text_in(canvas, line, where, bold);
    const float taken = canvas.measure(where, bold).x + em * 1.5f;
    text_in(canvas, {line.x + taken, line.y, std::max(1.0f, line.w - taken), line.h},
            run.method_title.empty() ? run.method : run.method_title, dim_text(scene),
            Align::kRight);
  }

  // A PNG's metadata.
  Facts notes(std::int32_t step) const {
    Facts notes = run_facts(capture_);
    std::string title;
    for (const auto& panel : panels_) title += (title.empty() ? "" : " | ") + panel->info().title;
    notes.insert(notes.begin(), {"Title", title + ", " + capture_.run().method});
    notes.push_back({"Step", std::to_string(step)});
    return notes;
  }

 private:
  Scene scene_at(std::int32_t step) const {
    Scene scene;
    scene.capture = &capture_;
    scene.cursor = cursor_after(capture_, step);
    scene.theme = theme_of(options_.theme);
    scene.em = options_.em;
    scene.animate = false;
    scene.series = true;
    return scene;
  }

  const capture::Capture& capture_;
  const FrameOptions& options_;
  std::vector<std::unique_ptr<Panel>> panels_;
  std::vector<std::int32_t> steps_;
  float width_ = 0, height_ = 0;
};

}  // namespace

void export_gif(const capture::Capture& capture, const std::string& path,
                const FrameOptions& options, int delay_ms, int loops,
                const ProgressSink& progress) {
  Frames frames(capture, options);
  const auto total = static_cast<double>(2 * frames.steps().size());
  double done = 0;
  const auto picture_of = [&](std::int32_t step) {
    CairoCanvas canvas(CairoFormat::kPng, "", frames.width(), frames.height(), options.scale);
    frames.draw(canvas, step);
    if (progress) progress("exporting frames", ++done, total);
    return canvas.pixels();
  };
  // Draws twice: colours are chosen for all frames together, and all frames would not fit into
  // memory.
  ColorCounts counts;
  for (const std::int32_t step : frames.steps())
    for (const std::uint32_t color : picture_of(step).rgb) ++counts[color];
  ColorTable table(counts);

  WholeFile whole(path);
  std::unique_ptr<GifFile> gif;
  std::vector<std::uint8_t> indices;
  for (const std::int32_t step : frames.steps()) {
    const CairoCanvas::Pixels picture = picture_of(step);
    if (!gif)
      gif = std::make_unique<GifFile>(whole.path(), picture.width, picture.height, table.colors(),
                                      loops);
    indices.clear();
    for (const std::uint32_t color : picture.rgb) indices.push_back(table.index_of(color));
    gif->add(indices, delay_ms);
  }
  gif->finish();
  whole.commit();
}

std::vector<std::string> export_png_frames(const capture::Capture& capture, const std::string& path,
                                           const FrameOptions& options,
                                           const ProgressSink& progress) {
  const std::filesystem::path target(path);
  if (target.extension() != ".png" || target.stem().empty())
    throw Error(ErrorCode::kInvalidArgument,
                "-o: expected a name that ends in .png: of frames.png the files are "
                "frames-000.png, frames-001.png and so on; found '" +
                    path + "'");
  Frames frames(capture, options);
  const auto digits =
      std::max<std::size_t>(3, std::to_string(std::max(0, capture.last_step())).size());
  std::vector<std::string> files;
  for (const std::int32_t step : frames.steps()) {
    std::string number = std::to_string(step);
    number.insert(0, digits - number.size(), '0');
    const auto file = target.parent_path() / (target.stem().string() + "-" + number + ".png");
    WholeFile whole(file.string());
    CairoCanvas canvas(CairoFormat::kPng, whole.path(), frames.width(), frames.height(),
                       options.scale);
    canvas.set_metadata(frames.notes(step), capture.run().created_utc);
    frames.draw(canvas, step);
    canvas.finish();
    whole.commit();
    files.push_back(file.string());
    if (progress)
      progress("exporting frames", static_cast<double>(files.size()),
               static_cast<double>(frames.steps().size()));
  }
  return files;
}

}  // namespace triescope::viz

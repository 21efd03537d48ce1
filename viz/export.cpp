#include "viz/export.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "viz/canvas/cairo_canvas.h"
#include "viz/draw.h"
#include "viz/panels/panel.h"

namespace triescope::viz {
namespace {

namespace fs = std::filesystem;

constexpr float kMaxPicturePx = 30000;  // Cairo's own limit for images is 32767

std::vector<std::pair<std::string, std::string>> facts(const capture::Capture& capture,
                                                       const PanelInfo& panel, std::int32_t step) {
  const capture::RunInfo& run = capture.run();
  const auto model = nlohmann::json::parse(run.model_json, nullptr, false);
  const auto versions = nlohmann::json::parse(run.versions_json, nullptr, false);
  const auto field = [](const nlohmann::json& json, const char* key) {
    if (!json.is_object() || !json.contains(key)) return std::string("?");
    return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  };
  return {{"Title", panel.title + ", " + run.method},
          {"Model", field(model, "name") + " (" + field(model, "dtype") + ", " +
                        field(model, "device") + ")"},
          {"Method", run.method},
          {"Settings", run.settings_json},
          {"KV policy", run.kv_policy},
          {"Seed", std::to_string(run.seed)},
          {"Step", std::to_string(step)},
          {"Recorded", run.created_utc},
          {"Software", "triescope " + field(versions, "triescope") + ", libtorch " +
                           field(versions, "libtorch")}};
}

// A temporary beside the target; renamed into place when it is whole.
class Temporary {
 public:
  explicit Temporary(const std::string& target)
      : target_(target), path_(target + ".part" + std::to_string(::getpid())) {}
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  void commit() {
    std::error_code ec;
    fs::rename(path_, target_, ec);
    if (ec)
      throw Error(ErrorCode::kIoError, target_ + ": cannot be written (" + ec.message() + ")");
  }

 private:
  std::string target_, path_;
};

}  // namespace

ExportFormat export_format_from_string(const std::string& s) {
  if (s == "svg") return ExportFormat::kSvg;
  if (s == "pdf") return ExportFormat::kPdf;
  if (s == "png") return ExportFormat::kPng;
  if (s == "csv") return ExportFormat::kCsv;
  throw Error(ErrorCode::kInvalidArgument, "format '" + s + "' is not one of: svg, pdf, png, csv");
}

void export_panel(const capture::Capture& capture, const std::string& panel_name,
                  const std::string& path, const ExportOptions& options,
                  const ProgressSink& progress) {
  const auto panel = make_panel(panel_name);
  if (!options.view_state.empty()) panel->set_view_state(options.view_state);
  const std::int32_t last = capture.last_step();
  if (options.step && (*options.step < 0 || *options.step > last))
    throw Error(ErrorCode::kInvalidArgument, "step " + std::to_string(*options.step) +
                                                 ": expected 0 to " + std::to_string(last));
  if (progress) progress("exporting " + panel_name, 0, 3);
  Scene scene;
  scene.capture = &capture;
  scene.cursor = options.step ? std::min<capture::Tick>(
                                    capture.end_tick(),
                                    capture::make_tick(*options.step + 1, capture::Phase::kDraft))
                              : capture.end_tick();
  scene.theme = options.dark ? dark_theme() : light_theme();
  scene.em = options.em;
  scene.animate = false;
  scene.export_mode = true;
  const auto notes = facts(capture, panel->info(), std::max(0, scene.shown_step()));

  Temporary temporary(path);
  if (options.format == ExportFormat::kCsv) {
    std::ofstream file(temporary.path(), std::ios::binary);
    for (const auto& [key, value] : notes) file << "# " << key << ": " << value << "\n";
    file << panel->csv(scene);
    if (!file.flush())
      throw Error(ErrorCode::kIoError,
                  path + ": cannot be written; is the folder there, and is there space?");
    file.close();
    temporary.commit();
    if (progress) progress("exporting " + panel_name, 3, 3);
    return;
  }
  const float em = options.em, margin = em, caption = em * 2.6f;
  CairoCanvas measure(CairoFormat::kMeasure, "", 100, 100);
  const Point extent = panel->extent(measure, scene);
  const float width =
      std::min(kMaxPicturePx,
               options.width_px > 0 ? options.width_px : std::max(extent.x, em * 30) + 2 * margin);
  const float height = std::min(
      kMaxPicturePx, options.height_px > 0 ? options.height_px
                                           : std::max(extent.y, em * 6) + 2 * margin + caption);
  if (progress) progress("exporting " + panel_name, 1, 3);

  const CairoFormat format = options.format == ExportFormat::kSvg   ? CairoFormat::kSvg
                             : options.format == ExportFormat::kPdf ? CairoFormat::kPdf
                                                                    : CairoFormat::kPng;
  const float scale = std::min(options.scale, kMaxPicturePx / std::max(width, height));
  {
    std::ofstream probe(temporary.path(), std::ios::binary);
    if (!probe)
      throw Error(ErrorCode::kIoError,
                  path + ": cannot be written; is the folder there and writable?");
  }
  CairoCanvas canvas(format, temporary.path(), width, height, scale);
  canvas.set_metadata(notes);
  canvas.fill_rect({0, 0, width, height}, scene.theme.background, 0);
  const Rect area{margin, margin, width - 2 * margin, height - 2 * margin - caption};
  canvas.push_clip(area);
  panel->draw(canvas, area, scene);
  canvas.pop_clip();
  std::string line;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{5},
                              std::size_t{6}, std::size_t{8}})
    line += (line.empty() ? "" : "  ·  ") + (i == 4   ? "KV " + notes[i].second
                                             : i == 5 ? "seed " + notes[i].second
                                             : i == 6 ? "step " + notes[i].second
                                                      : notes[i].second);
  canvas.line({margin, height - caption}, {width - margin, height - caption}, scene.theme.grid, 1,
              LineStyle::kSolid);
  const TextStyle style = dim_text(scene, 0.8f);
  const auto lines = wrap_text(canvas, line, style, width - 2 * margin);
  for (std::size_t i = 0; i < lines.size() && i < 2; ++i)
    text_in(canvas,
            {margin, height - caption + em * (0.25f + 1.1f * static_cast<float>(i)),
             width - 2 * margin, em * 1.1f},
            lines[i], style);
  if (progress) progress("exporting " + panel_name, 2, 3);
  canvas.finish();
  temporary.commit();
  if (progress) progress("exporting " + panel_name, 3, 3);
}

}  // namespace triescope::viz

// Export: the picture of one panel as a file, out of the panel's own drawing code. Model, method,
// seed, version and step stand in the file (SVG/PDF/PNG metadata, CSV comment lines) and in a
// caption under the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/log.h"
#include "core/capture/capture.h"

namespace triescope::viz {

enum class ExportFormat : std::uint8_t { kSvg, kPdf, kPng, kCsv };
ExportFormat export_format_from_string(
    const std::string& s);  // Error{kInvalidArgument}: lists the formats

struct ExportOptions {
  ExportFormat format = ExportFormat::kSvg;
  std::optional<std::int32_t> step;  // state after this step; default: the last
  bool dark = false;
  float width_px = 0, height_px = 0;  // 0 = the panel's whole extent
  float em = 14;
  float scale = 1;         // PNG pixels per px
  std::string view_state;  // of the panel on the screen (folds), "" = default
};

// Errors: kNotFound (panel), kInvalidArgument (step out of range: says the range), kIoError.
// Written to a temporary file and renamed: a failure leaves no half picture.
void export_panel(const capture::Capture& capture, const std::string& panel,
                  const std::string& path, const ExportOptions& options,
                  const ProgressSink& progress = {});

}  // namespace triescope::viz

// The page of a handout: the data, with the style and scripts of assets/handout around it. The
// page's content security policy names the hashes of its own style and script: no other script
// runs, nothing is fetched, nothing is sent.
#pragma once

#include <cstdint>
#include <string>

#include "core/capture/capture.h"

namespace triescope::viz {

// The subject that page.js goes through: a run step by step, or a lesson.
enum class PageKind : std::uint8_t { kRun, kLesson };

struct Page {
  std::string title;  // plain text
  std::string data;   // JSON
  PageKind kind = PageKind::kRun;
  bool has_pictures = false;  // its data contains PNG files, and its policy lets them be shown
};
std::string handout_page(const Page& page);

// [[name, value], …]: how the run was made.
std::string facts_json(const capture::Capture& capture);

}  // namespace triescope::viz

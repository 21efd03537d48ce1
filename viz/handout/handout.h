// Start here. A handout: a run as one HTML file, for any browser and a phone, without a network.
//
//   pane_plan.h         which panels, how large
//   pane_pictures.h     a panel's pictures by step: element_canvas.h records what it draws, theme_pairs.h
//                       joins light and dark, shared_list.h keeps what steps share once, hit_boxes.h asks
//                       the panel which node lies where
//   page_pictures.h     all panels of a page, with what they share
//   handout_page.h      the page around the data, which page_data.h makes small; assets/handout draws and
//                       drives it
//
// app/lesson/lesson_page.h makes such a page of a lesson.
//
// A capture's contents may come from others: they enter the page as data, never as markup, and the
// page's policy runs no script but its own and fetches nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/capture/capture.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

struct HandoutOptions {
  std::vector<std::string> panels = {};  // empty = those of handout_panels()
  StepRange steps = {};                  // first and last; empty = all
};

// More steps would make a file that a phone does not open at once.
inline constexpr std::int32_t kMaxHandoutSteps = 1000;

// Returns the page. Errors: kInvalidArgument (no such panel, a panel named twice, no step, or more
// than kMaxHandoutSteps).
std::string handout_html(const capture::Capture& capture, const HandoutOptions& options,
                         const ProgressSink& progress = {});

// Written whole or not at all (WholeFile). Errors: those of handout_html(), kIoError.
void export_handout(const capture::Capture& capture, const std::string& path,
                    const HandoutOptions& options, const ProgressSink& progress = {});

}  // namespace triescope::viz

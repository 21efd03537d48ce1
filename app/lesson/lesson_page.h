// A lesson as a page: a handout (viz/handout) whose words are the lesson's text, with its
// questions, tasks and experiments, and whose panels show its capture at the moments that its do
// blocks name, and at every other. The file needs no network and no program. All numbers are
// computed here; the page only compares answers with the right ones.
#pragma once

#include <string>

#include "app/lesson/lesson_library.h"
#include "core/base/log.h"
#include "core/capture/capture.h"

namespace triescope::app {

// Errors: kCorruption (a line or a picture that does not fit the run: says file and line),
// kInvalidArgument (the run is too long for a page).
std::string lesson_html(const LibraryLesson& lesson, const capture::Capture& capture,
                        const ProgressSink& progress = {});
// Writes the whole file or none. Errors: those of lesson_html(), kIoError.
void export_lesson(const LibraryLesson& lesson, const capture::Capture& capture,
                   const std::string& path, const ProgressSink& progress = {});

}  // namespace triescope::app

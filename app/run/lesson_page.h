// A lesson as a page: a handout (viz/handout) whose words are the lesson's text, with its questions, tasks and
// experiments, and whose panels show its capture at the moments its do blocks name, and at every other.
// The file needs no network and no program. All numbers are worked out here; the page compares no
// more than what was answered with what is right.
#pragma once

#include <string>

#include "app/run/lesson_library.h"
#include "core/base/log.h"
#include "core/capture/capture.h"

namespace triescope::app {

// Errors: kCorruption (a line that the run does not have: says file and line; a picture), kInvalidArgument
// (a run too long for a page).
std::string lesson_html(const LibraryLesson& lesson, const capture::Capture& capture,
                        const ProgressSink& progress = {});
// Written whole or not at all. Errors: lesson_html()'s, kIoError.
void export_lesson(const LibraryLesson& lesson, const capture::Capture& capture,
                   const std::string& path, const ProgressSink& progress = {});

}  // namespace triescope::app

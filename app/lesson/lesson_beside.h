// Captures that a lesson puts beside its own (`beside NAME.tscap` in a do block).
#pragma once

#include <vector>

#include "app/lesson/lesson_library.h"
#include "lessons/check_lesson.h"

namespace triescope::app {

// Those that do not exist or cannot be opened.
std::vector<lessons::Finding> check_beside(const LibraryLesson& lesson);

}  // namespace triescope::app

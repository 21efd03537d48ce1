// A lesson's text as data of a page (assets/handout/lesson.js): blocks of spans. A span is a plain
// text, or an object: text, strong, emphasis, code, link, picture. Texts stay texts: neither this
// code nor the page turns them into markup.
#pragma once

#include <nlohmann/json.hpp>

#include "app/lesson/lesson_library.h"
#include "app/lesson/lesson_scenes.h"

namespace triescope::app {

// The block as seen from `scene`. `pictures` becomes true if it contains one. Errors: those of
// picture_bytes().
nlohmann::json block_json(const LibraryLesson& lesson, const lessons::Block& block,
                          LessonScenes& scenes, const LessonScene& scene, bool& pictures);

}  // namespace triescope::app

// A lesson's text as data of a page (assets/handout/lesson.js): blocks of spans. A span is a plain text, or an
// object: text, strong, emphasis, code, link, picture. Texts are texts: no markup is made of them here or
// there.
#pragma once

#include <nlohmann/json.hpp>

#include "app/run/lesson_library.h"
#include "app/run/lesson_scenes.h"

namespace triescope::app {

// Seen from `scene`. `pictures` becomes true where one is in it. Errors: picture_bytes()'s.
nlohmann::json block_json(const LibraryLesson& lesson, const lessons::Block& block,
                          LessonScenes& scenes, const LessonScene& scene, bool& pictures);

}  // namespace triescope::app

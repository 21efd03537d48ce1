// LessonTextures: the open lesson's pictures, decoded once and kept as textures of the window's
// OpenGL context. Not thread-safe: window thread only.
#pragma once

#include <imgui.h>

#include <map>
#include <string>

#include "app/lesson/lesson_pictures.h"

namespace triescope::app {

struct LessonTexture {
  ImTextureID id = 0;  // 0: the picture cannot be shown
  PictureSize size;
  std::string problem;  // why the picture cannot be shown
};

class LessonTextures {
 public:
  LessonTextures() = default;
  ~LessonTextures() { clear(); }
  LessonTextures(const LessonTextures&) = delete;
  LessonTextures& operator=(const LessonTextures&) = delete;

  // Decodes a picture when it is first asked for. `version` is the lesson's; a new one forgets all
  // pictures.
  const LessonTexture& picture(const LibraryLesson& lesson, const std::string& version,
                               const std::string& file);
  void clear();

 private:
  std::string version_;
  std::map<std::string, LessonTexture> textures_;
};

}  // namespace triescope::app

// Display: GLFW, the window with its OpenGL 3.3 context, and the two Dear ImGui backends. GLFW's
// callbacks collect the inputs of a frame here.
#pragma once

#include <string>
#include <vector>

#include "app/window/key_dispatch.h"
#include "app/window/workspace/preferences.h"
#include "viz/canvas/imgui_glyphs.h"

struct GLFWwindow;
struct ImDrawData;

namespace triescope::app {

// Inputs that GLFW's callbacks collect for the next frame. There is one window, so one object; GLFW
// hands it back through the user pointer.
struct Events {
  std::vector<KeyPress> keys;
  std::vector<std::string> dropped;
  bool any = true;
};

class Display {
 public:
  // Error{kIoError}: no display, or no OpenGL 3.3; says what to do instead.
  explicit Display(const WindowPlace& place);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  float monitor_scale() const;  // at least 1
  viz::Point size() const;      // px
  // The place where the window would open again; `before` is kept where it is maximised or takes
  // the full screen.
  WindowPlace place(WindowPlace before) const;
  // Draws a frame of Dear ImGui into the back buffer. `screenshot`: a PNG file that the frame is written to; "" = none. Error{kIoError}: path and reason.
  void draw(ImDrawData& frame, viz::Color background, const std::string& screenshot) const;
  // `title` is UTF-8. Called once the first frame is on the screen, so that a program that waits
  // for the title finds a window that takes keys.
  void set_title(const std::string& title);
  bool fullscreen() const;
  // Takes the whole monitor that holds the window's middle, or goes back to the place before.
  void set_fullscreen(bool on);

  GLFWwindow* window = nullptr;
  Events events;
  viz::PangoGlyphs glyphs;  // outlives the context, which the destructor ends

 private:
  std::string title_ = "triescope";
  int x_ = 0, y_ = 0, width_ = 0, height_ = 0;  // px, before full screen
};

}  // namespace triescope::app

#include "app/window/display.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <cairo.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"

namespace triescope::app {
namespace {

Events& events_of(GLFWwindow* window) {
  return *static_cast<Events*>(glfwGetWindowUserPointer(window));
}

std::string glfw_error_text;
void on_glfw_error(int, const char* text) { glfw_error_text = text; }

// Fits the window onto a monitor: screens change between two starts.
WindowPlace within_monitors(WindowPlace place) {
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  int x = 0, y = 0, width = 0, height = 0;
  bool found = false;
  for (int i = 0; i < count && !found && place.has_position; ++i) {
    glfwGetMonitorWorkarea(monitors[i], &x, &y, &width, &height);
    // The title bar must be in reach.
    found = place.x + place.width > x + 100 && place.x < x + width - 100 && place.y >= y - 40 &&
            place.y < y + height - 40;
  }
  place.has_position = found;
  if (!found && count > 0) glfwGetMonitorWorkarea(monitors[0], &x, &y, &width, &height);
  if (count > 0 && width > 0 && height > 0) {
    place.width = std::min(place.width, width);
    place.height = std::min(place.height, height);
  }
  return place;
}

// Writes the back buffer as a PNG file. Error{kIoError}: path and reason.
void write_screenshot(const std::string& path, int width_px, int height_px) {
  // BGRA is Cairo's RGB24 on little-endian machines. OpenGL's rows run from the bottom up.
  const auto stride = static_cast<std::size_t>(width_px) * 4;
  std::vector<unsigned char> pixels(stride * static_cast<std::size_t>(height_px)),
      flipped(pixels.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width_px, height_px, GL_BGRA, GL_UNSIGNED_BYTE, pixels.data());
  for (int y = 0; y < height_px; ++y)
    std::copy_n(
        pixels.begin() +
            static_cast<std::ptrdiff_t>(stride * static_cast<std::size_t>(height_px - 1 - y)),
        stride,
        flipped.begin() + static_cast<std::ptrdiff_t>(stride * static_cast<std::size_t>(y)));
  cairo_surface_t* surface = cairo_image_surface_create_for_data(
      flipped.data(), CAIRO_FORMAT_RGB24, width_px, height_px, static_cast<int>(stride));
  const cairo_status_t status = cairo_surface_write_to_png(surface, path.c_str());
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(ErrorCode::kIoError, path + ": the screenshot cannot be written (" +
                                         cairo_status_to_string(status) + ")");
}

}  // namespace

Display::Display(const WindowPlace& place) {
  glfwSetErrorCallback(on_glfw_error);
  if (!glfwInit())
    throw Error(ErrorCode::kIoError, "no display: the window system cannot be reached (" +
                                         glfw_error_text +
                                         "). Without one use `triescope decode … --capture FILE` "
                                         "and `triescope export`, or run under xvfb-run");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  // Without this, full screen would end when the presenter view takes the keys.
  glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE);
  const WindowPlace fitted = within_monitors(place);
  glfwWindowHint(GLFW_MAXIMIZED, fitted.maximised ? GLFW_TRUE : GLFW_FALSE);
  window = glfwCreateWindow(fitted.width, fitted.height, "triescope", nullptr, nullptr);
  if (!window) {
    glfwTerminate();
    throw Error(ErrorCode::kIoError, "no window: there is no OpenGL 3.3 (" + glfw_error_text +
                                         "). Install Mesa (libgl1-mesa-dri) or a driver, or work "
                                         "headless with decode and export");
  }
  glfwWindowHint(GLFW_MAXIMIZED, GLFW_FALSE);  // floating windows are not maximised
  if (fitted.has_position && !fitted.maximised) glfwSetWindowPos(window, fitted.x, fitted.y);
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window, &events);
  // These are set before the backend's own callbacks, which pass events on to them.
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int mods) {
    events_of(w).any = true;
    if (action != GLFW_RELEASE) events_of(w).keys.push_back({key, mods});
  });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    events_of(w).any = true;
    for (int i = 0; i < count; ++i) events_of(w).dropped.emplace_back(paths[i]);
  });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { events_of(w).any = true; });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { events_of(w).any = true; });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { events_of(w).any = true; });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { events_of(w).any = true; });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { events_of(w).any = true; });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { events_of(w).any = true; });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { events_of(w).any = true; });
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;               // the layout is ours
  io.ConfigInputTextCursorBlink = false;  // blinking would keep an idle window drawing
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  // Keys and clicks in floating windows come to the same callbacks.
  ImGui_ImplGlfw_SetCallbacksChainForAllWindows(true);
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  static void (*const create)(ImGuiViewport*) = platform.Platform_CreateWindow;
  platform.Platform_CreateWindow = [](ImGuiViewport* viewport) {
    create(viewport);
    void* const shared = glfwGetWindowUserPointer(
        static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle));
    glfwSetWindowUserPointer(static_cast<GLFWwindow*>(viewport->PlatformHandle), shared);
  };
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

Display::~Display() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
}

float Display::monitor_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::max(1.0f, x);
}

viz::Point Display::size() const {
  int width = 0, height = 0;
  glfwGetWindowSize(window, &width, &height);
  return {static_cast<float>(width), static_cast<float>(height)};
}

WindowPlace Display::place(WindowPlace before) const {
  if (fullscreen()) return {width_, height_, x_, y_, true, before.maximised};
  before.maximised = glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE;
  if (before.maximised) return before;
  glfwGetWindowSize(window, &before.width, &before.height);
  glfwGetWindowPos(window, &before.x, &before.y);
  before.has_position = true;
  return before;
}

void Display::draw(ImDrawData& frame, viz::Color background, const std::string& screenshot) const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(background.r / 255.0f, background.g / 255.0f, background.b / 255.0f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(&frame);
  if (screenshot.empty()) return;
  glFinish();
  write_screenshot(screenshot, width, height);
}

void Display::set_title(const std::string& title) {
  if (title == title_) return;
  glfwSetWindowTitle(window, title.c_str());
  title_ = title;
}

bool Display::fullscreen() const { return glfwGetWindowMonitor(window) != nullptr; }

void Display::set_fullscreen(bool on) {
  if (on == fullscreen()) return;
  if (!on) return glfwSetWindowMonitor(window, nullptr, x_, y_, width_, height_, 0);
  glfwGetWindowPos(window, &x_, &y_);
  glfwGetWindowSize(window, &width_, &height_);
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  GLFWmonitor* chosen = glfwGetPrimaryMonitor();
  for (int i = 0; i < count; ++i) {
    int x = 0, y = 0, width = 0, height = 0;
    glfwGetMonitorWorkarea(monitors[i], &x, &y, &width, &height);
    const int at_x = x_ + width_ / 2, at_y = y_ + height_ / 2;
    if (at_x >= x && at_x < x + width && at_y >= y && at_y < y + height) chosen = monitors[i];
  }
  if (!chosen) return;
  const GLFWvidmode* const mode = glfwGetVideoMode(chosen);
  glfwSetWindowMonitor(window, chosen, 0, 0, mode->width, mode->height, mode->refreshRate);
}

}  // namespace triescope::app

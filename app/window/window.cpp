#include "app/window/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "app/session/session_thread.h"
#include "app/window/fast_keys.h"
#include "app/window/frame_pacer.h"
#include "app/window/key_dispatch.h"
#include "app/window/lessons/presenter_words.h"
#include "app/window/screenshot.h"
#include "app/window/script.h"
#include "app/window/shell/fonts.h"
#include "app/window/shell/style.h"
#include "app/window/ui_frame.h"
#include "app/window/workspace/document_names.h"
#include "app/window/workspace/lecture_layout.h"
#include "app/window/workspace/open_place.h"
#include "core/base/error.h"
#include "viz/canvas/letters.h"

namespace triescope::app {
namespace {

constexpr float kBaseEm = 15;     // px at 1x
constexpr int kSettleFrames = 3;  // Dear ImGui needs a few frames to settle after an input
constexpr double kScriptPollSeconds = 0.01;  // between two checks of what a script waits for
constexpr double kMeasuringSeconds = 0.25;   // between two frames while a run is measured
constexpr const char* kFirstPrompt =
    "Once upon a time, a small robot found a key under the old oak tree. It did not know";

// Inputs that GLFW's callbacks collect for the next frame. There is one window, so one object; GLFW
// hands it back through the user pointer.
struct Events {
  std::vector<KeyPress> keys;
  std::vector<std::string> dropped;
  bool any = true;
};

Events& events_of(GLFWwindow* window) {
  return *static_cast<Events*>(glfwGetWindowUserPointer(window));
}

std::string glfw_error_text;
void on_glfw_error(int, const char* text) { glfw_error_text = text; }

// Owns GLFW, the window and the two Dear ImGui backends.
class Display {
 public:
  explicit Display(const WindowPlace& place) {
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
    glfwSetCursorPosCallback(window,
                             [](GLFWwindow* w, double, double) { events_of(w).any = true; });
    glfwSetMouseButtonCallback(window,
                               [](GLFWwindow* w, int, int, int) { events_of(w).any = true; });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { events_of(w).any = true; });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { events_of(w).any = true; });
    glfwSetFramebufferSizeCallback(window,
                                   [](GLFWwindow* w, int, int) { events_of(w).any = true; });
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
  ~Display() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window);
    glfwTerminate();
  }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  float monitor_scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window, &x, &y);
    return std::max(1.0f, x);
  }

  viz::Point size() const {
    int width = 0, height = 0;
    glfwGetWindowSize(window, &width, &height);
    return {static_cast<float>(width), static_cast<float>(height)};
  }

  // The place where the window would open again; `before` is kept where it is maximised or takes
  // the full screen.
  WindowPlace place(WindowPlace before) const {
    if (fullscreen()) return {width_, height_, x_, y_, true, before.maximised};
    before.maximised = glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE;
    if (before.maximised) return before;
    glfwGetWindowSize(window, &before.width, &before.height);
    glfwGetWindowPos(window, &before.x, &before.y);
    before.has_position = true;
    return before;
  }

  // `title` is UTF-8. Called once the first frame is on the screen, so that a program that waits
  // for the title finds a window that takes keys.
  void set_title(const std::string& title) {
    if (title == title_) return;
    glfwSetWindowTitle(window, title.c_str());
    title_ = title;
  }

  bool fullscreen() const { return glfwGetWindowMonitor(window) != nullptr; }
  // Takes the whole monitor that holds the window's middle, or goes back to the place before.
  void set_fullscreen(bool on) {
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

  GLFWwindow* window = nullptr;
  Events events;
  viz::PangoGlyphs glyphs;  // outlives the context, which the destructor ends

 private:
  // Fits the window onto a monitor: screens change between two starts.
  static WindowPlace within_monitors(WindowPlace place) {
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

  std::string title_ = "triescope";
  int x_ = 0, y_ = 0, width_ = 0, height_ = 0;  // px, before full screen
};

// Takes the full screen when lecture mode begins, if it did the last time, and restores the window
// when it ends.
class LectureScreen {
 public:
  void update(const Workspace& workspace, UiState& state) {
    if (workspace.lecture.is_on() == was_on_) return;
    was_on_ = !was_on_;
    if (was_on_) before_ = state.fullscreen;
    state.fullscreen = was_on_ ? before_ || workspace.preferences.lecture_full_screen : before_;
  }

 private:
  bool was_on_ = false, before_ = false;
};

// True if a panel or the presenter view has a window of its own.
bool more_windows(const Workspace& workspace) {
  return !workspace.layouts.now.floating.empty() || workspace.lecture.has_presenter_view();
}

// Processor seconds of this thread.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// While a run is measured, only Escape works, which ends it.
void dispatch_while_measuring(const std::vector<KeyPress>& keys, Workspace& workspace) {
  for (const KeyPress& press : keys)
    if (press.key == GLFW_KEY_ESCAPE) workspace.run.stop_measuring();
}

// Runs the open lesson's commands. Returns whether there were any.
bool play_lesson(Workspace& workspace, ScriptHost& host) {
  const std::vector<ScriptCommand> commands = workspace.lesson.take_commands();
  for (const ScriptCommand& command : commands) {
    try {
      run_command(command, host);
    } catch (const Error& error) {
      workspace.say(LogLevel::kError, "lesson: " + std::string(error.what()));
    }
  }
  return !commands.empty();
}

}  // namespace

int run_window(const WindowOptions& options) {
  std::string warning;
  Preferences preferences = load_preferences(warning);
  if (options.has_request) preferences.request = options.request;
  RunRequest& request = preferences.request;
  if (!request.prompt_ids.empty()) {
    // The ids are shown, and edited, in the prompt field.
    request.prompt = text_of_ids(std::exchange(request.prompt_ids, {}));
    request.prompt_is_ids = true;
  }
  if (request.prompt.empty() && !options.has_prompt) request.prompt = kFirstPrompt;
  if (options.scale > 0) preferences.user_scale = options.scale;

  // A script needs a fixed window size.
  const bool scripted =
      !options.script.empty() || !options.screenshot.empty() || !options.state.empty();
  WindowPlace place = scripted ? WindowPlace() : preferences.window;
  if (options.width > 0) place = {.width = options.width, .height = options.height};
  // Before there is a window: a place that is not there is an error of the command line.
  if (!options.open.empty() && !options.captures.empty()) {
    const std::string& path = options.captures.front();
    find_place(*capture::Capture::open(path), path, options.open);
  }
  // Before there is a window, too: a machine that cannot be reached.
  const auto wake = [] { glfwPostEmptyEvent(); };
  std::unique_ptr<RunHost> decoder;
  if (options.remote.named()) {
    auto remote = remote_host(options.remote, wake);
    remote->wait_connected();
    decoder = std::move(remote);
  }
  Display display(place);
  if (!decoder) decoder = std::make_unique<SessionThread>(wake);
  Workspace workspace(std::move(preferences), wake, std::move(decoder));
  workspace.animate = options.animate;
  if (!warning.empty()) workspace.say(LogLevel::kWarning, warning);
  UiState state;
  state.catalog = workspace.run.host().models();
  CommandTable commands(workspace, state);
  Ui ui{.workspace = workspace, .state = state, .commands = commands};

  Script script = options.script.empty() ? Script::empty() : Script(options.script, commands);
  if (scripted && options.script.empty()) script.append({"wait", "idle"});
  if (!options.screenshot.empty()) script.append({"screenshot", options.screenshot});
  if (!options.state.empty()) script.append({"write-state", options.state});
  for (const std::string& path : options.captures) workspace.open_path(path);
  if (options.captures.size() > 1 && workspace.documents.all().size() > 1) {
    workspace.documents.activate(workspace.documents.all().front().get());
    workspace.comparison.start(workspace.documents.all().back().get());
  }

  if (!options.open.empty() && workspace.active())
    open_place(workspace.documents, *workspace.active(), options.open);

  if (!options.layout.empty()) workspace.use_layout(options.layout);
  if (options.lecture) {
    workspace.enter_lecture();
    if (workspace.lecture.is_on())
      workspace.transport.go_to_start();
    else
      workspace.say(LogLevel::kError,
                    "--lecture: expected a capture to show; found none. Open one and press F8");
  }

  std::string pending_screenshot;
  std::int64_t frames = 0;  // drawn so far
  ScriptHost host{workspace,
                  state,
                  commands,
                  [&](const std::string& path) { pending_screenshot = path; },
                  [&](const std::string& path) {
                    nlohmann::json now = workspace.state_json(ui.visible_panels);
                    now["frames"] = frames;
                    for (const DropTarget& pane : ui.drop_targets)
                      now["areas"].push_back({pane.area.x, pane.area.y, pane.area.w, pane.area.h});
                    for (const PressTarget& one : ui.press_targets)
                      now["targets"][one.name] = {one.area.x, one.area.y, one.area.w, one.area.h};
                    now["smallest_text"] = ui.smallest_text;
                    if (workspace.lecture.has_presenter_view())
                      now["presenter"] = to_json(presenter_words(*workspace.active()));
                    now["dialog"] = state.dialog != Dialog::kNone;
                    now["walk"] = ui.walk_focus;
                    now["glossary"] = state.dialogs.glossary_query;
                    if (state.find.open)
                      now["find"] = {{"query", state.find.query},
                                     {"matches", state.find.matches().size()},
                                     {"count", state.find.count_text(workspace)}};
                    const ImGuiWindow* const tooltip = ImGui::FindWindowByName("##Tooltip_00");
                    now["tooltip"] = tooltip && tooltip->WasActive;
                    now["popups"] = ImGui::GetCurrentContext()->OpenPopupStack.Size;
                    now["fullscreen"] = display.fullscreen();
                    const ImVec2 size = ImGui::GetIO().DisplaySize;
                    now["size"] = {size.x, size.y};
                    std::ofstream file(path);
                    file << now.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                         << "\n";
                    if (!file.flush())
                      throw Error(ErrorCode::kIoError, path + ": the state cannot be written");
                  },
                  [&](int width, int height) { glfwSetWindowSize(display.window, width, height); }};

  int frames_left = kSettleFrames;
  int frames_at_once = kSettleFrames;  // answer an input or a script, so they do not wait
  FramePacer pacer;
  LectureScreen lecture_screen;
  double drawn_second = -1;  // of the presenter view's clock
  int quiet_frames = 0;      // drawn since the last script line; the next line waits for a few
  ui.fonts = load_fonts(display.glyphs);
  if (const std::string why = viz::why_no_letters(); !why.empty())
    workspace.say(LogLevel::kWarning, why);
  while (!glfwWindowShouldClose(display.window) && !state.quit) {
    const double now = glfwGetTime();
    double play = workspace.seconds_to_next_play(now);
    if (const double tick = workspace.lecture.seconds_to_tick(); tick >= 0)
      play = play < 0 ? tick : std::min(play, tick);
    const bool waiting_script = scripted && !state.quit;
    bool woken = false;  // an event ended a wait
    const auto seconds_to_rest = [&](double time) {
      return frames_at_once <= 0 && workspace.run.works_by_itself() ? pacer.seconds_left(time) : 0;
    };
    const double rest = seconds_to_rest(now);
    if (frames_left > 0 && rest <= 0) {
      glfwPollEvents();
    } else if (waiting_script || play >= 0 || rest > 0) {
      double patience = waiting_script ? kScriptPollSeconds : std::max(0.001, play);
      if (rest > 0 && !waiting_script) patience = play < 0 ? rest : std::min(rest, patience);
      glfwWaitEventsTimeout(patience);
      woken = glfwGetTime() - now < patience;
    } else {
      glfwWaitEvents();
      woken = true;
    }
    host.seconds = glfwGetTime();
    if (display.events.any) frames_at_once = kSettleFrames;
    // Nothing is read while resting. Only a script that waits for a step has to know.
    const bool resting = seconds_to_rest(host.seconds) > 0;
    if (resting && !waiting_script) continue;
    const bool changed = workspace.update(host.seconds);
    if (display.events.any || changed) frames_left = kSettleFrames;
    // Some events of a floating window, such as closing it, reach no callback here.
    if (woken && more_windows(workspace)) frames_left = std::max(frames_left, 1);
    if (const double second = std::floor(workspace.lecture.elapsed());
        workspace.lecture.has_presenter_view() && second != drawn_second) {
      drawn_second = second;
      frames_left = std::max(frames_left, 1);
    }
    display.events.any = false;
    for (const std::string& path : display.events.dropped) workspace.open_path(path);
    display.events.dropped.clear();
    if (workspace.run.measuring())
      dispatch_while_measuring(display.events.keys, workspace);
    else
      dispatch_keys(display.events.keys, commands, ui);
    display.events.keys.clear();
    commands.update(workspace, state);
    if (play_lesson(workspace, host)) frames_left = kSettleFrames;
    lecture_screen.update(workspace, state);
    display.set_fullscreen(state.fullscreen);

    if (scripted && quiet_frames >= kSettleFrames && pending_screenshot.empty()) {
      if (script.finished()) break;
      if (run_script_line(script, host)) {
        script.advance();
        frames_left = frames_at_once = kSettleFrames;
        quiet_frames = 0;
      }
    }
    // A waiting script draws nothing.
    if (frames_left <= 0 && (!scripted || quiet_frames >= kSettleFrames)) continue;
    if (seconds_to_rest(host.seconds) > 0) continue;

    ui.desk_em = std::round(kBaseEm * display.monitor_scale() * workspace.preferences.user_scale);
    const float em = workspace.lecture.is_on()
                         ? lecture_em(display.size(), workspace.lecture.scale())
                         : ui.desk_em;
    if (em != ui.em || workspace.theme() != ui.theme.name || frames == 0) {
      ui.em = em;
      ui.theme = viz::theme_of(workspace.theme());
      apply_style(ui.theme, em);
    }

    // Windows may leave the main window only while there are several. Otherwise menus and tooltips
    // would get windows of their own.
    const bool several = more_windows(workspace);
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags = several ? io.ConfigFlags | ImGuiConfigFlags_ViewportsEnable
                             : io.ConfigFlags & ~ImGuiConfigFlags_ViewportsEnable;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    state.walk.update();
    if (!workspace.animate) io.DeltaTime = 1.0f / 60.0f;
    FastKeys keys;
    ImGui::NewFrame();
    keys.release();
    see_inputs(state.resting_mouse);
    if (workspace.run.measuring())
      draw_measuring(ui);
    else
      draw_window(ui);
    if (!state.copy.empty()) ImGui::SetClipboardText(std::exchange(state.copy, {}).c_str());
    ImGui::Render();
    int width = 0, height = 0;
    glfwGetFramebufferSize(display.window, &width, &height);
    glViewport(0, 0, width, height);
    glClearColor(ui.theme.background.r / 255.0f, ui.theme.background.g / 255.0f,
                 ui.theme.background.b / 255.0f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    ++quiet_frames;
    ++frames;
    if (!pending_screenshot.empty() && quiet_frames >= kSettleFrames) {
      glFinish();
      write_screenshot(pending_screenshot, width, height);
      pending_screenshot.clear();
    }
    if (several) {
      ImGui::UpdatePlatformWindows();
      ImGui::RenderPlatformWindowsDefault();
      glfwMakeContextCurrent(display.window);
    }
    // The cost includes work of other threads (glFinish waits for it), but not the wait for the
    // screen.
    const bool works = workspace.run.works_by_itself();
    if (works) glFinish();
    const double drawn = glfwGetTime(), computed = thread_seconds();
    glfwSwapBuffers(display.window);
    pacer.drew(glfwGetTime(), drawn - host.seconds + thread_seconds() - computed,
               workspace.run.measuring() ? kMeasuringSeconds : 0);
    --frames_at_once;
    const Document* const shown = workspace.active();
    display.set_title(shown ? window_title(shown->capture->run()) : "triescope");
    --frames_left;
    // Dear ImGui takes fast inputs in over several frames. None may wait for the next event, and a
    // script goes on after the last.
    const bool inputs_wait = ImGui::GetCurrentContext()->InputEventsQueue.Size > 0;
    if (ui.animating || inputs_wait) frames_left = std::max(frames_left, 1);
    if (inputs_wait) quiet_frames = 0, frames_at_once = std::max(frames_at_once, 1);
  }
  if (!scripted) {
    workspace.preferences.window = display.place(workspace.preferences.window);
    workspace.remember();
  }
  return 0;
}

}  // namespace triescope::app

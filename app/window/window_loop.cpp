#include "app/window/window_loop.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "app/session/session_thread.h"
#include "app/window/fast_keys.h"
#include "app/window/frame_picture.h"
#include "app/window/key_dispatch.h"
#include "app/window/shell/fonts.h"
#include "app/window/shell/style.h"
#include "app/window/ui_frame.h"
#include "app/window/window_state.h"
#include "app/window/workspace/document_names.h"
#include "app/window/workspace/lecture_layout.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr float kBaseEm = 15;                // px at 1x
constexpr double kScriptPollSeconds = 0.01;  // between two checks of what a script waits for
constexpr double kMeasuringSeconds = 0.25;   // between two frames while a run is measured

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

bool is_scripted(const WindowOptions& options) {
  return !options.script.empty() || !options.screenshot.empty() || !options.state.empty();
}

WindowPlace place_for(const WindowOptions& options, const Preferences& preferences) {
  if (options.width > 0) return {.width = options.width, .height = options.height};
  // A script needs a fixed window size.
  return is_scripted(options) ? WindowPlace() : preferences.window;
}

}  // namespace

WindowLoop::WindowLoop(const WindowOptions& options, Preferences preferences,
                       std::unique_ptr<RunHost> decoder)
    : scripted_(is_scripted(options)),
      display_(place_for(options, preferences)),
      workspace_(
          std::move(preferences), glfwPostEmptyEvent,
          decoder ? std::move(decoder) : std::make_unique<SessionThread>(glfwPostEmptyEvent)),
      host_{workspace_,
            state_,
            commands_,
            [this](const std::string& path) { pending_screenshot_ = path; },
            [this](const std::string& path) {
              write_window_state(path, ui_, frames_, display_.fullscreen());
            },
            [this](int width, int height) { glfwSetWindowSize(display_.window, width, height); }} {
  workspace_.animate = options.animate;
  if (!options.script.empty()) script_ = Script(options.script, commands_);
  if (scripted_ && options.script.empty()) script_.append({"wait", "idle"});
  if (!options.screenshot.empty()) script_.append({"screenshot", options.screenshot});
  if (!options.state.empty()) script_.append({"write-state", options.state});
  ui_.fonts = load_fonts(display_.glyphs);
}

void WindowLoop::run() {
  while (!glfwWindowShouldClose(display_.window) && !state_.quit) {
    if (!read_inputs(wait())) continue;
    if (!run_script()) break;
    // A waiting script draws nothing.
    if (frames_left_ <= 0 && (!scripted_ || quiet_frames_ >= kSettleFrames)) continue;
    if (seconds_to_rest(host_.seconds) > 0) continue;
    choose_style();
    draw();
    present();
  }
  if (scripted_) return;
  workspace_.preferences.window = display_.place(workspace_.preferences.window);
  workspace_.remember();
}

double WindowLoop::seconds_to_rest(double now) const {
  return frames_at_once_ <= 0 && workspace_.run.works_by_itself() ? pacer_.seconds_left(now) : 0;
}

bool WindowLoop::wait() {
  const double now = glfwGetTime();
  double play = workspace_.seconds_to_next_play(now);
  if (const double tick = workspace_.lecture.seconds_to_tick(); tick >= 0)
    play = play < 0 ? tick : std::min(play, tick);
  const double rest = seconds_to_rest(now);
  if (frames_left_ > 0 && rest <= 0) {
    glfwPollEvents();
    return false;
  }
  if (scripted_ || play >= 0 || rest > 0) {
    double patience = scripted_ ? kScriptPollSeconds : std::max(0.001, play);
    if (rest > 0 && !scripted_) patience = play < 0 ? rest : std::min(rest, patience);
    glfwWaitEventsTimeout(patience);
    return glfwGetTime() - now < patience;
  }
  glfwWaitEvents();
  return true;
}

bool WindowLoop::read_inputs(bool woken) {
  host_.seconds = glfwGetTime();
  if (display_.events.any) frames_at_once_ = kSettleFrames;
  // Nothing is read while resting. Only a script that waits for a step has to know.
  if (seconds_to_rest(host_.seconds) > 0 && !scripted_) return false;
  const bool changed = workspace_.update(host_.seconds);
  if (display_.events.any || changed) frames_left_ = kSettleFrames;
  // Some events of a floating window, such as closing it, reach no callback here.
  if (woken && more_windows(workspace_)) frames_left_ = std::max(frames_left_, 1);
  if (const double second = std::floor(workspace_.lecture.elapsed());
      workspace_.lecture.has_presenter_view() && second != drawn_second_) {
    drawn_second_ = second;
    frames_left_ = std::max(frames_left_, 1);
  }
  display_.events.any = false;
  for (const std::string& path : display_.events.dropped) workspace_.open_path(path);
  display_.events.dropped.clear();
  if (workspace_.run.measuring())
    dispatch_while_measuring(display_.events.keys, workspace_);
  else
    dispatch_keys(display_.events.keys, commands_, ui_);
  display_.events.keys.clear();
  commands_.update(workspace_, state_);
  if (play_lesson(workspace_, host_)) frames_left_ = kSettleFrames;
  lecture_screen_.update(workspace_, state_);
  display_.set_fullscreen(state_.fullscreen);
  return true;
}

bool WindowLoop::run_script() {
  if (!scripted_ || quiet_frames_ < kSettleFrames || !pending_screenshot_.empty()) return true;
  if (script_.finished()) return false;
  if (run_script_line(script_, host_)) {
    script_.advance();
    frames_left_ = frames_at_once_ = kSettleFrames;
    quiet_frames_ = 0;
  }
  return true;
}

void WindowLoop::choose_style() {
  ui_.desk_em = std::round(kBaseEm * display_.monitor_scale() * workspace_.preferences.user_scale);
  const float em = workspace_.lecture.is_on()
                       ? lecture_em(display_.size(), workspace_.lecture.scale())
                       : ui_.desk_em;
  if (em == ui_.em && workspace_.theme() == ui_.theme.name && frames_ > 0) return;
  ui_.em = em;
  ui_.theme = viz::theme_of(workspace_.theme());
  apply_style(ui_.theme, em);
}

void WindowLoop::draw() {
  // Windows may leave the main window only while there are several. Otherwise menus and tooltips
  // would get windows of their own.
  const bool several = more_windows(workspace_);
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags = several ? io.ConfigFlags | ImGuiConfigFlags_ViewportsEnable
                           : io.ConfigFlags & ~ImGuiConfigFlags_ViewportsEnable;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  state_.walk.update();
  if (!workspace_.animate) io.DeltaTime = 1.0f / 60.0f;
  FastKeys keys;
  ImGui::NewFrame();
  keys.release();
  see_inputs(state_.resting_mouse);
  if (workspace_.run.measuring())
    draw_measuring(ui_);
  else
    draw_window(ui_);
  if (!state_.copy.empty()) ImGui::SetClipboardText(std::exchange(state_.copy, {}).c_str());
  ImGui::Render();
  ++quiet_frames_;
  ++frames_;
  // The first frame after an input is always drawn: the screen may have lost its picture.
  const std::optional<std::uint64_t> picture = picture_hash(*ImGui::GetDrawData());
  is_drawn_ = frames_left_ >= kSettleFrames || ui_.animating || !pending_screenshot_.empty() ||
              !picture || picture != picture_;
  picture_ = picture;
  if (is_drawn_) {
    const bool is_settled = quiet_frames_ >= kSettleFrames;
    display_.draw(*ImGui::GetDrawData(), ui_.theme.background,
                  is_settled ? std::exchange(pending_screenshot_, {}) : "");
  }
  if (several) {
    ImGui::UpdatePlatformWindows();
    ImGui::RenderPlatformWindowsDefault();
    glfwMakeContextCurrent(display_.window);
  }
}

void WindowLoop::present() {
  // The cost includes work of other threads (glFinish waits for it), but not the wait for the
  // screen.
  if (workspace_.run.works_by_itself()) glFinish();
  const double drawn = glfwGetTime(), computed = thread_seconds();
  if (is_drawn_) glfwSwapBuffers(display_.window);
  pacer_.drew(glfwGetTime(), drawn - host_.seconds + thread_seconds() - computed,
              workspace_.run.measuring() ? kMeasuringSeconds : 0);
  const Document* const shown = workspace_.active();
  display_.set_title(shown ? window_title(shown->capture->run()) : "triescope");
  --frames_left_, --frames_at_once_;
  // Dear ImGui takes fast inputs in over several frames. None may wait for the next event, and a
  // script goes on after the last.
  const bool inputs_wait = ImGui::GetCurrentContext()->InputEventsQueue.Size > 0;
  if (ui_.animating || inputs_wait) frames_left_ = std::max(frames_left_, 1);
  if (inputs_wait) quiet_frames_ = 0, frames_at_once_ = std::max(frames_at_once_, 1);
}

}  // namespace triescope::app

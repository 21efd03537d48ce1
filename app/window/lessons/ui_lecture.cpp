// Lecture mode's window for the audience: one or two panels and the narration, and nothing else.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/window/lessons/ui_lesson.h"
#include "app/window/shell/style.h"
#include "app/window/workspace/lecture_layout.h"
#include "viz/draw/drawing.h"
#include "viz/layouts/zoom.h"

namespace triescope::app {
namespace {

constexpr float kTitleEm = 1.35f, kTitlePadEm = 0.5f;
constexpr float kDarkness = 0.8f;  // of the picture around the spotlight
constexpr float kMostEnlarged = 1.5f;

// The em of a panel: as large as its room allows while its whole picture at the end of the run
// fits. The result holds for every cursor. A run of this window is not enlarged, because it may
// still grow.
float em_of(Ui& ui, viz::Panel& panel, viz::Rect area, const Document& document) {
  const capture::Capture& capture = *document.capture;
  if (document.run_serial != 0 || capture.status() == capture::RunStatus::kRunning) return ui.em;
  const LectureMode::Enlarged key{
      document.serial, panel.info().name, capture.end_tick(), {area.w, area.h}, ui.em};
  auto& known = ui.workspace.lecture.enlarged;
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const LectureMode::Enlarged& one) {
        return one.document == key.document && one.panel == key.panel && one.end == key.end &&
               one.room.x == key.room.x && one.room.y == key.room.y && one.em == key.em;
      });
  if (found != known.end()) return std::round(ui.em * found->scale);
  viz::Scene scene;
  scene.capture = &capture;
  scene.cursor = capture.end_tick();
  scene.theme = ui.theme;
  scene.em = ui.em;
  scene.series = scene.steady = true;
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  known.push_back(key);
  known.back().scale = viz::enlarged({area.w, area.h}, panel.extent(canvas, scene), kMostEnlarged);
  return std::round(ui.em * known.back().scale);
}

// `other`: the panel is the second run's.
void draw_one(Ui& ui, const std::string& name, viz::Rect place, float em, Document& document,
              bool other = false) {
  LectureMode& lecture = ui.workspace.lecture;
  viz::Panel& panel = lecture.panel(name, document);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(ImVec2(place.x, place.y), ImVec2(place.right(), place.bottom()),
                      to_imgui(ui.theme.background), ui.em * 0.2f);
  list->AddRect(ImVec2(place.x, place.y), ImVec2(place.right(), place.bottom()),
                to_imgui(ui.theme.border), ui.em * 0.2f, 1.5f);
  viz::Rect area = place.inset(2);
  const bool is_narration = name == "narration";
  if (!is_narration) {  // the narration has a heading of its own
    const float head = std::round(ui.em * kTitleEm);
    viz::ImGuiCanvas canvas(list, ui.fonts);
    const viz::TextStyle style{viz::FontFace::kUiBold, ui.em * 0.9f, ui.theme.text};
    // Where two runs are shown, each panel's title names its run.
    std::string title = panel.info().title;
    if (ui.workspace.comparison.partner()) title += ": " + viz::title_of(*document.capture);
    canvas.text({place.x + ui.em * kTitlePadEm, place.y + ui.em * 0.15f},
                viz::fit_text(canvas, title, style, place.w - 2 * ui.em * kTitlePadEm), style);
    ui.note_text(canvas.smallest_text());
    area.y += head;
    area.h = std::max(1.0f, area.h - head);
    em = em_of(ui, panel, area, document);
  }
  ImGui::PushID(other ? "other" : "one");
  ImGui::PushID(name.c_str());
  draw_panel(ui, panel, area, document, em);
  ImGui::PopID();
  ImGui::PopID();
  if (!other) ui.visible_panels.push_back(name);
  lecture.shown.push_back({(other ? "other " : "") + name, place, em});
}

// Darkens everything but a circle about the mouse: four corners between the circle and the square
// around it, as fans, and four bars around the square. They are not smoothed, because smoothing
// would show where they meet.
void draw_spotlight(Ui& ui, ImVec2 corner, ImVec2 size) {
  const float r = ui.workspace.lecture.spotlight_radius() * size.y;
  // While the mouse is elsewhere, for example over the presenter view, the light stays where it
  // was.
  const ImGuiIO& io = ImGui::GetIO();
  ImGuiStorage& kept = *ImGui::GetStateStorage();
  float& x = *kept.GetFloatRef(ImGui::GetID("spotlight x"), corner.x + size.x / 2);
  float& y = *kept.GetFloatRef(ImGui::GetID("spotlight y"), corner.y + size.y / 2);
  const ImGuiID over = io.MouseHoveredViewport, here = ImGui::GetMainViewport()->ID;
  if (ImGui::IsMousePosValid() && (over == 0 || over == here) && io.MousePos.x >= corner.x &&
      io.MousePos.x < corner.x + size.x && io.MousePos.y >= corner.y &&
      io.MousePos.y < corner.y + size.y)
    x = io.MousePos.x, y = io.MousePos.y;
  const ImVec2 at(x, y);
  ImDrawList* const list = ImGui::GetForegroundDrawList(ImGui::GetMainViewport());
  const ImU32 dark = IM_COL32(0, 0, 0, static_cast<int>(kDarkness * 255));
  const ImVec2 end(corner.x + size.x, corner.y + size.y);
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  const float left = at.x - r, right = at.x + r, top = at.y - r, bottom = at.y + r;
  const auto bar = [&](float x0, float y0, float x1, float y1) {
    if (x1 > x0 && y1 > y0) list->AddRectFilled(ImVec2(x0, y0), ImVec2(x1, y1), dark);
  };
  bar(corner.x, corner.y, end.x, top);
  bar(corner.x, bottom, end.x, end.y);
  bar(corner.x, std::max(top, corner.y), left, std::min(bottom, end.y));
  bar(right, std::max(top, corner.y), end.x, std::min(bottom, end.y));
  constexpr int kParts = 16;  // segments of a quarter circle
  for (int quarter = 0; quarter < 4; ++quarter) {
    const auto point = [&](int part) {
      const float angle = (static_cast<float>(quarter) + static_cast<float>(part) / kParts) *
                          std::numbers::pi_v<float> / 2;
      return ImVec2(at.x + r * std::cos(angle), at.y + r * std::sin(angle));
    };
    const ImVec2 middle = point(kParts / 2);
    const ImVec2 outside(middle.x > at.x ? right : left, middle.y > at.y ? bottom : top);
    for (int part = 0; part < kParts; ++part)
      list->AddTriangleFilled(outside, point(part), point(part + 1), dark);
  }
  list->Flags = flags;
  list->AddCircle(at, r, to_imgui(ui.theme.text_dim), 0, 2);
}

}  // namespace

void draw_lecture(Ui& ui) {
  LectureMode& lecture = ui.workspace.lecture;
  ui.workspace.comparison.sync();
  Document& document = *ui.workspace.active();
  ui.drop_targets.clear();
  lecture.shown.clear();
  const ImGuiViewport* const viewport = ImGui::GetMainViewport();
  const ImVec2 corner = viewport->Pos, size = viewport->Size;
  ImGuiIO& io = ImGui::GetIO();
  if (lecture.has_spotlight() && io.MouseWheel != 0) {
    lecture.resize_spotlight(io.MouseWheel);
    io.MouseWheel = 0;  // so that the panel below does not zoom
  }
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0) {
    document.focus.hovered = -1;
    if (Document* const partner = ui.workspace.comparison.partner()) partner->focus.hovered = -1;
  }
  ImGui::SetNextWindowPos(corner);
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowViewport(viewport->ID);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_WindowBg,
                        lecture.is_blank() ? ImVec4(0, 0, 0, 1) : to_imgui_vec(ui.theme.surface));
  ImGui::Begin("lecture", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  if (!lecture.is_blank()) {
    const bool lesson = ui.workspace.lesson.is_open();
    Document* const partner = ui.workspace.comparison.partner();
    const auto pair = lecture_pair({size.x, size.y}, ui.em, lesson);
    const LecturePlaces places =
        partner ? pair[0]
                : lecture_places({size.x, size.y}, ui.em, lecture.panels().size(), lesson);
    const auto on_screen = [&](viz::Rect place) {
      return viz::Rect{place.x + corner.x, place.y + corner.y, place.w, place.h};
    };
    if (partner) ui.legend = viz::LegendRoom::kTwoRows;
    // A copy: a link in one panel may show another.
    const std::vector<std::string> panels = lecture.panels();
    for (std::size_t i = 0; i < places.panels.size(); ++i)
      draw_one(ui, panels[i], on_screen(places.panels[i]), ui.em, document);
    draw_one(ui, "narration", on_screen(places.narration), narration_em(ui.em), document);
    if (partner) {
      draw_one(ui, panels[0], on_screen(pair[1].panels[0]), ui.em, *partner, /*other=*/true);
      draw_one(ui, "narration", on_screen(pair[1].narration), narration_em(ui.em), *partner,
               /*other=*/true);
    }
    ui.legend = viz::LegendRoom::kPane;
    if (lesson && ui.workspace.lesson.is_open()) {
      const viz::Rect place = on_screen(places.lesson);
      draw_lesson_to_audience(ui, place, narration_em(ui.em));
      lecture.shown.push_back({"lesson", place, narration_em(ui.em)});
    }
    if (lecture.has_spotlight()) draw_spotlight(ui, corner, size);
  }
  ImGui::End();
}

}  // namespace triescope::app

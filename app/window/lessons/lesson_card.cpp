#include "app/window/lessons/lesson_card.h"

#include "app/window/shell/style.h"
#include "viz/canvas/imgui_canvas.h"
#include "viz/draw/drawing.h"

namespace triescope::app {
namespace {

constexpr float kCardPadEm = 0.8f;

}  // namespace

LessonCard::LessonCard(Ui& ui, float width, viz::Color edge) : ui_(ui), width_(width), edge_(edge) {
  splitter_.Split(ImGui::GetWindowDrawList(), 2);
  splitter_.SetCurrentChannel(ImGui::GetWindowDrawList(), 1);
  at_ = ImGui::GetCursorScreenPos();
  const float pad = ui.em * kCardPadEm;
  ImGui::SetCursorScreenPos(ImVec2(at_.x + pad, at_.y + pad * 0.8f));
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + inner());
}

LessonCard::~LessonCard() {
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + ui_.em * kCardPadEm * 0.8f;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  splitter_.SetCurrentChannel(list, 0);
  list->AddRectFilled(at_, ImVec2(at_.x + width_, bottom), to_imgui(ui_.theme.surface),
                      ui_.em * 0.3f);
  list->AddRectFilled(at_, ImVec2(at_.x + ui_.em * 0.22f, bottom), to_imgui(edge_), ui_.em * 0.1f);
  splitter_.Merge(list);
  ImGui::SetCursorScreenPos(at_);
  ImGui::Dummy(ImVec2(width_, bottom - at_.y + ui_.em * 0.4f));
}

float LessonCard::inner() const { return width_ - 2 * ui_.em * kCardPadEm; }

void bold_line(Ui& ui, const std::string& text) {
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

void marked_line(Ui& ui, const viz::Mark& mark, const std::string& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  viz::draw_glyph(canvas, mark.glyph,
                  {at.x + ui.em * 0.5f, at.y + ImGui::GetTextLineHeight() * 0.5f}, ui.em * 0.85f,
                  mark.color);
  ImGui::SetCursorScreenPos(ImVec2(at.x + ui.em * 1.4f, at.y));
  bold_line(ui, text);
}

}  // namespace triescope::app

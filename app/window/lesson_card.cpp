#include "app/window/lesson_card.h"

#include "app/window/style.h"

namespace triescope::app {
namespace {

constexpr float kPadEm = 0.8f;

}  // namespace

LessonCard::LessonCard(Ui& ui, float width, viz::Color edge) : ui_(ui), width_(width), edge_(edge) {
  splitter_.Split(ImGui::GetWindowDrawList(), 2);
  splitter_.SetCurrentChannel(ImGui::GetWindowDrawList(), 1);
  at_ = ImGui::GetCursorScreenPos();
  const float pad = ui.em * kPadEm;
  ImGui::SetCursorScreenPos(ImVec2(at_.x + pad, at_.y + pad * 0.8f));
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + inner());
}

LessonCard::~LessonCard() {
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + ui_.em * kPadEm * 0.8f;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  splitter_.SetCurrentChannel(list, 0);
  list->AddRectFilled(at_, ImVec2(at_.x + width_, bottom), to_imgui(ui_.theme.surface),
                      ui_.em * 0.3f);
  list->AddRectFilled(at_, ImVec2(at_.x + ui_.em * 0.22f, bottom), to_imgui(edge_), ui_.em * 0.1f);
  splitter_.Merge(list);
  ImGui::SetCursorScreenPos(at_);
  ImGui::Dummy(ImVec2(width_, bottom - at_.y + ui_.em * 0.4f));
}

float LessonCard::inner() const { return width_ - 2 * ui_.em * kPadEm; }

void bold_line(Ui& ui, const std::string& text) {
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

void target(Ui& ui, const std::string& name) {
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  ui.press_targets.push_back({name, {a.x, a.y, b.x - a.x, b.y - a.y}});
}

}  // namespace triescope::app

// Two runs side by side: the strip that names them and shows what differs, and the pair of panels
// in a pane.
#include <algorithm>
#include <cmath>

#include "app/window/compare/compare_header.h"
#include "app/window/compare/ui_compare.h"
#include "app/window/shell/line_fit.h"
#include "app/window/shell/style.h"
#include "viz/draw/node_text.h"
#include "viz/text/timed_text.h"

namespace triescope::app {
namespace {

constexpr float kMinBesideEm = 13;  // of each of two panels that stand side by side
constexpr float kLowPaneEm = 18;    // of two panels, below which a picture needs the legend's room

std::string token_at(const Document& document, std::int32_t node) {
  viz::Scene scene;
  scene.capture = document.capture.get();
  return viz::node_text(scene, node, 16);
}

}  // namespace

float draw_compare_strip(Ui& ui, float width) {
  Document& left = *ui.workspace.active();
  Document* const right = ui.workspace.comparison.partner();
  const ImVec4 difference = to_imgui_vec(ui.theme.difference);
  // The strip has the same height with and without a second run.
  const bool beside = width >= ui.em * 60;
  const int lines = beside ? 2 : 1;  // of figures, for each run
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float height =
      line * static_cast<float>(beside ? 1 + lines : 2 * (1 + lines)) + ImGui::GetFrameHeight();
  if (!right) {
    command_button(ui, "compare-with", "Choose the second run…");
    return height;
  }
  ImGui::BeginGroup();
  const float left_edge = ImGui::GetCursorScreenPos().x;
  const viz::CompareFigures of_left = viz::compare_figures(*left.capture, left.cursor),
                            of_right = viz::compare_figures(*right->capture, right->cursor);
  const auto figures = header_figures(of_left, of_right),
             other_figures = header_figures(of_right, of_left);
  const float room = (beside ? width / 2 : width) - ui.em;
  std::vector<float> widths;
  for (const HeaderFigure& figure : figures)
    widths.push_back(ImGui::CalcTextSize(("≠ " + figure.widest).c_str()).x + ui.em * 0.8f);
  const auto places = place_figures(widths, figures, room, lines);
  const auto side = [&](const Document& document, const std::vector<HeaderFigure>& own,
                        const std::vector<HeaderFigure>& others) {
    // Each figure has a place of its own, so that nothing moves while figures change.
    const ImVec2 begin = ImGui::GetCursorScreenPos();
    const bool timed = document.capture->run().timed_while_drawing;
    const float mark = timed ? ImGui::CalcTextSize(viz::kTimedWhileDrawing).x + ui.em * 0.8f : 0;
    ImGui::PushFont(ui.fonts.ui_bold, 0);
    text_fitted(document.title, room - mark);
    ImGui::PopFont();
    if (timed) {
      ImGui::SameLine(0, ui.em * 0.8f);
      ImGui::TextDisabled("%s", viz::kTimedWhileDrawing);
      help_tooltip(viz::kTimedWhileDrawingHelp, ui.em);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!places[i]) continue;
      const bool differs = own[i].text != others[i].text;
      ImGui::SetCursorScreenPos(
          ImVec2(begin.x + places[i]->x, begin.y + line * static_cast<float>(1 + places[i]->line)));
      ImGui::PushStyleColor(ImGuiCol_Text, differs ? difference : to_imgui_vec(ui.theme.text_dim));
      ImGui::TextUnformatted(((differs ? "≠ " : "") + own[i].text).c_str());
      ImGui::PopStyleColor();
      help_tooltip(own[i].text + "\n" + own[i].help, ui.em);
    }
    ImGui::SetCursorScreenPos(ImVec2(begin.x, begin.y + line * static_cast<float>(1 + lines)));
    ImGui::Dummy(ImVec2(0, 0));
  };
  // The heads stand as the panels below: side by side, or one under the other in a narrow window.
  if (beside) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    side(left, figures, other_figures);
    ImGui::EndGroup();
    ImGui::SetCursorScreenPos(ImVec2(at.x + width / 2, at.y));
    ImGui::BeginGroup();
    side(*right, other_figures, figures);
    ImGui::EndGroup();
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + line * static_cast<float>(1 + lines)));
  } else {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    side(left, figures, other_figures);
    // The place leaves out the spacing between items, which `height` does not count.
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + line * static_cast<float>(1 + lines)));
    side(*right, other_figures, figures);
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + line * static_cast<float>(2 * (1 + lines))));
  }

  const viz::Twins& twins = left.twins;
  FirstDifference first{.prompts_differ = left.capture->run().prompt_tokens !=
                                          right->capture->run().prompt_tokens};
  if (twins.parting_node >= 0 && right->twins.parting_node >= 0)
    first = {.count = std::max<std::size_t>(1, twins.partings.size()),
             .token = left.capture->nodes()[static_cast<std::size_t>(twins.parting_node)].depth,
             .left = token_at(left, twins.parting_node),
             .right = token_at(*right, right->twins.parting_node),
             .left_step = twins.parting_step,
             .right_step = right->twins.parting_step,
             .prompts_differ = first.prompts_differ};
  const std::vector<std::string> wordings = difference_wordings(first);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("cursor by");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ui.em * 6.5f);
  if (ImGui::BeginCombo("##along", viz::to_string(ui.workspace.comparison.along()))) {
    for (const viz::Along along : viz::all_alongs())
      if (ImGui::Selectable(viz::to_string(along), along == ui.workspace.comparison.along()))
        ui.workspace.comparison.set_along(along);
    ImGui::EndCombo();
  }
  help_tooltip(
      "What the shared cursor counts. tokens: both runs have emitted equally many, and the one "
      "that emits more a step waits; text: the same, and behind a difference from where the texts "
      "agree again; steps: the same step and phase; time: the same time of decoding since prefill.",
      ui.em);
  ImGui::SameLine();
  ImGui::BeginDisabled(twins.parting_node < 0);
  command_button(ui, "go-difference", "First ≠");
  ImGui::SameLine();
  command_button(ui, "next-difference", "Next ≠");
  ImGui::EndDisabled();
  ImGui::SameLine();
  command_button(ui, "compare-with", "Other…");
  ImGui::SameLine();
  line_fitted(
      wording_that_fits(wordings, left_edge + width - ImGui::GetCursorScreenPos().x - ui.em * 0.5f,
                        line_width),
      wordings.front());
  ImGui::EndGroup();
  return height;
}

void draw_compare_pair(Ui& ui, const std::string& panel, viz::Rect area, Document& left) {
  Document* const right = ui.workspace.comparison.partner();
  const float gap = std::max(2.0f, std::round(ui.em * 0.25f));
  const bool beside = area.w >= 2 * ui.em * kMinBesideEm;
  viz::Rect a = area, b = area;
  if (beside) {
    a.w = std::floor((area.w - gap) / 2);
    b.x = area.x + a.w + gap;
    b.w = area.right() - b.x;
  } else {
    a.h = std::floor((area.h - gap) / 2);
    b.y = area.y + a.h + gap;
    b.h = area.bottom() - b.y;
  }
  // In low panes a legend has one row, and two runs of one method have one legend.
  const bool low = a.h < ui.em * kLowPaneEm;
  if (low) ui.legend = viz::LegendRoom::kRow;
  ImGui::PushID("left");
  draw_panel(ui, *left.panel(panel), a, left);
  ImGui::PopID();
  if (low && right && right->capture->run().method == left.capture->run().method)
    ui.legend = viz::LegendRoom::kNone;
  const viz::Rect line = beside ? viz::Rect{a.right(), area.y, gap, area.h}
                                : viz::Rect{area.x, a.bottom(), area.w, gap};
  ImGui::GetWindowDrawList()->AddRectFilled(
      ImVec2(line.x, line.y), ImVec2(line.right(), line.bottom()), to_imgui(ui.theme.border));
  if (right) {
    ImGui::PushID("right");
    draw_panel(ui, *right->panel(panel), b, *right);
    ImGui::PopID();
  }
  ui.legend = viz::LegendRoom::kPane;
  if (right) return;
  ImGui::SetCursorScreenPos(ImVec2(b.x + ui.em * 0.6f, b.y + ui.em * 0.4f));
  ImGui::BeginChild("no second run",
                    ImVec2(std::max(1.0f, b.w - ui.em), std::max(1.0f, b.h - ui.em)));
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "The second run goes here: start another one, or choose a capture with Ctrl+D.");
  ImGui::PopTextWrapPos();
  ImGui::EndChild();
}

}  // namespace triescope::app

#include "app/window/shell/style.h"

namespace triescope::app {

void apply_style(const viz::Theme& theme, float em) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.FontSizeBase = em;
  if (theme.dark) {
    ImGui::StyleColorsDark(&style);
  } else {
    ImGui::StyleColorsLight(&style);
  }
  style.WindowPadding = ImVec2(em * 0.6f, em * 0.5f);
  style.FramePadding = ImVec2(em * 0.5f, em * 0.28f);
  style.ItemSpacing = ImVec2(em * 0.5f, em * 0.38f);
  style.ItemInnerSpacing = ImVec2(em * 0.4f, em * 0.3f);
  style.CellPadding = ImVec2(em * 0.4f, em * 0.2f);
  style.IndentSpacing = em * 1.2f;
  style.ScrollbarSize = em * 0.8f;
  style.GrabMinSize = em * 0.7f;
  style.WindowRounding = style.PopupRounding = em * 0.35f;
  style.ChildRounding = em * 0.25f;
  style.FrameRounding = style.GrabRounding = style.TabRounding = em * 0.25f;
  style.WindowBorderSize = style.PopupBorderSize = 1;
  style.ChildBorderSize = style.FrameBorderSize = 0;

  const auto set = [&](ImGuiCol slot, viz::Color color) {
    style.Colors[slot] = to_imgui_vec(color);
  };
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_TextDisabled, theme.text_dim);
  set(ImGuiCol_WindowBg, theme.background);
  set(ImGuiCol_ChildBg, theme.background);
  set(ImGuiCol_PopupBg, theme.surface);
  set(ImGuiCol_MenuBarBg, theme.surface);
  set(ImGuiCol_Border, theme.border);
  set(ImGuiCol_FrameBg, theme.raised);
  // The page's own colour, on which hints can be read too.
  set(ImGuiCol_FrameBgHovered, theme.background);
  set(ImGuiCol_FrameBgActive, theme.background);
  set(ImGuiCol_Button, theme.raised);
  set(ImGuiCol_ButtonHovered, theme.border);
  set(ImGuiCol_ButtonActive, theme.accent.with_alpha(0.5f));
  set(ImGuiCol_Header, theme.accent.with_alpha(0.28f));
  set(ImGuiCol_HeaderHovered, theme.accent.with_alpha(0.38f));
  set(ImGuiCol_HeaderActive, theme.accent.with_alpha(0.5f));
  set(ImGuiCol_CheckMark, theme.accent);
  set(ImGuiCol_SliderGrab, theme.accent);
  set(ImGuiCol_SliderGrabActive, theme.accent);
  set(ImGuiCol_PlotHistogram, theme.accent);
  set(ImGuiCol_Separator, theme.border);
  set(ImGuiCol_ScrollbarBg, theme.background);
  set(ImGuiCol_ScrollbarGrab, theme.border);
  set(ImGuiCol_ScrollbarGrabHovered, theme.text_dim);
  set(ImGuiCol_ScrollbarGrabActive, theme.text_dim);
  set(ImGuiCol_TextSelectedBg, theme.accent.with_alpha(0.35f));
  set(ImGuiCol_TitleBg, theme.surface);
  set(ImGuiCol_TitleBgActive, theme.surface);
  set(ImGuiCol_NavCursor, theme.accent);
  set(ImGuiCol_Tab, theme.surface);
  set(ImGuiCol_TabHovered, theme.border);
  set(ImGuiCol_TabSelected, theme.raised);
  set(ImGuiCol_TabDimmed, theme.surface);
  set(ImGuiCol_TabDimmedSelected, theme.raised);
  set(ImGuiCol_TableRowBgAlt, theme.raised.with_alpha(0.35f));
  set(ImGuiCol_ModalWindowDimBg, viz::Color{0, 0, 0, 110});
}

}  // namespace triescope::app

// Dear ImGui without a window: frames are built and thrown away.
#pragma once

#include <imgui.h>

namespace triescope::test {

class HeadlessImGui {
 public:
  explicit HeadlessImGui(ImVec2 size) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = size;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
  }
  ~HeadlessImGui() {
    ImGui::GetPlatformIO().Textures.clear();
    for (ImTextureData* texture : ImGui::GetIO().Fonts->TexList) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
    ImGui::DestroyContext();
  }
  HeadlessImGui(const HeadlessImGui&) = delete;
  HeadlessImGui& operator=(const HeadlessImGui&) = delete;
};

}  // namespace triescope::test

#include "app/window/shell/ui_files.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cstdlib>
#include <filesystem>

#include "app/window/shell/ui.h"

namespace triescope::app {

namespace fs = std::filesystem;

bool FileBrowser::draw(float height) {
  std::error_code ec;
  if (folder.empty() || !fs::is_directory(folder, ec)) {
    folder = fs::current_path(ec).string();
    if (ec) folder = "/";
  }
  bool chosen = false;
  const float button = ImGui::CalcTextSize("Home").x + ImGui::CalcTextSize("Up").x +
                       ImGui::GetStyle().FramePadding.x * 4 + ImGui::GetStyle().ItemSpacing.x * 2;
  line_fitted(middle_fitted(folder, ImGui::GetContentRegionAvail().x - button), folder);
  ImGui::SameLine(ImGui::GetContentRegionAvail().x - button + ImGui::GetStyle().ItemSpacing.x);
  if (ImGui::SmallButton("Up")) folder = fs::path(folder).parent_path().string();
  ImGui::SameLine();
  if (const char* home = std::getenv("HOME"); ImGui::SmallButton("Home") && home) folder = home;

  struct Entry {
    std::string name;
    bool is_folder;
  };
  std::vector<Entry> entries;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, ec), end;
       !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    const bool is_folder = it->is_directory(ignored);
    const bool wanted = std::find(extensions.begin(), extensions.end(),
                                  it->path().extension().string()) != extensions.end();
    const bool is_hidden = !name.empty() && name[0] == '.' && name != ".deps";
    if (is_hidden || (!is_folder && !wanted)) continue;
    entries.push_back({name, is_folder});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  ImGui::BeginChild("files", ImVec2(0, height),
                    ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened);
  if (ec) ImGui::TextWrapped("%s: %s", folder.c_str(), ec.message().c_str());
  if (entries.empty() && !ec) ImGui::TextDisabled("No folders and no matching files here.");
  std::string enter;
  for (const Entry& entry : entries) {
    const std::string full = (fs::path(folder) / entry.name).string();
    const bool model_folder = entry.is_folder && fs::exists(fs::path(full) / "config.json", ec);
    const std::string label = entry.name + (model_folder      ? "/   (model)"
                                            : entry.is_folder ? "/"
                                                              : "");
    if (!ImGui::Selectable(label.c_str(), path == full, ImGuiSelectableFlags_AllowDoubleClick))
      continue;
    if (entry.is_folder && !model_folder) {
      enter = full;
    } else {
      path = full;
      chosen = ImGui::IsMouseDoubleClicked(0);
    }
  }
  ImGui::EndChild();
  if (!enter.empty()) folder = enter;
  ImGui::SetNextItemWidth(-FLT_MIN);
  chosen |= ImGui::InputTextWithHint("##path", "path", &path, ImGuiInputTextFlags_EnterReturnsTrue);
  return chosen && !path.empty();
}

}  // namespace triescope::app

#include "app/window/shell/keyboard_walk.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace triescope::app {

namespace {
// Frames to wait, because Dear ImGui moves its focus a frame after the key.
constexpr int kPatience = 4, kPatienceWithGone = 2;
}  // namespace

void KeyboardWalk::begin() {
  // Tab finds no way on from an item that was disabled meanwhile, so the walk begins from the
  // start.
  if (ImGui::GetCurrentContext()->NavIdItemFlags & ImGuiItemFlags_Disabled)
    ImGui::SetNavCursorVisible(false);
  on_ = true;
  frames_ = 0;
}

void KeyboardWalk::end() {
  on_ = false;
  ImGui::SetNavCursorVisible(false);
}

bool KeyboardWalk::has_focus() const { return on_ && ImGui::GetIO().NavVisible; }

void KeyboardWalk::update() {
  ImGuiIO& io = ImGui::GetIO();
  const bool waits =
      io.WantTextInput || io.KeyAlt || ImGui::GetCurrentContext()->OpenPopupStack.Size > 0;
  if (on_ && !io.NavVisible && !waits && ++frames_ > kPatience) on_ = false;
  if (io.NavVisible || waits) frames_ = 0;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  gone_ = has_focus() && !waits && context.NavId != 0 && !context.NavIdIsAlive ? gone_ + 1 : 0;
  io.ConfigNavEscapeClearFocusItem = false;  // leave_innermost() says what Escape ends
  io.ConfigFlags = on_ ? io.ConfigFlags | ImGuiConfigFlags_NavEnableKeyboard
                       : io.ConfigFlags & ~ImGuiConfigFlags_NavEnableKeyboard;
}

void KeyboardWalk::revive() {
  ImGuiWindow* const window = ImGui::GetCurrentContext()->NavWindow;
  if (gone_ < kPatienceWithGone || !window) return;
  gone_ = 0;
  ImGui::FocusWindow(window->RootWindow);
  ImGui::NavInitWindow(window->RootWindow, /*force_reinit=*/true);
}

bool has_walk_focus() { return ImGui::GetIO().NavVisible && ImGui::IsItemFocused(); }

bool keys_lead() {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  return context.NavCursorVisible && context.NavHighlightItemUnderNav;
}

void draw_walk_ring(const viz::Rect& area, ImU32 color, float em) {
  const float width = std::max(2.0f, em * 0.16f), half = width / 2;
  ImGui::GetWindowDrawList()->AddRect(ImVec2(area.x + half, area.y + half),
                                      ImVec2(area.right() - half, area.bottom() - half), color,
                                      em * 0.15f, width);
}

void own_keys(std::initializer_list<ImGuiKey> keys) {
  for (const ImGuiKey key : keys) ImGui::SetKeyOwner(key, ImGui::GetItemID());
}

bool owned_key(ImGuiKey key) {
  return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, ImGui::GetItemID());
}

std::int32_t node_beside(const std::vector<viz::HitBox>& boxes, std::int32_t from, int x, int y) {
  if (boxes.empty()) return -1;
  const auto start = std::ranges::find(boxes, from, &viz::HitBox::node);
  if (from == -1 || start == boxes.end())
    return std::ranges::min_element(
               boxes, {}, [](const viz::HitBox& one) { return std::pair(one.box.y, one.box.x); })
        ->node;
  const auto middle = [](const viz::Rect& box) {
    return viz::Point{box.x + box.w / 2, box.y + box.h / 2};
  };
  const viz::Point at = middle(start->box);
  std::int32_t best = -1;
  float least = std::numeric_limits<float>::infinity();
  for (const viz::HitBox& one : boxes) {
    if (one.node == from) continue;
    const viz::Point to = middle(one.box);
    const float along =
        (to.x - at.x) * static_cast<float>(x) + (to.y - at.y) * static_cast<float>(y);
    const float aside = std::abs(x != 0 ? to.y - at.y : to.x - at.x);
    if (along < 1 || along + 2 * aside >= least) continue;
    least = along + 2 * aside;
    best = one.node;
  }
  return best;
}

}  // namespace triescope::app

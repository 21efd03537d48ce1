#include "app/window/frame_picture.h"

#include <imgui.h>

#include <array>
#include <span>

#include "core/base/hash.h"

namespace triescope::app {
namespace {

template <typename T>
void add(std::uint64_t& hash, std::span<const T> values) {
  hash = hash_bytes(std::as_bytes(values), hash);
}

}  // namespace

std::optional<std::uint64_t> picture_hash(const ImDrawData& frame) {
  if (frame.Textures)
    for (const ImTextureData* texture : *frame.Textures)
      if (texture->Status != ImTextureStatus_OK) return {};
  std::uint64_t hash = 0;
  add<float>(hash,
             std::array{frame.DisplayPos.x, frame.DisplayPos.y, frame.DisplaySize.x,
                        frame.DisplaySize.y, frame.FramebufferScale.x, frame.FramebufferScale.y});
  for (const ImDrawList* list : frame.CmdLists) {
    add<ImDrawVert>(hash, {list->VtxBuffer.Data, static_cast<std::size_t>(list->VtxBuffer.Size)});
    add<ImDrawIdx>(hash, {list->IdxBuffer.Data, static_cast<std::size_t>(list->IdxBuffer.Size)});
    for (const ImDrawCmd& command : list->CmdBuffer) {
      if (command.UserCallback) return {};
      add<float>(hash, std::array{command.ClipRect.x, command.ClipRect.y, command.ClipRect.z,
                                  command.ClipRect.w});
      add<std::uint64_t>(hash, std::array<std::uint64_t, 4>{command.GetTexID(), command.ElemCount,
                                                            command.IdxOffset, command.VtxOffset});
    }
  }
  return hash;
}

}  // namespace triescope::app

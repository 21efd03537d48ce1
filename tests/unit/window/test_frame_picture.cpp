// Frames that draw the same picture have the same hash, and no others do.
#include "app/window/frame_picture.h"

#include <doctest/doctest.h>
#include <imgui.h>

namespace triescope::app::test_frame_picture {
namespace {

struct Frame {
  Frame() {
    for (int i = 0; i < 3; ++i) {
      list.VtxBuffer.push_back({{10.0f * static_cast<float>(i), 5}, {0, 0}, 0xFF00FF00});
      list.IdxBuffer.push_back(static_cast<ImDrawIdx>(i));
    }
    ImDrawCmd command;
    command.ClipRect = {0, 0, 100, 100};
    command.TexRef = ImTextureRef(7);
    command.ElemCount = 3;
    list.CmdBuffer.push_back(command);
    data.DisplaySize = {100, 100};
    data.FramebufferScale = {1, 1};
    data.CmdLists.push_back(&list);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  ImDrawList list{nullptr};
  ImDrawData data;
};

TEST_CASE("frame picture: the same frame has one hash, and every change another") {
  const Frame one, same;
  const auto hash = picture_hash(one.data);
  REQUIRE(hash.has_value());
  CHECK(picture_hash(same.data) == hash);
  const auto differs = [&](auto change) {
    Frame other;
    change(other);
    const auto found = picture_hash(other.data);
    return found.has_value() && found != hash;
  };
  CHECK(differs([](Frame& f) { f.list.VtxBuffer[1].pos.x += 0.25f; }));
  CHECK(differs([](Frame& f) { f.list.VtxBuffer[2].col = 0xFF00FF01; }));
  CHECK(differs([](Frame& f) { f.list.IdxBuffer[0] = 1; }));
  CHECK(differs([](Frame& f) { f.list.CmdBuffer[0].ClipRect.z = 50; }));
  CHECK(differs([](Frame& f) { f.list.CmdBuffer[0].TexRef = ImTextureRef(8); }));
  CHECK(differs([](Frame& f) { f.list.CmdBuffer[0].ElemCount = 0; }));
  CHECK(differs([](Frame& f) { f.data.DisplaySize.x = 101; }));
  CHECK(differs([](Frame& f) { f.data.FramebufferScale.y = 2; }));
  CHECK(differs([](Frame& f) { f.data.CmdLists.push_back(&f.list); }));
  CHECK(differs([](Frame& f) { f.data.CmdLists.clear(); }));
}

TEST_CASE("frame picture: a texture that waits, or a command that draws by itself, has no hash") {
  Frame frame;
  ImVector<ImTextureData*> textures;
  ImTextureData texture;
  textures.push_back(&texture);
  frame.data.Textures = &textures;
  texture.SetStatus(ImTextureStatus_OK);
  CHECK(picture_hash(frame.data).has_value());
  texture.SetStatus(ImTextureStatus_WantUpdates);
  CHECK_FALSE(picture_hash(frame.data).has_value());
  texture.SetStatus(ImTextureStatus_OK);
  frame.list.CmdBuffer[0].UserCallback = [](const ImDrawList*, const ImDrawCmd*) {};
  CHECK_FALSE(picture_hash(frame.data).has_value());
}

}  // namespace
}  // namespace triescope::app::test_frame_picture

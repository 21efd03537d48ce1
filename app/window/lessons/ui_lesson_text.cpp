// A lesson's text on the screen: lines, links that can be pressed, pictures.
#include <imgui.h>

#include <algorithm>

#include "app/window/lessons/ui_lesson_parts.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

using lessons::Link;

std::string tooltip_of(const Link& link) {
  if (link.kind == Link::Kind::kWeb)
    return link.target.pieces.front().text + "\nA click copies the address.";
  if (link.kind == Link::Kind::kLesson) return "Opens this lesson.";
  return {};
}

// Draws a link's button and acts on a press or on hovering over it.
void link_button(Ui& ui, const LessonRun& run, const ImVec2& at, int id) {
  LessonPlayer& lesson = ui.workspace.lesson;
  ImGui::PushID(id);
  ImGui::SetCursorScreenPos(ImVec2(at.x + run.box.x, at.y + run.box.y));
  const bool pressed = ImGui::InvisibleButton("link", ImVec2(std::max(1.0f, run.box.w), run.box.h),
                                              ImGuiButtonFlags_EnableNav);
  const bool over = ImGui::IsItemHovered();
  name_part(ui, "link " + std::to_string(id));
  ImGui::PopID();
  const viz::Color color = run.style.color;
  const float y = at.y + run.box.y + run.box.h / 2 + run.style.size_px * 0.58f;
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  canvas.line({at.x + run.box.x, y}, {at.x + run.box.right(), y}, color,
              std::max(1.0f, ui.em * 0.07f),
              over ? viz::LineStyle::kSolid : viz::LineStyle::kDotted);
  if (over) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (const std::string text = tooltip_of(*run.link); !text.empty()) help_tooltip(text, ui.em);
    Document* const document = lesson.document();
    if (const std::int32_t node = lesson.node_of(*run.link); document && node != -1) {
      document->focus.hovered = node;
      ui.animating = true;
    }
  }
  if (!pressed) return;
  if (run.link->kind == Link::Kind::kWeb) {
    ui.state.copy = run.link->target.pieces.front().text;
    return ui.workspace.say(LogLevel::kInfo, "copied " + ui.state.copy);
  }
  try {
    lesson.follow(Link(*run.link));  // copied, because the lesson may change while it is followed
  } catch (const std::exception& error) {
    ui.workspace.say(LogLevel::kError, error.what());
  }
  ui.animating = true;
}

const LessonTexture& texture_of(Ui& ui, const std::string& file) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  return ui.state.lesson_textures.picture(lesson.lesson(), lesson.version(), file);
}

void draw_picture(Ui& ui, const LessonPicture& picture, const viz::Rect& box) {
  const LessonTexture& texture = texture_of(ui, picture.file);
  ImGui::SetCursorScreenPos(ImVec2(box.x, box.y));
  if (picture.shown)
    ImGui::Image(texture.id, ImVec2(box.w, box.h));
  else
    ImGui::Dummy(ImVec2(box.w, box.h));
  name_part(ui, "picture " + picture.file);
  if (ImGui::IsItemHovered()) help_tooltip(picture.shown ? picture.text : texture.problem, ui.em);
}

}  // namespace

LessonText laid_out(Ui& ui, const lessons::Block& block, float width) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  const LessonLook look{
      ui.theme, ui.em, [&](const lessons::Expression& e) { return lesson.text_of(e); },
      [&](const std::string& file) {
        const PictureSize size = texture_of(ui, file).size;
        return viz::Point{static_cast<float>(size.width), static_cast<float>(size.height)};
      }};
  return lay_out_lesson(canvas, block, width, look);
}

void paint_text(Ui& ui, const LessonText& text, ImVec2 at) {
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  const auto moved = [&](viz::Rect box) {
    return viz::Rect{at.x + box.x, at.y + box.y, box.w, box.h};
  };
  for (const viz::Rect& ground : text.grounds)
    canvas.fill_rect(moved(ground), ui.theme.raised, ui.em * 0.2f);
  for (const viz::Rect& rule : text.rules) canvas.fill_rect(moved(rule), ui.theme.border, 0);
  for (const LessonRun& run : text.runs) {
    const viz::Rect box = moved(run.box);
    if (run.code)
      canvas.fill_rect({box.x - ui.em * 0.1f, box.y + ui.em * 0.12f, box.w + ui.em * 0.2f,
                        box.h - ui.em * 0.24f},
                       ui.theme.raised, ui.em * 0.2f);
    const float height = canvas.measure(run.text, run.style).y;
    canvas.text({box.x, box.y + (box.h - height) / 2}, run.text, run.style);
  }
  for (const viz::Rect& stroke : text.strokes) canvas.fill_rect(moved(stroke), ui.theme.text, 0);
  ui.note_text(canvas.smallest_text());
}

void draw_block(Ui& ui, const lessons::Block& block, float width, int& links) {
  const LessonText text = laid_out(ui, block, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(ui, text, at);
  for (const LessonPicture& picture : text.pictures)
    draw_picture(ui, picture,
                 {at.x + picture.box.x, at.y + picture.box.y, picture.box.w, picture.box.h});
  for (const LessonRun& run : text.runs)
    if (run.link) link_button(ui, run, at, links++);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, text.height));
}

void draw_bold_text(Ui& ui, const lessons::Marked& text, float width, int& links) {
  lessons::Block block = text.block;
  block.kind = lessons::Block::Kind::kHeading;
  draw_block(ui, block, width, links);
}

}  // namespace triescope::app

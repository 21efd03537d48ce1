#include "viz/narration/values.h"

#include <utility>

#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr int kMaxChars = 24;

Value of(std::string name, std::string text, double number, Target target) {
  Part part{.text = std::move(text), .target = std::move(target), .fact = name, .number = number};
  return {std::move(name), {std::move(part)}, number};
}

std::string quoted(const capture::Capture& capture, std::int32_t token) {
  return "'" + token_text(capture.piece(token), kMaxChars) + "'";
}

}  // namespace

Target to_node(std::int32_t node) {
  return {.kind = Target::Kind::kNode, .id = node, .node = node};
}

Target to_panel(std::string_view panel) {
  return {.kind = Target::Kind::kPanel, .panel = std::string(panel)};
}

Target to_step(capture::Tick tick) { return {.kind = Target::Kind::kStep, .id = tick}; }

Target to_slot(const capture::Capture& capture, std::int32_t slot, capture::Tick cursor,
               capture::Whose whose) {
  if (slot < 0) return {};
  const std::int32_t node = capture.slot_at(slot, cursor, whose).node;
  return {.kind = Target::Kind::kSlot, .id = slot, .node = node};
}

std::string to_string(const Target& target) {
  switch (target.kind) {
    case Target::Kind::kNode:
      return "node/" + std::to_string(target.id);
    case Target::Kind::kSlot:
      return "slot/" + std::to_string(target.id);
    case Target::Kind::kStep:
      return "step/" + std::to_string(capture::step_of(target.id)) + "/" +
             capture::to_string(capture::phase_of(target.id));
    case Target::Kind::kPanel:
      return "panel/" + target.panel;
    case Target::Kind::kNone:
      break;
  }
  return "";
}

Value count(std::string name, std::int64_t number, Target target) {
  return of(std::move(name), count_text(number), static_cast<double>(number), std::move(target));
}

Value ordinal(std::string name, std::int64_t number, Target target) {
  return of(std::move(name), std::to_string(number), static_cast<double>(number),
            std::move(target));
}

Value number(std::string name, double number, Target target, int digits) {
  return of(std::move(name), number_text(number, digits), number, std::move(target));
}

Value labelled(std::string name, std::string_view label, double number, int digits, Target target) {
  return of(std::move(name), std::string(label) + " = " + number_text(number, digits), number,
            std::move(target));
}

Value bytes(std::string name, double number, Target target) {
  return of(std::move(name), bytes_text(number), number, std::move(target));
}

Value duration(std::string name, double us, Target target) {
  return of(std::move(name), duration_text(us), us, std::move(target));
}

Value word(std::string name, std::string_view text, Target target) {
  return of(std::move(name), plain_text(text), std::numeric_limits<double>::quiet_NaN(),
            std::move(target));
}

Value node(const capture::Capture& capture, std::string name, std::int32_t node) {
  const auto known = static_cast<std::int32_t>(capture.nodes().size());
  Value value =
      of(std::move(name), "the prompt", std::numeric_limits<double>::quiet_NaN(), to_node(node));
  Part& part = value.parts.front();
  if (node <= -2) {
    const auto& prompt = capture.run().prompt_tokens;
    const auto at = static_cast<std::size_t>(-2 - node);
    part.text = at < prompt.size() ? quoted(capture, prompt[at]) : "a prompt token";
    part.is_token = at < prompt.size();
  } else if (node > 0 && node < known) {
    part.text = quoted(capture, capture.nodes()[static_cast<std::size_t>(node)].token);
    part.is_token = true;
  }
  return value;
}

Value token(const capture::Capture& capture, std::string name, std::int32_t token, Target target) {
  Value value = of(std::move(name), quoted(capture, token),
                   std::numeric_limits<double>::quiet_NaN(), std::move(target));
  value.parts.front().is_token = true;
  return value;
}

}  // namespace triescope::viz

#include "viz/draw/node_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "viz/draw/fault_text.h"
#include "viz/narration/reason_text.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {

std::string node_text(const Scene& scene, std::int32_t node, int max_chars) {
  const capture::Capture& capture = *scene.capture;
  if (node <= -2) {
    const auto index = static_cast<std::size_t>(-2 - node);
    const auto& prompt = capture.run().prompt_tokens;
    return index < prompt.size() ? token_text(capture.piece(prompt[index]), max_chars) : "?";
  }
  if (node == 0) return "prompt";
  if (node < 0 || node >= static_cast<std::int32_t>(capture.nodes().size())) return "";
  return token_text(capture.piece(capture.nodes()[static_cast<std::size_t>(node)].token),
                    max_chars);
}

std::int32_t node_position(const Scene& scene, std::int32_t node) {
  if (node <= -2) return -2 - node;
  const auto prompt = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
  return prompt + scene.capture->nodes()[static_cast<std::size_t>(node)].depth - 1;
}

std::string node_summary(const Scene& scene, std::int32_t node, capture::Whose whose) {
  if (node == -1) return "";
  const std::string text = node_text(scene, node);
  const std::int32_t slot = scene.capture->slot_of(node, scene.cursor, whose);
  std::string out =
      node <= -2 ? "prompt token " + std::to_string(-2 - node) : "node " + std::to_string(node);
  out += "  " + text + "  position " + std::to_string(node_position(scene, node));
  if (slot >= 0) out += "  slot " + std::to_string(slot);
  return out;
}

std::string difference_text(const Scene& scene, std::int32_t node) {
  if (!scene.differs(node)) return "";
  return scene.twins->twin_of(node) < 0 ? "≠ the other run has no such path"
                                        : "≠ kept in one of the two runs and not in the other";
}

namespace {

// Adds what is known of a node of the tree beside its place.
void describe_node(const Scene& scene, std::int32_t node, std::vector<std::string>& lines) {
  const capture::NodeView view = scene.capture->node_at(node, scene.cursor);
  lines.push_back(std::string(capture::to_string(view.state)) + ", from " +
                  std::string(scene.capture->source_of(view.row)));
  if (!std::isnan(view.row.logprob))
    lines.push_back("log p(token | path) = " + logprob_text(view.row.logprob) +
                    ",  p = " + number_text(std::exp(view.row.logprob)));
  if (!std::isnan(view.row.score))
    lines.push_back("Σ log p over the path = " + logprob_text(view.row.score));
  if (view.beam_rank >= 0)
    lines.push_back("on the path of beam " + std::to_string(view.beam_rank + 1));
  if (const auto verdict = scene.capture->verdict_at(node, scene.cursor))
    if (std::string reason = reason_text(*verdict, *scene.capture); !reason.empty())
      lines.push_back(std::move(reason));
  if (const std::string difference = difference_text(scene, node); !difference.empty())
    lines.push_back(difference);
}

}  // namespace

std::vector<std::string> node_tooltip(const Scene& scene, std::int32_t node) {
  std::vector<std::string> lines = {node_summary(scene, node)};
  if (node > 0) describe_node(scene, node, lines);
  if (const std::string_view glyph = fault_glyph(fault_mark(scene, node)); !glyph.empty())
    for (const std::string& line : all_fault_lines(scene, node))
      lines.push_back(std::string(glyph) + " " + line);
  return lines;
}

}  // namespace triescope::viz

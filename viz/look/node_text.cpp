#include "viz/look/node_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "viz/words/number_text.h"
#include "viz/words/token_text.h"

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

std::string reason_text(const capture::Capture& capture, std::string_view reason) {
  constexpr std::string_view kWord = "token ";
  std::string out;
  std::size_t at = 0;
  while (at < reason.size()) {
    const std::size_t found = reason.find(kWord, at);
    if (found == std::string_view::npos) break;
    const char* begin = reason.data() + found + kWord.size();
    std::int32_t token = -1;
    const auto [end, error] = std::from_chars(begin, reason.data() + reason.size(), token);
    const bool whole = found == 0 || reason[found - 1] == ' ' || reason[found - 1] == '(';
    out += reason.substr(at, found - at);
    if (error != std::errc() || token < 0 || !whole) {
      out += kWord;
      at = found + kWord.size();
      continue;
    }
    out += "'" + token_text(capture.piece(token)) + "'";
    at = static_cast<std::size_t>(end - reason.data());
  }
  return out + std::string(reason.substr(std::min(at, reason.size())));
}

std::int32_t node_position(const Scene& scene, std::int32_t node) {
  if (node <= -2) return -2 - node;
  const auto prompt = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
  return prompt + scene.capture->nodes()[static_cast<std::size_t>(node)].depth - 1;
}

std::string node_summary(const Scene& scene, std::int32_t node) {
  if (node == -1) return "";
  const std::string text = node_text(scene, node);
  const std::int32_t slot = scene.capture->slot_of(node, scene.cursor);
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

std::vector<std::string> node_tooltip(const Scene& scene, std::int32_t node) {
  std::vector<std::string> lines = {node_summary(scene, node)};
  if (node <= 0) return lines;
  const capture::NodeView view = scene.capture->node_at(node, scene.cursor);
  lines.push_back(std::string(capture::to_string(view.state)) + ", from " +
                  capture::to_string(view.row.source));
  if (!std::isnan(view.row.logprob))
    lines.push_back("log p(token | path) = " + number_text(view.row.logprob) +
                    ",  p = " + number_text(std::exp(view.row.logprob)));
  if (!std::isnan(view.row.score))
    lines.push_back("score = sum of log p over the path = " + number_text(view.row.score));
  if (view.beam_rank >= 0)
    lines.push_back("on the path of beam " + std::to_string(view.beam_rank + 1));
  if (const auto verdict = scene.capture->verdict_at(node, scene.cursor);
      verdict && !verdict->reason.empty())
    lines.push_back(reason_text(*scene.capture, verdict->reason));
  if (const std::string difference = difference_text(scene, node); !difference.empty())
    lines.push_back(difference);
  return lines;
}

}  // namespace triescope::viz

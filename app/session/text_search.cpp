#include "app/session/text_search.h"

#include "app/session/text_tools.h"
#include "viz/text/token_text.h"

namespace triescope::app {

std::vector<std::int32_t> nodes_with(const capture::Capture& capture, const std::string& query) {
  const std::string wanted = lower(query);
  if (wanted.empty()) return {};
  const auto nodes = capture.nodes();
  // A path's end is kept as far as a match may begin before the next token.
  const std::size_t keep = wanted.size() - 1;
  const auto end_of = [&](const std::string& text) {
    return text.size() > keep ? text.substr(text.size() - keep) : text;
  };
  std::vector<std::string> ends(nodes.size());
  std::string prompt;
  for (const std::int32_t token : capture.run().prompt_tokens)
    prompt = end_of(prompt + lower(std::string(capture.piece(token))));
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const capture::NodeRow& node = nodes[i];
    if (node.parent < 0) {
      ends[i] = prompt;
      continue;
    }
    const std::string_view piece = capture.piece(node.token);
    const std::string text =
        ends[static_cast<std::size_t>(node.parent)] + lower(std::string(piece));
    if (!capture::is_probe(node) &&
        (text.find(wanted) != std::string::npos ||
         lower(viz::token_text(piece)).find(wanted) != std::string::npos))
      found.push_back(node.node);
    ends[i] = end_of(text);
  }
  return found;
}

}  // namespace triescope::app

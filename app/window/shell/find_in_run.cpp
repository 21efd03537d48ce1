#include "app/window/shell/find_in_run.h"

#include <algorithm>

#include "app/session/text_tools.h"
#include "app/window/workspace/workspace.h"
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

std::size_t match_beside(const std::vector<std::int32_t>& nodes, std::int32_t from, int direction) {
  if (direction > 0) {
    const auto next = std::ranges::upper_bound(nodes, from);
    return next == nodes.end() ? 0 : static_cast<std::size_t>(next - nodes.begin());
  }
  const auto here = std::ranges::lower_bound(nodes, from);
  return (here == nodes.begin() ? nodes.size() : static_cast<std::size_t>(here - nodes.begin())) -
         1;
}

void FindInRun::update(const Workspace& workspace) {
  const Document* const document = workspace.active();
  const std::uint64_t serial = document ? document->serial : 0;
  const std::size_t nodes = document ? document->capture->nodes().size() : 0;
  if (serial == serial_ && nodes == nodes_ && query == found_for_) return;
  serial_ = serial;
  nodes_ = nodes;
  found_for_ = query;
  matches_ = document ? nodes_with(*document->capture, query) : std::vector<std::int32_t>{};
}

void FindInRun::go(Workspace& workspace, int direction) {
  update(workspace);
  Document* const document = workspace.active();
  if (!document || query.empty()) return;
  if (matches_.empty())
    return workspace.say(LogLevel::kInfo,
                         "'" + query + "' is neither in the text of this run nor in its drafts");
  std::int32_t from = document->focus.locked;
  if (from < 0) {
    const auto there =
        static_cast<std::int32_t>(document->capture->nodes_at(document->cursor).size());
    from = direction > 0 ? there - 1 : there;
  }
  const std::int32_t node = matches_[match_beside(matches_, from, direction)];
  workspace.documents.set_cursor(document->capture->nodes()[static_cast<std::size_t>(node)].tick +
                                 1);
  if (document->focus.locked != node) workspace.comparison.lock_focus(node);
  workspace.say(LogLevel::kInfo, count_text(workspace) + ": node " + std::to_string(node) +
                                     " in step " +
                                     std::to_string(capture::step_of(document->cursor - 1)));
}

std::string FindInRun::count_text(const Workspace& workspace) const {
  if (query.empty()) return "";
  if (matches_.empty()) return "not found";
  const std::string all = std::to_string(matches_.size());
  const Document* const document = workspace.active();
  const auto here =
      document ? std::ranges::lower_bound(matches_, document->focus.locked) : matches_.end();
  if (here == matches_.end() || *here != document->focus.locked) return all + " found";
  return std::to_string(here - matches_.begin() + 1) + " of " + all;
}

}  // namespace triescope::app

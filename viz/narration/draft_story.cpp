// The draft phase: what was proposed, by which drafter, in which shape and at what cost.
#include <algorithm>
#include <set>
#include <vector>

#include "core/capture/metric_names.h"
#include "viz/narration/story.h"
#include "viz/query/draft_figures.h"
#include "viz/query/left_out_layers.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {
namespace {

using capture::NodeRow;
using capture::Whose;

// The drafts proposed in this phase, newly added or found again, in the order of their nodes.
std::vector<NodeRow> proposed(const Story& story) {
  std::vector<NodeRow> rows;
  for (const StepDraft& draft : step_drafts(story.capture, story.step, story.cursor))
    rows.push_back(story.capture.nodes()[static_cast<std::size_t>(draft.node)]);
  return rows;
}

// The path down to the deepest draft; among several, to the first.
std::vector<std::int32_t> longest_path(std::span<const NodeRow> drafts) {
  const auto deepest =
      std::max_element(drafts.begin(), drafts.end(),
                       [](const NodeRow& a, const NodeRow& b) { return a.depth < b.depth; });
  std::vector<std::int32_t> path;
  for (auto at = deepest; at != drafts.end();
       at = std::ranges::find(drafts, at->parent, &NodeRow::node))
    path.push_back(at->node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int64_t ends_of(std::span<const NodeRow> drafts) {
  std::set<std::int32_t> parents;
  for (const NodeRow& draft : drafts) parents.insert(draft.parent);
  return std::count_if(drafts.begin(), drafts.end(),
                       [&](const NodeRow& draft) { return !parents.contains(draft.node); });
}

std::vector<std::vector<Value>> items(const Story& story, std::span<const std::int32_t> nodes) {
  std::vector<std::vector<Value>> all;
  for (const std::int32_t node : nodes) all.push_back({story.node("node", node)});
  return all;
}

void tell_pending(Story& story) {
  const auto frontier = story.capture.frontier(story.step - 1);
  if (frontier.empty()) return story.say("draft.pending.unknown");
  std::vector<std::int32_t> nodes;
  for (const capture::FrontierRow& row : frontier) nodes.push_back(row.node);
  const auto beams = static_cast<std::int64_t>(nodes.size());
  if (beams == 1) return story.say("draft.pending.one", {story.node("node", nodes.front())});
  story.say("draft.pending.many", {count("beams", beams, to_panel("trie")),
                                   story.list("tokens", "item.node", items(story, nodes))});
}

// Tells how many rows of the forward never become text. A block of masks that a draft head ran for
// itself is not among them.
void tell_probes(Story& story) {
  const auto hung =
      story.capture.nodes_at(story.cursor).subspan(story.capture.nodes_at(story.tick).size());
  const auto of_head = story.capture.inputs(story.step, Whose::kHead);
  const auto probes = std::ranges::count_if(hung, [&](const capture::NodeRow& node) {
    return capture::is_probe(node) &&
           std::ranges::find(of_head, node.node, &capture::InputRow::node) == of_head.end();
  });
  if (probes > 0) story.say("draft.probes", {count("probes", probes, to_panel("trie"))});
}

// Tells that drafting leaves out other parts of the model's layers from this step on.
void tell_left_out(Story& story) {
  if (std::ranges::none_of(draft_figures(story.capture, story.step),
                           [](const auto& row) { return capture::is_left_out(row.name); }))
    return;
  const auto now = left_out_layers(story.capture, story.tick + 1);
  const auto before = left_out_layers(story.capture, story.tick);
  if (before.empty() || now == before) return;
  story.say("draft.left_out",
            {count("parts", left_out_parts(now), to_panel("inspector")),
             count("all", 2 * static_cast<std::int64_t>(now.size()), to_panel("inspector"))});
}

// Tells what the drafting model or head computed for the drafts.
void tell_cost(Story& story) {
  for (const Whose whose : {Whose::kDraft, Whose::kHead}) {
    const auto inputs = story.capture.inputs(story.step, whose);
    if (inputs.empty()) continue;
    story.say(whose == Whose::kDraft ? "draft.cost.model" : "draft.cost.head",
              {count("forwards", inputs.back().forward + 1, to_panel("mask")),
               count("rows", static_cast<std::int64_t>(inputs.size()), to_panel("mask"))});
  }
}

void tell_nothing_drafted(Story& story) {
  const capture::RunInfo& run = story.capture.run();
  const auto frontier = story.capture.frontier(story.step - 1);
  if (run.kind != capture::RunKind::kDrafts && story.capture.drafters().empty()) {
    story.say("draft.none", {word("method", title_of(run))});
  } else if (frontier.empty()) {
    story.say("draft.unrecorded");
  } else {
    const NodeRow& pending = story.capture.nodes()[static_cast<std::size_t>(frontier.front().node)];
    const std::int32_t left = run.max_new_tokens - pending.depth;
    if (left <= 1)
      story.say("draft.no_room");
    else
      story.say("draft.nothing_found", {story.node("node", pending.node)});
  }
  tell_pending(story);
  tell_probes(story);
  tell_cost(story);
}

// Tells how the drafts were found: in the drafter's own sentence if the files have one, else in
// that of its kind.
void tell_drafter(Story& story, std::span<const NodeRow> drafts) {
  const capture::DrafterRow* const drafter = story.capture.drafter_of(drafts.front());
  const std::string own = drafter ? "draft.how." + drafter->name : std::string();
  const std::string kind =
      "draft.by." + std::string(drafter ? capture::to_string(drafter->kind) : "other");
  const std::string name = !drafter                 ? "The drafter"
                           : drafter->title.empty() ? "The drafter " + drafter->name
                                                    : drafter->title;
  story.say(story.has(own) ? own : kind,
            {word("drafter", name),
             count("drafts", static_cast<std::int64_t>(drafts.size()), to_panel("verdict")),
             story.node("node", drafts.front().parent)});
}

void tell_shape(Story& story, std::span<const NodeRow> drafts) {
  if (drafts.size() == 1) return story.say("draft.one", {story.node("node", drafts.front().node)});
  const auto path = longest_path(drafts);
  if (path.size() == drafts.size())
    return story.say("draft.chain", {story.list("tokens", "item.node", items(story, path), 8)});
  story.say("draft.tree",
            {count("levels", static_cast<std::int64_t>(path.size()), to_node(path.back())),
             count("ends", ends_of(drafts), to_panel("trie")),
             story.list("tokens", "item.node", items(story, path), 8)});
}

}  // namespace

void tell_draft(Story& story) {
  const auto prompt = static_cast<std::int64_t>(story.capture.run().prompt_tokens.size());
  if (story.step == 0) {
    story.say("draft.prefill");
    story.say("draft.prefill.next", {count("prompt", prompt, to_panel("text"))});
    return;
  }
  const std::vector<NodeRow> drafts = proposed(story);
  if (drafts.empty()) return tell_nothing_drafted(story);
  const auto number = static_cast<std::int64_t>(drafts.size());
  tell_drafter(story, drafts);
  tell_shape(story, drafts);
  const auto verdicts = verdicts_of(story, capture::Phase::kDraft);
  const auto withdrawn = std::count_if(
      verdicts.begin(), verdicts.end(),
      [](const capture::VerdictRow& row) { return row.verdict == capture::Verdict::kWithdrawn; });
  if (withdrawn > 0)
    story.say("draft.withdrawn", {count("withdrawn", withdrawn, to_panel("verdict")),
                                  count("sent", number - withdrawn, to_panel("mask"))});
  const auto drawn =
      std::find_if(drafts.begin(), drafts.end(), [](const NodeRow& draft) { return draft.q < 1; });
  if (drawn != drafts.end())
    story.say("draft.drawn",
              {story.node("node", drawn->node),
               labelled("q", "q", static_cast<double>(drawn->q), 3, to_node(drawn->node))});
  tell_left_out(story);
  tell_probes(story);
  tell_cost(story);
}

}  // namespace triescope::viz

#include "core/methods/rank_tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/model/heads/draft_head.h"

namespace triescope {
namespace {

constexpr std::size_t kMaxNodes = 1024;
constexpr int kMaxRank = 255;

using Path = std::vector<int>;

std::string text_of(const Path& path) {
  std::string text;
  for (const int rank : path) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorCode::kInvalidArgument,
              "tree: expected paths of ranks such as 0;1;0,0;0,1; found " + found);
}

std::vector<Path> paths_of(std::string_view text) {
  std::vector<Path> paths(1);
  std::string number;
  const auto end_number = [&] {
    int rank = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (error != std::errc() || end != number.data() + number.size() || rank < 0 || rank > kMaxRank)
      refuse("\"" + number + "\" where a rank from 0 to " + std::to_string(kMaxRank) + " goes");
    paths.back().push_back(rank);
    number.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n') continue;
    if (c != ',' && c != ';') {
      number += c;
      continue;
    }
    end_number();
    if (c == ';') paths.emplace_back();
  }
  end_number();
  return paths;
}

RankTree tree_of(std::vector<Path> paths, int max_levels, const std::string& whose) {
  if (paths.size() > kMaxNodes)
    refuse(std::to_string(paths.size()) + " paths, of at most " + std::to_string(kMaxNodes));
  std::ranges::stable_sort(paths, {}, &Path::size);
  RankTree tree;
  std::map<Path, std::size_t> index;  // place in its level
  for (const Path& path : paths) {
    if (path.size() > static_cast<std::size_t>(max_levels))
      refuse("path " + text_of(path) + ", " + std::to_string(path.size()) +
             " levels deep: at most " + std::to_string(max_levels) + " fit " + whose);
    if (tree.levels.size() < path.size()) tree.levels.emplace_back();
    std::size_t parent = 0;
    if (path.size() > 1) {
      const auto above = index.find(Path(path.begin(), path.end() - 1));
      if (above == index.end()) refuse("path " + text_of(path) + " without the path above it");
      parent = above->second;
    }
    std::vector<RankTree::Node>& level = tree.levels[path.size() - 1];
    if (!index.emplace(path, level.size()).second) refuse("path " + text_of(path) + " twice");
    level.push_back({parent, path.back()});
  }
  return tree;
}

}  // namespace

int RankTree::highest_rank() const {
  int highest = 0;
  for (const std::vector<Node>& level : levels)
    for (const Node& node : level) highest = std::max(highest, node.rank);
  return highest;
}

RankTree parse_rank_tree(std::string_view text, int max_levels, const std::string& whose) {
  return tree_of(paths_of(text), max_levels, whose);
}

RankTree rank_tree_of(const RunContext& run, std::string_view best_first, int max_levels,
                      const std::string& whose) {
  if (const std::string given = run.settings.text("tree"); !given.empty())
    return parse_rank_tree(given, max_levels, whose);
  const auto first_of = [&](std::string_view list) {
    std::vector<Path> paths = paths_of(list);
    std::erase_if(paths, [&](const Path& path) {
      return path.size() > static_cast<std::size_t>(max_levels);
    });
    const auto fit = static_cast<std::size_t>(run.default_drafts(kMaxNodes));
    if (paths.size() > fit) paths.resize(fit);
    return tree_of(std::move(paths), max_levels, whose);
  };
  if (!run.draft_head || run.draft_head->config.draft_tree.empty()) return first_of(best_first);
  try {
    return first_of(run.draft_head->config.draft_tree);
  } catch (const Error& error) {
    throw Error(ErrorCode::kCorruption,
                run.draft_head->path + ": config.json: draft_" + error.what());
  }
}

Parameter tree_parameter(std::string_view best_first) {
  return empty_is(
      "auto",
      text(
          "tree", "Draft Tree", "",
          "Static tree of drafts: paths of ranks, 0 the best; 0,2 is the third-best token below the "
          "best one. Empty: the first paths of the head's own tree (draft_tree in its config.json), "
          "else of " +
              std::string(best_first) +
              " that fill a forward at little more than the price of one row."));
}

Drafts grow_rank_tree(DraftContext& context, const RankTree& tree, std::size_t max_levels,
                      std::size_t candidates, const LevelRows& rows) {
  Drafts drafts;
  std::vector<NodeId> above = {context.frontier.front()};
  const std::size_t levels = std::min(
      {tree.levels.size(), max_levels, static_cast<std::size_t>(std::max(context.room, 0))});
  for (std::size_t l = 0; l < levels; ++l) {
    const std::vector<RankTree::Node>& level = tree.levels[l];
    // Ranks of the children by parent, parents in their order.
    std::map<std::size_t, std::vector<int>> ranks;
    for (const RankTree::Node& node : level) {
      const NodeId parent = above[node.parent];
      const bool grows =
          parent.valid() && !(l > 0 && context.run.is_eos(context.tree[parent].token.value));
      if (grows) ranks[node.parent].push_back(node.rank);
    }
    if (ranks.empty()) break;
    std::vector<NodeId> parents;
    for (const auto& [parent, wanted] : ranks) parents.push_back(above[parent]);
    const std::vector<LogitsRow> found = rows(l, parents);
    std::map<std::size_t, std::vector<std::pair<float, std::int32_t>>> best;
    std::size_t at = 0;
    for (const auto& [parent, wanted] : ranks) {
      const std::size_t needed = static_cast<std::size_t>(std::ranges::max(wanted)) + 1;
      auto& tokens = best[parent] = found[at].top_k(std::max(needed, candidates));
      if (candidates > 0)
        show_head_row(parents[at], tokens, found[at].log_sum_exp(), wanted, drafts.candidates);
      ++at;
    }
    std::vector<NodeId> hung(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      const auto of = best.find(level[i].parent);
      const auto rank = static_cast<std::size_t>(level[i].rank);
      if (of == best.end() || rank >= of->second.size()) continue;
      const auto& [logit, token] = of->second[rank];
      if (logit == -std::numeric_limits<float>::infinity()) continue;
      const Hung made = context.tree.hang(above[level[i].parent], TokenId(token),
                                          capture::Source::kDraft, std::nanf(""));
      hung[i] = made.node;
      if (made.is_new) drafts.sent.push_back(made.node);
    }
    above = std::move(hung);
  }
  return drafts;
}

void show_head_row(NodeId node, std::span<const std::pair<float, std::int32_t>> best, float log_sum,
                   std::span<const int> chosen, std::vector<capture::CandidateRow>& out) {
  for (std::size_t rank = 0; rank < best.size(); ++rank)
    out.push_back({.node = node.value,
                   .rank = static_cast<std::int32_t>(rank),
                   .token = best[rank].second,
                   .logprob = best[rank].first - log_sum,
                   .chosen = std::ranges::find(chosen, static_cast<int>(rank)) != chosen.end()});
}

}  // namespace triescope

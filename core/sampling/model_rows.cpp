#include "core/sampling/model_rows.h"

#include <cmath>
#include <string>

#include "core/base/error.h"

namespace triescope {

ModelRows::ModelRows(const StepView& view, const LogitsProcessors& processors,
                     const Warpers& warpers)
    : view_(view), processors_(processors), warpers_(warpers) {
  for (std::size_t i = 0; i < view.rows.size(); ++i)
    entries_[view.rows[i]].row = static_cast<int>(i);
}

ModelRows::Entry& ModelRows::entry(NodeId node) {
  const auto found = entries_.find(node);
  if (found == entries_.end())
    throw Error(ErrorCode::kInvalidArgument,
                "accept: expected node " + std::to_string(node.value) +
                    " to have a row in this step's forward, found none");
  return found->second;
}

LogitsRow ModelRows::raw(NodeId node) { return view_.logits(entry(node).row); }

LogitsRow ModelRows::scores(NodeId node) {
  Entry& e = entry(node);
  if (!processors_.any()) return raw(node);
  if (e.processed.empty()) {
    const std::span<const float> row = raw(node).whole();
    e.processed.assign(row.begin(), row.end());
    const TokenTree& tree = view_.tree;
    std::vector<std::int32_t> tokens(view_.run.prompt.begin(), view_.run.prompt.end());
    for (const TokenId token : tree.tokens_to(node)) tokens.push_back(token.value);
    processors_.apply(tokens, tree[node].depth, e.processed);
  }
  return e.processed;
}

std::int32_t ModelRows::best(NodeId node) {
  Entry& e = entry(node);
  if (e.best < 0) e.best = scores(node).argmax();
  return e.best;
}

float ModelRows::probability(NodeId node, std::int32_t token) {
  if (!processors_.any()) return std::exp(logprob(node, token));
  Entry& e = entry(node);
  const LogitsRow row = scores(node);
  if (!e.has_log_sum) {
    e.log_sum = row.log_sum_exp();
    e.has_log_sum = true;
  }
  return std::exp(row[static_cast<std::size_t>(token)] - e.log_sum);
}

std::int32_t ModelRows::rank(NodeId node, std::int32_t token) { return scores(node).rank(token); }

const Distribution& ModelRows::distribution(NodeId node) {
  Entry& e = entry(node);
  if (!e.distribution)
    e.distribution = std::make_unique<Distribution>(warpers_.apply(scores(node)));
  return *e.distribution;
}

std::vector<capture::StageRow> ModelRows::stages(NodeId node, std::span<const std::int32_t> tokens,
                                                 bool warped) {
  std::vector<capture::StageRow> rows;
  if (processors_.any())
    for (const std::int32_t token : tokens)
      rows.push_back({.token = token, .p = probability(node, token)});
  if (warped) {
    auto later = warpers_.stages(scores(node), tokens);
    rows.insert(rows.end(), later.begin(), later.end());
  }
  for (capture::StageRow& row : rows) row.node = node.value;
  return rows;
}

float ModelRows::logprob(NodeId node, std::int32_t token) {
  Entry& e = entry(node);
  const LogitsRow row = raw(node);
  if (!e.has_raw_log_sum) {
    e.raw_log_sum = row.log_sum_exp();
    e.has_raw_log_sum = true;
  }
  return row[static_cast<std::size_t>(token)] - e.raw_log_sum;
}

}  // namespace triescope

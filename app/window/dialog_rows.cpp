#include "app/window/dialog_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "app/run/text_tools.h"
#include "core/decode/session.h"
#include "viz/assets/glossary.h"
#include "viz/questions/beam_decision.h"
#include "viz/words/number_text.h"
#include "viz/words/token_text.h"

namespace triescope::app {

WhatIf what_if_at(const capture::Capture& capture, capture::Tick cursor, std::int32_t focus) {
  WhatIf at;
  at.node = focus;
  if (at.node < 0) {
    const auto frontier = capture.frontier(std::max(0, capture.frontier_step(cursor)));
    if (!frontier.empty()) at.node = frontier.front().node;
  }
  if (at.node < 0 || at.node >= static_cast<std::int32_t>(capture.nodes().size())) return {};
  std::span<const capture::CandidateRow> candidates = capture.candidates(at.node, cursor);
  if (candidates.empty() && at.node > 0) {
    at.node = capture.nodes()[static_cast<std::size_t>(at.node)].parent;
    candidates = capture.candidates(at.node, cursor);
  }
  for (const capture::CandidateRow& row : candidates) {
    char p[16];  // as many digits in each row
    std::snprintf(p, sizeof p, "%.4f", std::exp(static_cast<double>(row.logprob)));
    at.rows.push_back({row.token, std::to_string(row.rank + 1),
                       viz::token_text(capture.piece(row.token)), p, viz::logprob_text(row.logprob),
                       viz::child_of(capture, at.node, row.token, cursor) >= 0});
  }
  return at;
}

std::vector<std::pair<std::string, std::string>> glossary_rows(const std::string& query) {
  const std::string wanted = lower(query);
  std::vector<std::pair<std::string, std::string>> begins, holds, means;
  for (const auto& [term, meaning] : viz::glossary()) {
    const std::size_t at = lower(term).find(wanted);
    if (at == 0)
      begins.emplace_back(term, meaning);
    else if (at != std::string::npos)
      holds.emplace_back(term, meaning);
    else if (lower(meaning).find(wanted) != std::string::npos)
      means.emplace_back(term, meaning);
  }
  const auto by_letters = [](const auto& one, const auto& other) {
    return lower(one.first) < lower(other.first);
  };
  std::vector<std::pair<std::string, std::string>> rows;
  for (auto* group : {&begins, &holds, &means}) {
    std::stable_sort(group->begin(), group->end(), by_letters);
    rows.insert(rows.end(), group->begin(), group->end());
  }
  return rows;
}

std::vector<std::string> version_lines() {
  std::vector<std::string> lines;
  const nlohmann::json all = versions();
  for (const auto& [name, value] : all.items()) {
    const std::string text = json_text(value);
    if (!text.empty()) lines.push_back(name + " " + text);
  }
  return lines;
}

}  // namespace triescope::app

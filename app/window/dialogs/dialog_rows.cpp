#include "app/window/dialogs/dialog_rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <span>
#include <tuple>

#include "app/session/text_tools.h"
#include "app/window/shell/search_rank.h"
#include "core/base/json_io.h"
#include "core/session/session.h"
#include "viz/query/beam_decision.h"
#include "viz/text/glossary.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::app {

WhatIf what_if_at(const capture::Capture& capture, capture::Tick cursor, std::int32_t focus) {
  WhatIf at;
  at.node = focus;
  if (at.node < 0) {
    const auto frontier = capture.frontier(std::max(0, capture.frontier_step(cursor)));
    if (!frontier.empty()) at.node = frontier.front().node;
  }
  if (at.node < 0 || at.node >= static_cast<std::int32_t>(capture.nodes().size())) return {};
  // A text cannot branch off at a probe.
  while (capture::is_probe(capture.nodes()[static_cast<std::size_t>(at.node)]))
    at.node = capture.nodes()[static_cast<std::size_t>(at.node)].parent;
  std::span<const capture::CandidateRow> candidates = capture.candidates(at.node, cursor);
  if (candidates.empty() && at.node > 0) {
    at.node = capture.nodes()[static_cast<std::size_t>(at.node)].parent;
    candidates = capture.candidates(at.node, cursor);
  }
  for (const capture::CandidateRow& row : candidates) {
    char p[16];  // the same number of digits in each row
    std::snprintf(p, sizeof p, "%.4f", std::exp(static_cast<double>(row.logprob)));
    at.rows.push_back({row.token, std::to_string(row.rank + 1),
                       viz::token_text(capture.piece(row.token)), p, viz::logprob_text(row.logprob),
                       viz::child_of(capture, at.node, row.token, cursor) >= 0});
  }
  return at;
}

bool before_in_alphabet(const std::string& one, const std::string& other) {
  const auto key = [](const std::string& text) {
    const bool letter = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0]));
    return std::pair(!letter, lower(text));
  };
  return key(one) < key(other);
}

std::vector<std::pair<std::string, std::string>> glossary_rows(const std::string& query) {
  std::vector<std::tuple<int, std::string, std::string>> found;
  for (const auto& [term, meaning] : viz::glossary())
    if (const auto rank = search_rank(query, term, meaning))
      found.emplace_back(*rank, term, meaning);
  std::ranges::sort(found, [](const auto& one, const auto& other) {
    if (std::get<0>(one) != std::get<0>(other)) return std::get<0>(one) < std::get<0>(other);
    return before_in_alphabet(std::get<1>(one), std::get<1>(other));
  });
  std::vector<std::pair<std::string, std::string>> rows;
  for (auto& [rank, term, meaning] : found) rows.emplace_back(std::move(term), std::move(meaning));
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

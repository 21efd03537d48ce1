// A decoding loop without a model, a session or KV: logits come from a function of the path. Just
// enough to drive a drafter and an acceptor through whole runs, thousands of times. Also the
// chi-square test that the lossless rules are held to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/method/method.h"
#include "core/tree/token_tree.h"

namespace triescope::test {

using Tokens = std::vector<std::int32_t>;

// logits [vocab] after a text (prompt and generated).
using LogitsOf = std::function<std::vector<float>(std::span<const std::int32_t> text)>;

// Random but fixed logits that depend on the last `order` tokens: a small order makes texts that
// repeat themselves.
inline LogitsOf markov_logits(int vocab, int order, double spread, std::uint64_t seed) {
  return [=](std::span<const std::int32_t> text) {
    std::uint64_t key = seed;
    const std::size_t n = std::min<std::size_t>(static_cast<std::size_t>(order), text.size());
    for (const std::int32_t token : text.last(n))
      key = key * 1000003 + static_cast<std::uint64_t>(token) + 1;
    Rng rng(key);
    std::vector<float> logits;
    for (int i = 0; i < vocab; ++i)
      logits.push_back(static_cast<float>((rng.uniform() * 2 - 1) * spread));
    return logits;
  };
}

struct LoopStep {
  std::vector<NodeId> rows;
  AcceptResult result;
};

struct LoopRun {
  TokenTree tree{1};
  Tokens text;  // generated
  std::string finish;
  std::vector<LoopStep> steps;  // steps[0] is prefill
};

struct LoopConfig {
  Tokens prompt = {1, 2, 3};
  int max_new_tokens = 8;
  Tokens eos = {};
  int vocab = 0;
  nlohmann::json settings = nlohmann::json::object();
  std::uint64_t seed = 1;
  int extra_room = 0;  // lets drafters go past the cap by this much
  bool keep_steps = true;
  int cheap_rows = 33;
};

inline Settings settings(nlohmann::json values) { return Settings(std::move(values)); }

inline RunContext run_context(const LoopConfig& config) {
  RunContext run;
  run.prompt = config.prompt;
  run.max_new_tokens = config.max_new_tokens;
  run.eos_token_ids = config.eos;
  run.vocab_size = config.vocab;
  run.settings = Settings(config.settings);
  run.seed = config.seed;
  const double row = 1.0 / std::max(config.cheap_rows, 2);
  run.row_costs = {config.cheap_rows, row, row, row};
  return run;
}

// Runs to the end. `drafter` may be null.
inline LoopRun run_loop(const LoopConfig& config, const LogitsOf& logits_of, Drafter* drafter,
                        Acceptor& acceptor, const RunContext& run, Rng& rng) {
  LoopRun out;
  out.tree = TokenTree(static_cast<std::int32_t>(config.prompt.size()));
  TokenTree& tree = out.tree;
  std::vector<NodeId> frontier{TokenTree::root()};
  for (int step = 0; !frontier.empty(); ++step) {
    std::vector<NodeId> rows = frontier;
    Drafts drafts;
    if (step > 0 && drafter != nullptr) {
      DraftContext draft{tree, frontier, run, rng,
                         config.max_new_tokens - tree[frontier[0]].depth - 1 + config.extra_room};
      drafts = drafter->draft(draft);
      rows.insert(rows.end(), drafts.sent.begin(), drafts.sent.end());
    }
    std::vector<std::vector<float>> logits;
    for (const NodeId node : rows) {
      Tokens text = config.prompt;
      for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
      logits.push_back(logits_of(text));
    }
    const LogitsFrom computed(
        [&](int row) { return LogitsRow(logits[static_cast<std::size_t>(row)]); });
    StepView view{
        .tree = tree,
        .run = run,
        .rows = rows,
        .frontier = frontier,
        .step = step,
        .computed = computed,
        .proposals = &drafts.proposals,
    };
    AcceptResult result = acceptor.accept(view, rng);
    for (const std::int32_t token : result.emitted) out.text.push_back(token);
    std::vector<NodeId> became_text;
    if (!result.frontier.empty())
      for (NodeId id = result.frontier[0]; tree[id].depth > tree[frontier[0]].depth;
           id = tree[id].parent)
        became_text.insert(became_text.begin(), id);
    view.next_frontier = result.frontier;
    view.text = became_text;
    if (drafter != nullptr) drafter->observe(view);
    // What the commit phase does to drafts that did not make it.
    for (const auto& row : result.verdicts)
      if (row.verdict == capture::Verdict::kRejected)
        tree[NodeId(row.node)].status = NodeStatus::kDead;
    frontier = result.frontier;
    if (!result.finished.empty()) out.finish = result.finished[0].finish;
    if (config.keep_steps) out.steps.push_back({std::move(rows), std::move(result)});
  }
  return out;
}

// As validate_settings() would hand them to the method: what is not given has its default.
inline RunContext run_context(const LoopConfig& config, const MethodInfo& method) {
  RunContext run = run_context(config);
  run.settings = Settings(validate_settings(method, config.settings));
  return run;
}

inline LoopRun run_method(const MethodInfo& method, const LoopConfig& config,
                          const LogitsOf& logits_of) {
  const RunContext run = run_context(config, method);
  MethodParts parts = method.make(run);
  Rng rng(config.seed);
  return run_loop(config, logits_of, parts.drafter.get(), *parts.acceptor, run, rng);
}

// Greedy decoding by hand: argmax of the logits until EOS or the cap.
inline Tokens plain_greedy(const LoopConfig& config, const LogitsOf& logits_of) {
  Tokens text = config.prompt, out;
  while (static_cast<int>(out.size()) < config.max_new_tokens) {
    const auto logits = logits_of(text);
    const auto best =
        static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    out.push_back(best);
    text.push_back(best);
    if (std::find(config.eos.begin(), config.eos.end(), best) != config.eos.end()) break;
  }
  return out;
}

inline std::vector<double> softmax(std::span<const float> logits) {
  std::vector<double> p;
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x));
  for (const float x : logits) p.push_back(std::exp(static_cast<double>(x)) / sum);
  return p;
}

// A row of logits with these probabilities; −infinity for 0.
inline std::vector<float> log_row(const std::vector<double>& p) {
  std::vector<float> row;
  for (const double x : p) row.push_back(static_cast<float>(std::log(x)));
  return row;
}

inline const capture::VerdictRow& verdict_of(const AcceptResult& result, NodeId node) {
  for (const auto& row : result.verdicts)
    if (row.node == node.value) return row;
  throw std::out_of_range("no verdict for node " + std::to_string(node.value));
}

// Exact probability of every text of `length` tokens under plain sampling (temperature 1, no
// filter, no EOS).
inline std::map<Tokens, double> exact_texts(const Tokens& prompt, int length,
                                            const LogitsOf& logits_of) {
  std::map<Tokens, double> texts{{{}, 1.0}};
  for (int i = 0; i < length; ++i) {
    std::map<Tokens, double> longer;
    for (const auto& [text, p] : texts) {
      Tokens all = prompt;
      all.insert(all.end(), text.begin(), text.end());
      const auto next = softmax(logits_of(all));
      for (std::size_t token = 0; token < next.size(); ++token) {
        Tokens more = text;
        more.push_back(static_cast<std::int32_t>(token));
        longer[more] = p * next[token];
      }
    }
    texts = std::move(longer);
  }
  return texts;
}

// Chi-square of counts against expected ones, and the value that is passed with probability 1e-4
// (z = 3.719; 2.326: 0.01) when the counts do follow them (Wilson-Hilferty). Cells expected less than 5
// times are put together.
struct ChiSquare {
  double value = 0;
  double limit = 0;
  int cells = 0;
};
template <class Key>
ChiSquare chi_square(const std::map<Key, double>& probability,
                     const std::map<Key, std::int64_t>& counts, std::int64_t draws,
                     double z = 3.719) {
  ChiSquare result;
  double rest_expected = 0, rest_seen = 0;
  std::int64_t seen = 0;
  const auto add = [&](double expected, double count) {
    result.value += (count - expected) * (count - expected) / expected;
    ++result.cells;
  };
  for (const auto& [key, p] : probability) {
    const auto at = counts.find(key);
    const auto count = at == counts.end() ? 0 : at->second;
    seen += count;
    const double expected = p * static_cast<double>(draws);
    if (expected < 5) {
      rest_expected += expected;
      rest_seen += static_cast<double>(count);
    } else {
      add(expected, static_cast<double>(count));
    }
  }
  if (rest_expected > 0) add(std::max(rest_expected, 1e-9), rest_seen);
  if (seen != draws) result.value = 1e18;  // something was drawn that cannot be
  const double k = result.cells - 1;
  result.limit = k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);
  return result;
}

}  // namespace triescope::test

// Lookahead decoding: the model drafts for itself. Below the pending token hangs one tree with two
// kinds of branches:
//
//   window   W columns of N - 1 guessed tokens. Row 0 is a chain x(0,1) -> x(0,2) -> .. -> x(0,W);
//   below x(0,j) hangs
//            x(1,j) -> .. -> x(N-2,j). The forward gives the token after each column's last: a new
//            n-gram (x(0,j) .. x(N-2,j), y(j)) for the pool, and the window's next last row (a
//            Jacobi step).
//   guesses  up to G n-grams of the pool that begin with the pending token.
//
// Its mask is the ancestor closure, as everybody's. Verification is free to go along either kind;
// the token after the accepted ones is emitted too (the published greedy code stops at N - 1 tokens
// a step without it). Source: Fu, Bailis, Stoica, Zhang, "Break the Sequential Dependency of LLM
// Inference Using Lookahead Decoding", 2024.
#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>

#include "core/accept/text_acceptor.h"
#include "core/base/error.h"
#include "core/methods/draft_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

// N-grams by their first token, the newest first, at most `limit` for each.
class NgramPool {
 public:
  explicit NgramPool(std::size_t limit) : limit_(limit) {}
  void add(std::span<const std::int32_t> ngram) {
    auto& known = pool_[ngram.front()];
    std::vector<std::int32_t> rest(ngram.begin() + 1, ngram.end());
    std::erase(known, rest);
    known.push_front(std::move(rest));
    if (known.size() > limit_) known.pop_back();
  }
  const std::deque<std::vector<std::int32_t>>* find(std::int32_t token) const {
    const auto at = pool_.find(token);
    return at == pool_.end() ? nullptr : &at->second;
  }

 private:
  std::size_t limit_;
  std::unordered_map<std::int32_t, std::deque<std::vector<std::int32_t>>> pool_;
};

// What drafter and acceptor share: the window as it hangs in the tree in this step.
struct Window {
  int width, rows;                                // W, N - 1
  std::vector<std::vector<std::int32_t>> tokens;  // [rows][width]
  std::vector<NodeId> last_nodes;  // [width], of row N - 2; none where the room ended
  NgramPool pool;

  // y[j]: the model's token after column j, -1 = not asked.
  void step(std::span<const std::int32_t> y) {
    for (int j = 0; j < width; ++j) {
      const auto column = static_cast<std::size_t>(j);
      if (y[column] < 0) continue;
      std::vector<std::int32_t> ngram;
      for (const auto& row : tokens) ngram.push_back(row[column]);
      ngram.push_back(y[column]);
      pool.add(ngram);
      for (std::size_t r = 0; r + 1 < tokens.size(); ++r) tokens[r][column] = tokens[r + 1][column];
      tokens.back()[column] = y[column];
    }
  }
};

class LookaheadDrafter final : public Drafter {
 public:
  LookaheadDrafter(std::shared_ptr<Window> window, const RunContext& run)
      : window_(std::move(window)),
        pool_from_prompt_(run.settings.value("pool_from_prompt", true)) {
    // Any tokens do to begin with; tokens of the prompt are likelier ones. A generator of its own:
    // sampling's draws are the same with and without drafts.
    Rng rng(run.seed ^ 0x9E3779B97F4A7C15ULL);
    for (auto& row : window_->tokens)
      for (auto& token : row) token = run.prompt[rng.next() % run.prompt.size()];
  }

  std::vector<NodeId> draft(DraftContext& context) override {
    std::vector<NodeId> hung;
    Window& w = *window_;
    w.last_nodes.assign(static_cast<std::size_t>(w.width), NodeId());
    if (context.frontier.empty()) return hung;
    const bool first = text_.tokens().empty();
    text_.update(context);
    const auto n = w.tokens.size() + 1;
    if (first && pool_from_prompt_)
      for (std::size_t i = 0; i + n <= text_.prompt_tokens(); ++i)
        w.pool.add(text_.tokens().subspan(i, n));

    const NodeId pending = context.frontier.front();
    // Guesses first: in a level contest the drafts that came true once are looked at first.
    if (const auto* guesses = w.pool.find(text_.tokens().back()))
      for (const auto& guess : *guesses)
        hang_chain(context, pending, guess, capture::Source::kLookahead, hung);

    NodeId above = pending;
    for (int j = 0; j < w.width; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const std::int32_t depth = context.tree[above].depth;
      above =
          hang_chain(context, above, {&w.tokens[0][column], 1}, capture::Source::kLookahead, hung);
      if (context.tree[above].depth == depth || is_eos(context.run, w.tokens[0][column]))
        break;  // no room
      NodeId last = above;
      for (std::size_t r = 1; r < w.tokens.size(); ++r)
        last =
            hang_chain(context, last, {&w.tokens[r][column], 1}, capture::Source::kLookahead, hung);
      if (context.tree[last].depth == context.tree[above].depth + w.rows - 1)
        w.last_nodes[column] = last;
    }
    return hung;
  }

 private:
  std::shared_ptr<Window> window_;
  bool pool_from_prompt_;
  DraftText text_;
};

// Verification as usual, after the window was read.
class LookaheadAcceptor final : public Acceptor {
 public:
  LookaheadAcceptor(std::shared_ptr<Window> window, const RunContext& run)
      : window_(std::move(window)), text_(run, deterministic_rule(run.settings)) {}

  AcceptResult accept(AcceptContext& context) override {
    std::vector<std::int32_t> y(window_->last_nodes.size(), -1);
    for (std::size_t j = 0; j < y.size(); ++j) {
      const int row = window_->last_nodes[j].valid() ? context.row_of(window_->last_nodes[j]) : -1;
      if (row < 0) continue;
      const auto logits = context.logits(row);
      y[j] = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    }
    if (!y.empty()) window_->step(y);
    return text_.accept(context);
  }
  std::vector<FinishedSequence> results(const TokenTree& tree,
                                        const RunContext& run) const override {
    return text_.results(tree, run);
  }

 private:
  std::shared_ptr<Window> window_;
  TextAcceptor text_;
};

}  // namespace

MethodInfo lookahead_method() {
  MethodInfo info;
  info.name = "lookahead";
  info.title = "Lookahead decoding";
  info.summary =
      "The model drafts for itself: a window of guessed tokens is improved in every forward and "
      "feeds a pool of n-grams, those that "
      "begin with the current token are verified in the same forward. Needs nothing to copy from; "
      "costs many rows.";
  info.paper =
      "Break the Sequential Dependency of LLM Inference Using Lookahead Decoding, Fu et al., ICML "
      "2024";
  info.lossless = true;
  info.drafts = true;
  info.parameters = {
      {.name = "window_size",
       .kind = ParameterKind::kInteger,
       .default_value = 7,
       .minimum = 1,
       .maximum = 64,
       .choices = {},
       .help = "W: columns of the window. A forward has W * (N - 1) rows for it."},
      {.name = "ngram_size",
       .kind = ParameterKind::kInteger,
       .default_value = 5,
       .minimum = 2,
       .maximum = 16,
       .choices = {},
       .help = "N: tokens of an n-gram in the pool; a guess is N - 1 tokens long."},
      {.name = "guess_set_size",
       .kind = ParameterKind::kInteger,
       .default_value = 7,
       .minimum = 1,
       .maximum = 64,
       .choices = {},
       .help = "G: at most this many n-grams of the pool are verified a step, the newest ones."},
      {.name = "pool_from_prompt",
       .kind = ParameterKind::kBoolean,
       .default_value = true,
       .choices = {},
       .help = "The prompt's n-grams go into the pool at the start."},
  };
  for (auto& p : verify_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    const int width = run.settings.value("window_size", 7), n = run.settings.value("ngram_size", 5);
    if (run.prompt.empty())
      throw Error(ErrorCode::kInvalidArgument, "prompt: expected at least one token, found none");
    auto window = std::make_shared<Window>(
        Window{width,
               n - 1,
               std::vector<std::vector<std::int32_t>>(
                   static_cast<std::size_t>(n - 1),
                   std::vector<std::int32_t>(static_cast<std::size_t>(width))),
               {},
               NgramPool(static_cast<std::size_t>(run.settings.value("guess_set_size", 7)))});
    return MethodParts{std::make_unique<LookaheadDrafter>(window, run),
                       std::make_unique<LookaheadAcceptor>(window, run)};
  };
  return info;
}

}  // namespace triescope

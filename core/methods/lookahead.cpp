// Lookahead decoding: the model drafts for itself. Below the pending token hangs one tree with two
// kinds of branches:
//
//   window   W columns of N - 1 guessed tokens. Row 0 is a chain x(0,1) -> x(0,2) -> .. -> x(0,W);
//            below x(0,j) hangs x(1,j) -> .. -> x(N-2,j). The forward gives the token after each
//            column's last: a new n-gram (x(0,j) .. x(N-2,j), y(j)) for the pool, and the last row
//            of the next step's window (a Jacobi step).
//   guesses  up to G n-grams of the pool that begin with the pending token.
//
// The mask is the ancestor closure, as for every method. Verification may go along either kind, and
// the token after the accepted ones is emitted too (the published greedy code stops at N - 1 tokens
// a step without it). The window never holds an EOS, because nothing below one comes true: a column
// that meets one gives its n-gram to the pool and begins again with other tokens. Source: Fu,
// Bailis, Stoica, Zhang, "Break the Sequential Dependency of LLM Inference Using Lookahead
// Decoding", 2024.
#include <memory>

#include "core/base/error.h"
#include "core/lookup/ngram_pool.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

class LookaheadDrafter final : public Drafter {
 public:
  explicit LookaheadDrafter(const RunContext& run)
      : width_(static_cast<std::size_t>(run.settings.integer("window_size"))),
        rows_(static_cast<std::size_t>(run.settings.integer("ngram_size") - 1)),
        pool_(static_cast<std::size_t>(run.settings.integer("guess_set_size"))),
        pool_from_prompt_(run.settings.boolean("pool_from_prompt")),
        rng_(run.seed ^ 0x9E3779B97F4A7C15ULL) {
    // Any tokens will do to begin with; tokens of the prompt are likelier to fit.
    for (const std::int32_t token : run.prompt)
      if (!run.is_eos(token)) first_tokens_.push_back(token);
    if (first_tokens_.empty())
      for (std::int32_t token = 0; token < run.vocab_size; ++token)
        if (!run.is_eos(token)) first_tokens_.push_back(token);
    if (first_tokens_.empty()) width_ = 0;  // every token ends the text
    last_nodes_.resize(width_);
    window_.assign(rows_, std::vector<std::int32_t>(width_));
    for (auto& row : window_)
      for (auto& token : row) token = first_token();
  }

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId>& hung = drafts.sent;
    last_nodes_.assign(width_, NodeId());
    const bool first = text_.tokens().empty();
    text_.update(context);
    const std::size_t n = rows_ + 1;
    if (first && pool_from_prompt_)
      for (std::size_t i = 0; i + n <= text_.prompt_tokens(); ++i)
        pool_.add(text_.tokens().subspan(i, n));

    const NodeId pending = context.frontier.front();
    // Guesses are hung first: where two drafts compete, those that came true once are checked
    // first.
    const auto& guesses = pool_.find(text_.tokens().back());
    std::vector<NodeId> ends;
    for (const auto& guess : guesses) {
      const NodeId end = hang_chain(context, pending, guess, capture::Source::kDraft, hung);
      if (context.run.record_rows) ends.push_back(end);
    }

    const TokenTree& tree = context.tree;
    NodeId above = pending;
    for (std::size_t j = 0; j < width_; ++j) {
      const std::int32_t depth = tree[above].depth;
      above = hang_chain(context, above, {&window_[0][j], 1}, capture::Source::kDraft, hung);
      if (tree[above].depth == depth) break;  // no room
      NodeId last = above;
      for (std::size_t r = 1; r < rows_; ++r)
        last = hang_chain(context, last, {&window_[r][j], 1}, capture::Source::kDraft, hung);
      if (tree[last].depth == tree[above].depth + static_cast<std::int32_t>(rows_) - 1)
        last_nodes_[j] = last;
    }
    if (context.run.record_rows) {
      note_window(context, drafts);
      for (std::size_t i = 0; i < guesses.size(); ++i)
        note_list(drafts, "pool " + std::to_string(i + 1),
                  listed(context, pending, guesses[i], ends[i]));
    }
    return drafts;
  }

  // A Jacobi step: every column whose last node went through the forward gives an n-gram, loses its
  // first token and takes the model's next token as its last. A column that reaches an EOS begins
  // again.
  void observe(const StepView& view) override {
    for (std::size_t j = 0; j < width_; ++j) {
      const int row = last_nodes_[j].valid() ? view.row_of(last_nodes_[j]) : -1;
      if (row < 0) continue;
      std::vector<std::int32_t> ngram;
      for (const auto& tokens : window_) ngram.push_back(tokens[j]);
      ngram.push_back(view.logits(row).argmax());
      pool_.add(ngram);
      const bool ends = view.run.is_eos(ngram.back());
      for (std::size_t r = 0; r < rows_; ++r) window_[r][j] = ends ? first_token() : ngram[r + 1];
    }
  }

 private:
  // A list for each row of the window. A column that the room cut short has no node.
  void note_window(const DraftContext& context, Drafts& drafts) const {
    std::vector<std::vector<ListedToken>> rows(rows_);
    for (std::size_t j = 0; j < width_; ++j) {
      NodeId node = last_nodes_[j];
      for (std::size_t r = rows_; r-- > 0;) {
        rows[r].push_back({window_[r][j], node});
        if (node.valid()) node = context.tree[node].parent;
      }
    }
    for (std::size_t r = 0; r < rows_; ++r)
      note_list(drafts, "window " + std::to_string(r + 1), rows[r]);
  }

  // An n-gram of the pool: the pending token and the guess, whose nodes end with `end`.
  static std::vector<ListedToken> listed(const DraftContext& context, NodeId pending,
                                         std::span<const std::int32_t> guess, NodeId end) {
    const std::int32_t above = context.tree[pending].depth;
    std::vector<ListedToken> tokens = {{context.tree[pending].token.value, pending}};
    for (const std::int32_t token : guess) tokens.push_back({token});
    for (; end != pending; end = context.tree[end].parent)
      tokens[static_cast<std::size_t>(context.tree[end].depth - above)].node = end;
    return tokens;
  }

  std::int32_t first_token() { return first_tokens_[rng_.next() % first_tokens_.size()]; }

  std::size_t width_, rows_;  // W, N - 1
  NgramPool pool_;
  bool pool_from_prompt_;
  Rng rng_;  // its own, so that sampling draws the same numbers with and without drafts
  std::vector<std::int32_t> first_tokens_;         // tokens with which columns begin
  std::vector<std::vector<std::int32_t>> window_;  // [rows][width]
  std::vector<NodeId> last_nodes_;  // [width], row N - 2 of this step; none where the room ended
  DraftText text_;
};

}  // namespace

MethodInfo lookahead_method() {
  MethodInfo info;
  info.name = "lookahead";
  info.title = "Lookahead decoding";
  info.summary =
      "The model drafts for itself: a window of guessed tokens is improved in every "
      "forward and feeds a pool of n-grams, those that begin with the current token are "
      "verified in the same forward. Needs nothing to copy from; costs many rows.";
  info.paper =
      "Break the Sequential Dependency of LLM Inference Using Lookahead Decoding, Fu et "
      "al., ICML 2024";
  info.drafter_name = "lookahead";
  info.drafter_title = "Lookahead";
  info.drafter_kind = capture::DrafterKind::kOther;
  info.parameters = {
      integer("window_size", "Window Size", 7, 1, 64,
              "Columns of the window, W. A forward has W * (N - 1) rows for it."),
      integer("ngram_size", "N-gram Size", 5, 2, 16,
              "Tokens of an n-gram in the pool, N; a guess is N - 1 tokens long."),
      integer("guess_set_size", "Guesses per Step", 7, 1, 64,
              "At most this many n-grams of the pool are verified a step, the newest ones (G)."),
      boolean("pool_from_prompt", "Pool from Prompt", true,
              "The prompt's n-grams go into the pool at the start."),
  };
  drafts_one_text(info, [](const RunContext& run) {
    if (run.prompt.empty())
      throw Error(ErrorCode::kInvalidArgument, "prompt: expected at least one token, found none");
    return std::make_unique<LookaheadDrafter>(run);
  });
  return info;
}

}  // namespace triescope

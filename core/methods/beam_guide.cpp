#include "core/methods/beam_guide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/kernels/row_ops.h"
#include "core/methods/head_runner.h"
#include "core/model/heads/draft_head.h"
#include "core/tree/tree_runner.h"

namespace triescope {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// A guide whose q is a row of logits.
class RowGuide : public BeamGuide {
 public:
  explicit RowGuide(int vocab_size) : vocab_(static_cast<std::size_t>(vocab_size)) {}

  std::vector<std::pair<float, std::int32_t>> best(int row, std::size_t count) const override {
    const LogitsRow logits = this->logits(row);
    const float log_sum = logits.log_sum_exp();
    std::vector<std::pair<float, std::int32_t>> found = logits.top_k(count);
    for (auto& [logit, token] : found) logit -= log_sum;
    std::erase_if(found, [&](const auto& one) {
      return one.first == kNever || static_cast<std::size_t>(one.second) >= vocab_;
    });
    return found;
  }

  std::vector<float> logprobs(int row) const override {
    const std::span<const float> logits = this->logits(row).whole();
    std::vector<float> out(logits.size());
    kernels::log_softmax(logits, out);
    out.resize(vocab_, kNever);
    return out;
  }

 protected:
  virtual LogitsRow logits(int row) const = 0;

 private:
  std::size_t vocab_;
};

class ModelGuide final : public RowGuide {
 public:
  explicit ModelGuide(const RunContext& run)
      : RowGuide(run.vocab_size), runner_(*run.draft_model, run.prompt, {}, run.record_rows) {}

  bool advance(DraftContext& context) override {
    if (!std::ranges::all_of(context.frontier, [&](NodeId pending) {
          return runner_.follows(context.tree, pending);
        }))
      return false;
    runner_.advance(context.tree, context.frontier, context.stop);
    return true;
  }
  void forward(DraftContext& context, std::span<const NodeId> drafts) override {
    runner_.forward(context.tree, drafts, context.stop);
  }
  std::size_t levels(const DraftContext& context) const override {
    return static_cast<std::size_t>(runner_.levels_below(context.tree, context.frontier.front())) +
           1;
  }
  TreeRunner* runner() override { return &runner_; }

 protected:
  LogitsRow logits(int row) const override { return runner_.logits(row); }

 private:
  TreeRunner runner_;
};

class HeadGuide final : public RowGuide {
 public:
  explicit HeadGuide(const RunContext& run)
      : RowGuide(run.vocab_size),
        layers_(run.draft_head->feature_layers()),
        head_(*run.draft_head, layers_, run) {}

  bool advance(DraftContext& context) override { return head_.advance(context); }
  void forward(DraftContext& context, std::span<const NodeId> drafts) override {
    head_.forward(context, drafts);
  }
  std::size_t levels(const DraftContext& context) const override {
    return head_.levels_below(context) + 1;
  }
  void observe(const StepView& view) override { head_.observe(view); }
  std::vector<std::int32_t> feature_layers() const override { return layers_; }
  TreeRunner* runner() override { return &head_.runner(); }

 protected:
  LogitsRow logits(int row) const override { return head_.logits(row); }

 private:
  std::vector<std::int32_t> layers_;
  HeadRunner head_;
};

class TextGuide final : public BeamGuide {
 public:
  explicit TextGuide(const RunContext& run)
      : vocab_(static_cast<std::size_t>(run.vocab_size)),
        longest_(static_cast<std::size_t>(run.settings.integer("max_matching_ngram_size"))) {}

  bool advance(DraftContext& context) override {
    forward(context, context.frontier);
    return true;
  }
  void forward(DraftContext& context, std::span<const NodeId> nodes) override {
    rows_.clear();
    for (const NodeId node : nodes) {
      std::vector<std::int32_t> text(context.run.prompt.begin(), context.run.prompt.end());
      for (const TokenId token : context.tree.tokens_to(node)) text.push_back(token.value);
      rows_.push_back(followers(text));
    }
  }
  std::size_t levels(const DraftContext&) const override {
    return std::numeric_limits<std::size_t>::max();
  }
  std::vector<std::pair<float, std::int32_t>> best(int row, std::size_t count) const override {
    auto found = rows_[static_cast<std::size_t>(row)];
    found.resize(std::min(found.size(), count));
    return found;
  }
  std::vector<float> logprobs(int row) const override {
    const auto& found = rows_[static_cast<std::size_t>(row)];
    if (found.empty()) return {};
    std::vector<float> out(vocab_, kNever);
    for (const auto& [logprob, token] : found) out[static_cast<std::size_t>(token)] = logprob;
    return out;
  }

 private:
  // The tokens that followed the longest ending that stood earlier, the most frequent first, with the log of their shares.
  std::vector<std::pair<float, std::int32_t>> followers(std::span<const std::int32_t> text) const {
    std::map<std::int32_t, int> counts;
    int all = 0;
    for (std::size_t n = std::min(longest_, text.size() - 1); n >= 1 && all == 0; --n) {
      const auto ending = text.last(n);
      for (std::size_t at = 0; at + n < text.size(); ++at) {
        if (text[at + n - 1] != ending.back() || !std::ranges::equal(text.subspan(at, n), ending))
          continue;
        ++counts[text[at + n]];
        ++all;
      }
    }
    std::vector<std::pair<float, std::int32_t>> found;
    for (const auto& [token, count] : counts)
      found.emplace_back(std::log(static_cast<float>(count) / static_cast<float>(all)), token);
    std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<float, std::int32_t>::first);
    return found;
  }

  std::size_t vocab_, longest_;
  std::vector<std::vector<std::pair<float, std::int32_t>>> rows_;
};

}  // namespace

void show_guide_row(NodeId node, std::span<const std::pair<float, std::int32_t>> best,
                    std::span<const std::int32_t> taken, std::vector<capture::CandidateRow>& out) {
  for (std::size_t rank = 0; rank < best.size(); ++rank)
    out.push_back({.node = node.value,
                   .rank = static_cast<std::int32_t>(rank),
                   .token = best[rank].second,
                   .logprob = best[rank].first,
                   .chosen = std::ranges::find(taken, best[rank].second) != taken.end()});
}

std::unique_ptr<BeamGuide> make_beam_guide(const RunContext& run) {
  if (run.draft_head != nullptr) return std::make_unique<HeadGuide>(run);
  if (run.draft_model != nullptr) return std::make_unique<ModelGuide>(run);
  return std::make_unique<TextGuide>(run);
}

}  // namespace triescope

// Layer skip: the target drafts for itself, without some of its layers, and then verifies with all of them.
// It needs no second model and no training: weights, tokenizer and output head are the target's own, and KV
// of the drafting rows is that of the layers that stay. The KV of a draft is its own and is dropped where the
// draft is refused.
//
// Up to the first layer that is left out both models compute the same KV. So the first n layers with the
// output head ("early exit") take over the target's KV of prompt and text, bit for bit, and read no prompt of
// their own. With skip_search the list changes while decoding (LayerSearch), and then has the attention or the
// MLP of a layer alone too: a list is tried over the newest tokens of the text, behind the target's own KV, as is
// every list that is drafted with. Drafting rows write KV where attention stays. Where it is left out, their slots
// hold nothing of that layer, which no row reads until the list changes; then the text's KV is taken over again.
//
// Source: Zhang et al., "Draft & Verify: Lossless Large Language Model Acceleration via Self-Speculative
// Decoding", 2024 (a list); Elhoushi et al., "LayerSkip", 2024, and transformers 5.17.0,
// EarlyExitCandidateGenerator (the first n layers); Xia et al., "SWIFT", ICLR 2025 (the search).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/methods/draft_model_drafter.h"
#include "core/methods/layer_search.h"
#include "core/methods/text_methods.h"
#include "core/model/layer_subset.h"
#include "core/tree/tree_runner.h"
#include "core/verify/text_acceptor.h"

namespace triescope {
namespace {

// The layers that stay.
std::vector<std::int32_t> kept_layers(const RunContext& run) {
  const int layers = run.target->info().layers;
  const int exit = run.settings.integer("assistant_early_exit");
  std::vector<std::int32_t> kept;
  if (exit > 0) {
    if (exit >= layers)
      throw Error(ErrorCode::kInvalidArgument,
                  "assistant_early_exit: expected fewer than the model's " +
                      std::to_string(layers) + " layers, found " + std::to_string(exit));
    for (int i = 0; i < exit; ++i) kept.push_back(i);
    return kept;
  }
  const std::vector<int> skipped = run.settings.integers("skip_layers");
  for (const int layer : skipped)
    if (layer >= layers)
      throw Error(ErrorCode::kInvalidArgument, "skip_layers: expected layers from 0 to " +
                                                   std::to_string(layers - 1) + ", found " +
                                                   std::to_string(layer));
  for (int i = 0; i < layers; ++i) {
    // Not given: a stretch of the middle, where a layer changes the stream least (of 30 layers 12 to 19).
    const bool skip = skipped.empty() ? i >= 2 * layers / 5 && i < 2 * layers / 3
                                      : std::ranges::find(skipped, i) != skipped.end();
    if (!skip) kept.push_back(i);
  }
  if (kept.empty())
    throw Error(ErrorCode::kInvalidArgument, "skip_layers: expected at least one of the model's " +
                                                 std::to_string(layers) +
                                                 " layers to stay, found all in the list");
  return kept;
}

class LayerSkipDrafter final : public Drafter {
 public:
  explicit LayerSkipDrafter(const RunContext& run)
      : run_(run),
        model_(*run.target, sublayers_of(kept_layers(run)),
               run.settings.boolean("skip_search") ? LayerSubset::KvOf::kAllLayers
                                                   : LayerSubset::KvOf::kParts),
        drafter_(make_draft_model_drafter(run, model_)),
        window_(static_cast<std::size_t>(run.settings.integer("search_window"))) {
    if (run.settings.boolean("skip_search"))
      search_.emplace(run.target->info().layers, model_.left_out(), run.seed);
    shares_ =
        search_ || model_.sublayers().back() + 1 == static_cast<int>(model_.sublayers().size());
  }

  Drafts draft(DraftContext& context) override {
    const NodeId pending = context.frontier.front();
    if (shares_ && target_ != nullptr && context.room > 0) {
      std::vector<NodeId> text = context.tree.path_to(pending);
      text.pop_back();  // the pending token has no KV
      const bool changed = search_ && try_a_list(context, text);
      if (changed) model_.set_sublayers(all_but(parts(), search_->best()));
      if (changed || !begun_)
        shares_ = drafter_->runner()->take_over(context.tree, text, *target_, model_.kv_layers());
      begun_ = true;
    }
    return drafter_->draft(context);
  }
  void observe(const StepView& view) override {
    // A session's rows are those of the runner of the target.
    target_ = dynamic_cast<const TreeRunner*>(&view.computed);
    drafter_->observe(view);
  }
  TreeRunner* runner() override { return drafter_->runner(); }

 private:
  int parts() const { return 2 * run_.target->info().layers; }
  // Tries the search's next list on the newest tokens: how many of them would the model have written without
  // them? Returns whether another list is the best now.
  bool try_a_list(DraftContext& context, std::span<const NodeId> text) {
    if (search_->done() || text.size() < kLeastTokens + 1) return false;
    const std::size_t rows = std::min(window_, text.size() - 1);
    const std::span<const NodeId> window = text.last(rows + 1);
    const std::vector<std::int32_t> left_out = search_->next();
    const bool first = search_->tries() == 0;
    LayerSubset part(*run_.target, all_but(parts(), left_out));
    TreeRunner runner(part, run_.prompt, {}, /*record=*/false);
    runner.wait_for_memory(context.memory);
    if (!runner.take_over(context.tree, text.first(text.size() - window.size()), *target_,
                          part.kv_layers())) {
      shares_ = false;
      return false;
    }
    runner.commit(context.tree, {.frontier = window.first(1)});
    runner.forward(context.tree, window.first(rows), context.stop);
    std::size_t same = 0;
    for (std::size_t i = 0; i < rows; ++i)
      same +=
          runner.logits(static_cast<int>(i)).argmax() == context.tree[window[i + 1]].token.value;
    return search_->report(left_out, static_cast<double>(same) / static_cast<double>(rows)) &&
           !first;
  }

  static constexpr std::size_t kLeastTokens = 8;  // with fewer, a figure says nothing

  const RunContext& run_;
  LayerSubset model_;
  std::unique_ptr<Drafter> drafter_;
  std::optional<LayerSearch> search_;
  std::size_t window_;
  bool shares_ = false;  // takes over the target's KV
  bool begun_ = false;
  const TreeRunner* target_ = nullptr;
};

}  // namespace

MethodInfo layer_skip_method() {
  MethodInfo info;
  info.name = "layer_skip";
  info.title = "Layer skip";
  info.summary =
      "The model drafts for itself without some of its layers, then verifies with all of them. Needs no "
      "second model; pays where few layers say nearly what all say.";
  info.paper =
      "Draft & Verify: Lossless Large Language Model Acceleration via Self-Speculative Decoding, Zhang et "
      "al., ACL 2024; LayerSkip, Elhoushi et al., ACL 2024; SWIFT, Xia et al., ICLR 2025";
  info.kind = capture::RunKind::kDrafts;
  info.drafter_name = "layer skip";
  info.drafter_title = "Layer skip";
  info.drafter_kind = capture::DrafterKind::kModel;
  info.parameters = {
      zero_is("off", integer("assistant_early_exit", "Early Exit", 0, 0, 1024,
                             "Drafts with the first n layers and the output head. 0: off; then "
                             "skip_layers says what is left out.")),
      empty_is("a part of the middle",
               integer_list("skip_layers", "Skipped Layers", 0, 1023,
                            "Layers that drafting leaves out, from 0: 8,10,12. Empty: those from "
                            "two fifths to two thirds of the way, 12 to 19 of 30.")),
      boolean(
          "skip_search", "Search for Layers", false,
          "Searches while decoding for what drafting misses least (SWIFT): attention and MLP apart, as much "
          "as the list has with which it begins. Each step tries one list on the newest tokens."),
      integer("search_window", "Tokens of a Trial", 32, 8, 1024,
              "A list is tried on so many of the newest tokens: with skip_search."),
  };
  for (auto& p : draft_model_parameters()) {
    if (p.name == "num_assistant_tokens")
      p.help = "Tokens that the kept layers write ahead, one forward of them each.";
    info.parameters.push_back(std::move(p));
  }
  info.make = [](const RunContext& run) {
    if (run.target == nullptr)
      throw Error(ErrorCode::kInvalidArgument, "layer_skip: expected a model; found none");
    return MethodParts{std::make_unique<LayerSkipDrafter>(run),
                       std::make_unique<TextAcceptor>(run, draft_model_rule(run.settings))};
  };
  return info;
}

}  // namespace triescope

// Layer skip: the target drafts for itself, without some of its layers, and then verifies with all of them.
// It needs no second model and no training: weights, tokenizer and output head are the target's own, and KV
// of the drafting rows is that of the layers that stay. The first n layers with the output head are "early
// exit". The KV of a draft is its own and is dropped where the draft is refused; that of the first n layers
// is what the target would compute, bit for bit on a CPU, and is computed a second time.
//
// Source: Zhang et al., "Draft & Verify: Lossless Large Language Model Acceleration via Self-Speculative
// Decoding", 2024 (a list); Elhoushi et al., "LayerSkip", 2024, and transformers 5.17.0,
// EarlyExitCandidateGenerator (the first n layers).
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/methods/draft_model_drafter.h"
#include "core/methods/text_methods.h"
#include "core/model/layer_subset.h"
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
      : model_(*run.target, kept_layers(run)), drafter_(make_draft_model_drafter(run, model_)) {}

  Drafts draft(DraftContext& context) override { return drafter_->draft(context); }
  void observe(const StepView& view) override { drafter_->observe(view); }
  TreeRunner* runner() override { return drafter_->runner(); }

 private:
  LayerSubset model_;
  std::unique_ptr<Drafter> drafter_;
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
      "al., ACL 2024; LayerSkip, Elhoushi et al., ACL 2024";
  info.lossless = true;
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

// EAGLE-3: a layer that reads three hidden states of the target (low, middle, high), was trained on
// its own drafts, and gives logits over a draft vocabulary. The tree is EAGLE-2's dynamic one.
// Source: Li et al., "EAGLE-3: Scaling up Inference Acceleration of Large Language Models via
// Training-Time Test", 2025.
#include "core/base/error.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/dynamic_tree.h"
#include "core/methods/text_methods.h"
#include "core/model/heads/draft_head.h"

namespace triescope {
namespace {

std::string text_of(const std::vector<std::int32_t>& layers, int shift) {
  std::string text;
  for (const std::int32_t layer : layers)
    text += (text.empty() ? "" : ",") + std::to_string(layer + shift);
  return text;
}

// The setting's layers, else the head's own.
std::vector<std::int32_t> layers_of(const RunContext& run) {
  std::vector<std::int32_t> own = run.draft_head->feature_layers();
  std::vector<std::int32_t> given = run.settings.integers("layers");
  if (given.empty()) return own;
  if (given.size() != own.size())
    throw Error(ErrorCode::kInvalidArgument,
                "layers: expected " + std::to_string(own.size()) + " as the head reads (" +
                    text_of(own, 0) + " by its file); found " + std::to_string(given.size()));
  return given;
}

std::string remedy_of(const std::vector<std::int32_t>& layers) {
  return "the head may have been trained on other layers than " + text_of(layers, 0) +
         " (two ways of counting them are one apart): try --set layers=" + text_of(layers, 1) +
         " or " + text_of(layers, -1);
}

}  // namespace

MethodInfo eagle3_method() {
  MethodInfo info;
  info.name = "eagle3";
  info.title = "EAGLE-3";
  info.summary =
      "A layer that reads three of the model's hidden states and was trained on its own drafts, over "
      "a smaller draft vocabulary; a tree that grows where it is sure, as in EAGLE-2.";
  info.paper =
      "EAGLE-3: Scaling up Inference Acceleration of Large Language Models via Training-Time Test, Li "
      "et al., NeurIPS 2025";
  info.drafter_name = "eagle3";
  info.drafter_kind = capture::DrafterKind::kHead;
  info.needs = Need::kDraftHead;
  info.heads = {formats::HeadKind::kEagle3};
  info.parameters = dynamic_tree_parameters();
  info.parameters.push_back(empty_is(
      "the file's own",
      integer_list(
          "layers", "Layers Read", 0, 1024,
          "Hidden states that the head reads, as what enters layer i (0: the embeddings; the number of "
          "layers: what leaves the last). Empty: as its file says.")));
  drafts_one_text(info, [](const RunContext& run) {
    const std::vector<std::int32_t> layers = layers_of(run);
    return make_dynamic_tree_drafter(run, layers, remedy_of(layers));
  });
  return info;
}

}  // namespace triescope

// The drafter that runs a model ahead of the target over the same tree: a chain, or a tree by an expansion
// configuration. The model is a draft model, or the target without some of its layers.
//
// With a rule that draws (verify_draws()) drafts are drawn from q, the model's distribution after the same
// processors and warpers as the target's. The rule gets q and stays lossless. Otherwise the drafts are the
// model's best tokens.
#pragma once

#include <memory>
#include <vector>

#include "core/method/method.h"
#include "core/verify/verify.h"

namespace triescope {

// Borrows the model. REQUIRES: its ids are the target's.
std::unique_ptr<Drafter> make_draft_model_drafter(const RunContext& run, Model& model);
// Its parameters, those of the verification among them, and the rule that these settings name.
std::vector<Parameter> draft_model_parameters();
VerifyRule draft_model_rule(const Settings& settings);

}  // namespace triescope

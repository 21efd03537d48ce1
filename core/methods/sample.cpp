// Sampling: each token is drawn from the model's distribution after processors and warpers.
#include "core/methods/text_methods.h"
#include "core/verify/text_acceptor.h"

namespace triescope {

MethodInfo sample_method() {
  MethodInfo info;
  info.name = "sample";
  info.title = "Sampling";
  info.summary =
      "Draws each token from the model's distribution, sharpened or cut by temperature, "
      "top-k, top-p, min-p. The same seed draws the same text.";
  info.paper =
      "top-p: Holtzman et al., The Curious Case of Neural Text Degeneration, 2020; "
      "min-p: Nguyen et al., Turning Up the Heat, 2024; Gumbel-max: Maddison, Tarlow, "
      "Minka, A* Sampling, 2014";
  info.parameters = warper_parameters();
  info.parameters.push_back(sampler_parameter());
  for (auto& p : logits_processor_parameters()) info.parameters.push_back(std::move(p));
  info.make = [](const RunContext& run) {
    // Without drafts, verification is one draw from p.
    return MethodParts{nullptr, std::make_unique<TextAcceptor>(run, verify_deterministic)};
  };
  return info;
}

}  // namespace triescope

// Greedy decoding: always the most probable token.
#include "core/methods/search_methods.h"
#include "core/verify/text_acceptor.h"

namespace triescope {

MethodInfo greedy_method() {
  MethodInfo info;
  info.name = "greedy";
  info.title = "Greedy decoding";
  info.summary =
      "Takes the most probable token at every step. The yardstick: drafts must not "
      "change its text.";
  info.parameters = logits_processor_parameters();
  info.make = [](const RunContext& run) {
    // Without drafts, greedy verification is one argmax.
    return MethodParts{nullptr, std::make_unique<TextAcceptor>(run, verify_greedy)};
  };
  return info;
}

}  // namespace triescope

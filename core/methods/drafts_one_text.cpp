#include "core/methods/drafts_one_text.h"

#include <utility>

#include "core/verify/text_acceptor.h"

namespace triescope {

void drafts_one_text(MethodInfo& info, MakeDrafter drafter, VerifyRule (*rule)(const Settings&)) {
  info.kind = capture::RunKind::kDrafts;
  for (Parameter& p : verify_parameters()) info.parameters.push_back(std::move(p));
  if (!rule) rule = deterministic_rule;
  info.make = [drafter = std::move(drafter), rule](const RunContext& run) {
    return MethodParts{drafter(run), std::make_unique<TextAcceptor>(run, rule(run.settings))};
  };
}

}  // namespace triescope

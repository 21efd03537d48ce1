// The part that most drafting methods share: drafts for one text, checked by the rule that the parameter "verify" names.
#pragma once

#include <functional>
#include <memory>

#include "core/method/method.h"
#include "core/verify/verify.h"

namespace triescope {

using MakeDrafter = std::function<std::unique_ptr<Drafter>(const RunContext&)>;

// Completes `info`: its kind is kDrafts, verify_parameters() follow its own parameters, and it makes a run of `drafter` and a TextAcceptor by
// `rule`; null: deterministic_rule().
void drafts_one_text(MethodInfo& info, MakeDrafter drafter,
                     VerifyRule (*rule)(const Settings&) = nullptr);

// The same for a drafter that is made of the run alone.
template <class DrafterOfRun>
void drafts_one_text(MethodInfo& info, VerifyRule (*rule)(const Settings&) = nullptr) {
  drafts_one_text(
      info, [](const RunContext& run) { return std::make_unique<DrafterOfRun>(run); }, rule);
}

}  // namespace triescope

// What drafters below all live beams have in common: a guide that says what may follow, and the number of levels
// that it drafts in a step.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/method/drafter.h"
#include "core/methods/beam_guide.h"

namespace triescope {

class GuidedDrafter : public Drafter {
 public:
  std::vector<std::int32_t> feature_layers() const override { return guide_->feature_layers(); }
  void observe(const StepView& view) override { guide_->observe(view); }
  TreeRunner* runner() override { return guide_->runner(); }

 protected:
  GuidedDrafter(const RunContext& run, std::unique_ptr<BeamGuide> guide)
      : guide_(std::move(guide)),
        candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))),
        levels_(static_cast<std::size_t>(run.settings.integer("draft_levels"))) {}

  // Takes the guide to the frontier. Returns how many levels are drafted below it: 0 = none has room, or the
  // guide cannot follow.
  std::size_t advance(DraftContext& context) {
    if (context.room < 1 || !guide_->advance(context)) return 0;
    return std::min({levels_, static_cast<std::size_t>(context.room), guide_->levels(context)});
  }

  const std::unique_ptr<BeamGuide> guide_;
  const std::size_t candidates_;  // that the capture gets of each of the guide's rows

 private:
  const std::size_t levels_;
};

}  // namespace triescope

#include "viz/handout/step_words.h"

#include <algorithm>

#include "viz/handout/json_text.h"
#include "viz/narration/narration.h"

namespace triescope::viz {
namespace {

// "" = it is not on this page.
std::string link_of(const Target& target, std::span<const std::int32_t> steps,
                    std::span<const std::string> panels) {
  switch (target.kind) {
    case Target::Kind::kNode:
    case Target::Kind::kSlot:
      return target.node == -1 ? "" : "n" + std::to_string(target.node);
    case Target::Kind::kStep: {
      const auto at = std::ranges::find(steps, capture::step_of(target.id));
      return at == steps.end() ? "" : "s" + std::to_string(at - steps.begin());
    }
    case Target::Kind::kPanel:
      return std::ranges::find(panels, target.panel) == panels.end() ? "" : "p" + target.panel;
    case Target::Kind::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string step_words_json(const capture::Capture& capture, std::int32_t step,
                            std::span<const std::int32_t> steps,
                            std::span<const std::string> panels, const Sentences& sentences,
                            std::set<std::int32_t>& nodes) {
  std::string out = "[";
  const capture::Tick first = capture::make_tick(step, capture::Phase::kDraft);
  const auto phases = capture.phases();
  auto row = std::ranges::lower_bound(phases, first, {}, &capture::PhaseRow::tick);
  for (; row != phases.end() && capture::step_of(row->tick) == step; ++row) {
    out += (out.size() > 1 ? "," : "") + std::string("[") +
           json_text(capture::to_string(capture::phase_of(row->tick))) + ",[";
    bool begins = true;
    for (const Sentence& sentence : narrate(capture, row->tick + 1, sentences).sentences) {
      std::string parts, words;
      const auto flush = [&] {
        if (!words.empty()) parts += (parts.empty() ? "" : ",") + json_text(words);
        words.clear();
      };
      for (const Part& part : sentence.parts) {
        const std::string link = link_of(part.target, steps, panels);
        if (link.empty()) {
          words += part.text;
          continue;
        }
        flush();
        if (link[0] == 'n') nodes.insert(part.target.node);
        parts += (parts.empty() ? "[" : ",[") + json_text(part.text) + "," + json_text(link) + "]";
      }
      flush();
      out += (begins ? "[" : ",[") + parts + "]";
      begins = false;
    }
    out += "]]";
  }
  return out + "]";
}

}  // namespace triescope::viz

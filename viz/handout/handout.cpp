#include "viz/handout/handout.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "viz/export/export.h"
#include "viz/export/whole_file.h"
#include "viz/handout/handout_page.h"
#include "viz/handout/page_data.h"
#include "viz/handout/page_pictures.h"
#include "viz/handout/pane_plan.h"
#include "viz/narration/narration.h"
#include "viz/narration/sentences.h"
#include "viz/query/leaves.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

std::vector<std::int32_t> steps_of(const capture::Capture& capture, const HandoutOptions& options) {
  std::vector<std::int32_t> steps;
  for (const capture::StepRow& row : capture.steps())
    if (is_within(options.steps, row.step)) steps.push_back(row.step);
  if (steps.empty())
    throw Error(ErrorCode::kInvalidArgument,
                capture.path() + ": expected steps to show, found none" +
                    (options.steps ? " in this range" : " in this capture"));
  if (steps.size() > kMaxHandoutSteps)
    throw Error(ErrorCode::kInvalidArgument,
                capture.path() + ": expected at most " + std::to_string(kMaxHandoutSteps) +
                    " steps for one page, found " + std::to_string(steps.size()) +
                    "; choose some with --steps FIRST:LAST");
  return steps;
}

std::vector<std::string> panels_of(const capture::Capture& capture, const HandoutOptions& options) {
  if (options.panels.empty()) return handout_panels(capture);
  std::set<std::string> seen;
  for (const std::string& panel : options.panels) {
    make_panel(panel);  // make_panel() refuses a wrong name
    if (!seen.insert(panel).second)
      throw Error(ErrorCode::kInvalidArgument,
                  "--panel: expected every panel once; found " + panel + " twice");
  }
  return options.panels;
}

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

// The narration of a step, as the data from which the page shows it:
//
//   [["draft", [sentence, …]], …]       by phase; a sentence is a list of its parts
//   "words" or ["words", "n7"]          a part; the second is a link: n = node, s = place of a step in the
//                                       page, p = panel
//
// A slot's link leads to the node whose KV lies in it. A link that would lead out of the page becomes words.
// `steps` and `panels` are those of the page; `nodes` receives the linked nodes.
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
           script_string(capture::to_string(capture::phase_of(row->tick))) + ",[";
    bool begins = true;
    for (const Sentence& sentence : narrate(capture, row->tick + 1, sentences).sentences) {
      std::string parts, words;
      const auto flush = [&] {
        if (!words.empty()) parts += (parts.empty() ? "" : ",") + script_string(words);
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
        parts += (parts.empty() ? "[" : ",[") + script_string(part.text) + "," +
                 script_string(link) + "]";
      }
      flush();
      out += (begins ? "[" : ",[") + parts + "]";
      begins = false;
    }
    out += "]]";
  }
  return out + "]";
}

}  // namespace

std::string handout_html(const capture::Capture& capture, const HandoutOptions& options,
                         const ProgressSink& progress) {
  const std::vector<std::string> panels = panels_of(capture, options);
  const std::vector<std::int32_t> steps = steps_of(capture, options);
  const auto total = static_cast<double>(steps.size() * (panels.size() + 1));
  double done = 0;
  const auto count = [&] {
    if (progress) progress("exporting the handout", ++done, total);
  };

  std::vector<PaneView> views;
  for (const std::int32_t step : steps) views.push_back({cursor_after(capture, step)});
  PaneContext context;
  context.capture = &capture;
  context.views = views;
  context.drawn = count;
  PagePictures pictures(panels, context);

  const Sentences& sentences = Sentences::standard();
  std::string words;
  for (const std::int32_t step : steps) {
    // Every pane brings the end of the best path into view.
    const auto leaves = leaves_at(capture, cursor_after(capture, step));
    words +=
        (words.empty() ? "" : ",") + std::string("{\"step\":") + std::to_string(step) +
        ",\"lead\":" + std::to_string(leaves.empty() ? -1 : leaves.front().node) +
        ",\"words\":" + step_words_json(capture, step, steps, panels, sentences, pictures.nodes()) +
        "}";
    count();
  }
  const capture::RunInfo& run = capture.run();
  const std::string title = run.method_title.empty() ? run.method : run.method_title;
  return handout_page({.title = title,
                       .data = "{\"title\":" + script_string(title) +
                               ",\"prompt\":" + script_string(plain_text(run.prompt_text)) +
                               ",\"facts\":" + facts_json(capture) + ",\"steps\":[" + words + "]," +
                               pictures.json() + "}"});
}

void export_handout(const capture::Capture& capture, const std::string& path,
                    const HandoutOptions& options, const ProgressSink& progress) {
  write_whole(path, handout_html(capture, options, progress));
}

}  // namespace triescope::viz

#include "viz/handout/handout.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "viz/export/export.h"
#include "viz/handout/handout_page.h"
#include "viz/handout/json_text.h"
#include "viz/handout/page_pictures.h"
#include "viz/handout/pane_plan.h"
#include "viz/handout/step_words.h"
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
                       .data = "{\"title\":" + json_text(title) +
                               ",\"prompt\":" + json_text(plain_text(run.prompt_text)) +
                               ",\"facts\":" + facts_json(capture) + ",\"steps\":[" + words + "]," +
                               pictures.json() + "}"});
}

void export_handout(const capture::Capture& capture, const std::string& path,
                    const HandoutOptions& options, const ProgressSink& progress) {
  write_page(path, handout_html(capture, options, progress));
}

}  // namespace triescope::viz

#include "app/window/command_parts.h"

namespace triescope::app {
namespace {

std::function<bool()> has_partner(const Workspace& w) {
  return [&w] { return w.comparison.partner() != nullptr; };
}

}  // namespace

Commands compare_commands(Workspace& w, UiState& ui) {
  Commands rows = {{.id = "compare-with",
                    .title = "Compare with…",
                    .menu = "View",
                    .chords = chords({"Ctrl+D"}),
                    .run = opens(ui, Dialog::kCompare),
                    .enabled = has_document(w),
                    .separator_before = true,
                    .help =
                        "Puts another run or capture beside this one. They share one cursor and "
                        "one focus; differences are marked ≠.",
                    .keywords = "side by side diff"}};
  for (const viz::Along along : viz::all_alongs()) {
    const std::string name = viz::to_string(along);
    rows.push_back(
        {.id = "compare-by-" + name,
         .title = "Compare: align cursors by " + name,
         .menu = "View",
         .run = [&w, along] { w.comparison.set_along(along); },
         .enabled = has_partner(w),
         .checked = [&w, along] { return w.comparison.is_on() && w.comparison.along() == along; }});
  }
  rows.push_back(
      {.id = "compare-own-scales",
       .title = "Compare: each run with axes of its own",
       .menu = "View",
       .run = [&w] { w.preferences.compare_own_scales = !w.comparison.own_scales(); },
       .enabled = has_partner(w),
       .checked = [&w] { return w.comparison.own_scales(); },
       .help = "Else the charts of both have the same axes, so that what is longer looks longer."});
  rows.push_back({.id = "go-difference",
                  .title = "Go to first difference",
                  .menu = "Go",
                  .chords = chords({"Ctrl+J"}),
                  .run =
                      [&w] {
                        if (!w.comparison.go_to_difference())
                          w.say(LogLevel::kInfo, "the two texts are the same so far");
                      },
                  .enabled = has_partner(w)});
  rows.push_back(
      {.id = "next-difference",
       .title = "Go to next difference",
       .menu = "Go",
       .chords = chords({"Ctrl+Shift+J"}),
       .run =
           [&w] {
             if (!w.comparison.go_to_next_difference())
               w.say(LogLevel::kInfo, "the two texts differ no further on");
           },
       .enabled = has_partner(w),
       .help = "The next place where the two texts part, after they have agreed again."});
  return rows;
}

}  // namespace triescope::app

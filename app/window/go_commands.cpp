#include "app/window/command_parts.h"
#include "viz/query/kv_levels.h"

namespace triescope::app {

Commands go_commands(Workspace& w, UiState& ui) {
  return {
      {.id = "back",
       .title = "Step back",
       .menu = "Go",
       .chords = chords({"Alt+F10", "Left", "PageUp"}),
       .run = [&w] { w.transport.back(); },
       .enabled = has_document(w),
       .help = "Shows the step before. Nothing is decoded again."},
      {.id = "back-phase",
       .title = "Phase back",
       .menu = "Go",
       .chords = chords({"Alt+F11"}),
       .run = [&w] { w.transport.back_phase(); },
       .enabled = has_document(w)},
      {.id = "go-start",
       .title = "Go to start",
       .menu = "Go",
       .chords = chords({"Home"}),
       .run = [&w] { w.transport.go_to_start(); },
       .enabled = has_document(w)},
      {.id = "follow",
       .title = "Back to now",
       .menu = "Go",
       .chords = chords({"End"}),
       .run = [&w] { w.documents.follow(); },
       .enabled = has_document(w),
       .help = "To the newest step, and on with it while the run goes on."},
      {.id = "go-to-peak",
       .title = "Go to the peak of KV memory",
       .menu = "Go",
       .chords = chords({"P"}),
       .run =
           [&w] {
             Document& document = *w.active();
             if (const auto peak = viz::kv_peak(*document.capture, document.capture->end_tick(),
                                                capture::Whose::kTarget, document.range))
               w.documents.set_cursor_of(document, peak->tick + 1);
           },
       .enabled =
           [&w] {
             return w.active() && !w.active()->capture->kv_levels(capture::Whose::kTarget).empty();
           },
       .help =
           "The phase after which the target held the most KV slots at once, in the whole run or "
           "in the range.",
       .keywords = "most slots maximum highest"},
      {.id = "find",
       .title = "Find in the run…",
       .menu = "Go",
       .chords = chords({"Ctrl+F"}),
       .run =
           [&ui] {
             ui.find.by = FindBy::kText;
             ui.find.open = ui.find.just_opened = true;
           },
       .enabled = has_document(w),
       .separator_before = true,
       .help = "A token or text, in what was decoded and in the drafts. Enter: the next one; "
               "Shift+Enter: the one before; Esc closes.",
       .keywords = "search text token"},
      {.id = "steps-where",
       .title = "Find steps where…",
       .menu = "Go",
       .chords = chords({"Ctrl+Shift+F"}),
       .run =
           [&ui] {
             ui.find.by = FindBy::kWhere;
             ui.find.open = ui.find.just_opened = true;
           },
       .enabled = has_document(w),
       .help = "Steps of which a condition is true, such as accepted >= 1 and refused > 0. Enter: "
               "the next one; Shift+Enter: the one before; Esc closes.",
       .keywords = "search condition expression query where"},
      {.id = "find-next",
       .title = "Find: next",
       .run = [&w, &ui] { ui.find.go(w, +1); },
       .enabled = [&w, &ui] { return w.active() && !ui.find.asked().empty(); },
       .help = "Enter, in the field of the search."},
      {.id = "find-previous",
       .title = "Find: previous",
       .run = [&w, &ui] { ui.find.go(w, -1); },
       .enabled = [&w, &ui] { return w.active() && !ui.find.asked().empty(); },
       .help = "Shift+Enter, in the field of the search."},
      {.id = "bookmark",
       .title = "Bookmarks…",
       .menu = "Go",
       .chords = chords({"Ctrl+B"}),
       .run = opens(ui, Dialog::kBookmark),
       .enabled = has_document(w),
       .separator_before = true,
       .help = "Marks this place with a note; lists the marks, changes and removes them.",
       .keywords = "mark note remember list edit remove"},
      {.id = "next-bookmark",
       .title = "Next bookmark",
       .menu = "Go",
       .chords = chords({"Ctrl+Right"}),
       .run = [&w] { w.documents.go_to_bookmark(+1); },
       .enabled = has_document(w)},
      {.id = "previous-bookmark",
       .title = "Previous bookmark",
       .menu = "Go",
       .chords = chords({"Ctrl+Left"}),
       .run = [&w] { w.documents.go_to_bookmark(-1); },
       .enabled = has_document(w)},
      {.id = "release-focus",
       .title = "Clear focus",
       .menu = "Go",
       .run = [&w] { w.comparison.lock_focus(-1); },
       .enabled = has_document(w),
       .keywords = "deselect unlock"},
      {.id = "range-from",
       .title = "Range: from this step",
       .menu = "Go",
       .chords = chords({"Shift+Home"}),
       .run = [&w] { w.comparison.end_range(/*first=*/true); },
       .enabled = has_document(w),
       .help = "Or drag over the timeline. What is exported and measured is limited to the range."},
      {.id = "range-to",
       .title = "Range: to this step",
       .menu = "Go",
       .chords = chords({"Shift+End"}),
       .run = [&w] { w.comparison.end_range(/*first=*/false); },
       .enabled = has_document(w)},
      {.id = "clear-range",
       .title = "Clear range",
       .menu = "Go",
       .run = [&w] { w.comparison.set_range_of(*w.active(), std::nullopt); },
       .enabled = [&w] { return w.active() && w.active()->range; }},
  };
}

}  // namespace triescope::app

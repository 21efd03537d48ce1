// The lists of the palette and of the keys.
#include "app/window/commands.h"
#include "app/window/dialogs/command_lists.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/session/text_tools.h"
#include "tests/unit/viz/captures.h"

namespace triescope::app::test_command_lists {
namespace {

struct Table {
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};

  Table() { workspace.documents.open(test::beam_capture().path()); }

  std::vector<std::string> ids(const std::string& query) const {
    std::vector<std::string> ids;
    for (const Command* const command : palette_commands(commands, query))
      ids.push_back(command->id);
    return ids;
  }
  bool has(const std::string& query, const std::string& id, std::size_t within = 8) const {
    const auto all = ids(query);
    const auto at = std::ranges::find(all, id) - all.begin();
    return at < static_cast<std::ptrdiff_t>(std::min(within, all.size()));
  }
};

TEST_CASE_FIXTURE(Table,
                  "palette: whoever types export finds all that saves a run, cancelling last") {
  const auto all = ids("export");
  REQUIRE(all.size() >= 5);
  CHECK(all[0] == "export");
  for (const char* const id : {"save-picture", "save-handout", "save-data"})
    CHECK(has("export", id));
  CHECK(all.back() == "cancel");  // there is nothing to cancel
}

TEST_CASE_FIXTURE(Table, "palette: commands are found by the words that people have for them") {
  for (const auto& [query, id] : {std::pair{"html", "save-handout"},
                                  {"json", "save-data"},
                                  {"screenshot", "save-picture"},
                                  {"shortcuts", "keys"},
                                  {"search", "find"},
                                  {"branch", "what-if"},
                                  {"play", "run"},
                                  {"run save", "save-data"},
                                  {"previous match", "previous-match"},
                                  {"slower", "play-slower"}}) {
    CAPTURE(query);
    CHECK(has(query, id));
  }
  CHECK(ids("no such words at all").empty());
}

TEST_CASE_FIXTURE(Table, "palette: what is possible now comes before what is not") {
  const auto first_impossible = [&] {
    const auto rows = palette_commands(commands, "run");
    return std::ranges::find_if(rows, [](const Command* one) { return !one->is_enabled(); }) -
           rows.begin();
  };
  const auto open = first_impossible();
  REQUIRE(open > 3);
  const auto rows = palette_commands(commands, "run");
  CHECK(std::all_of(rows.begin() + open, rows.end(),
                    [](const Command* one) { return !one->is_enabled(); }));
  workspace.run.close(workspace.active());
  CHECK(first_impossible() < open);
}

TEST_CASE_FIXTURE(Table,
                  "palette: without a query every command but itself, in the table's order") {
  const auto all = ids("");
  CHECK(all.size() == commands.all().size() - 1);
  CHECK(all.front() == commands.all().front().id);
  CHECK(std::ranges::count(all, "palette") == 0);
}

TEST_CASE_FIXTURE(Table, "keys: every key stands there once, in a group, sorted by what it does") {
  const auto groups = key_groups(commands, /*lecture=*/false, "");
  std::size_t listed = 0;
  std::set<std::string> titles;
  for (const KeyGroup& group : groups) {
    CAPTURE(group.title);
    CHECK(titles.insert(group.title).second);
    CHECK_FALSE(group.rows.empty());
    if (group.title.starts_with("With")) continue;  // the mouse, and the keyboard walk
    listed += group.rows.size();
    CHECK(
        std::ranges::is_sorted(group.rows, {}, [](const KeyRow& row) { return lower(row.what); }));
  }
  std::size_t keys = 0;
  for (const Command& command : commands.all())
    keys += (command.chords.empty() ? 0 : 1) + (command.lecture_chords.empty() ? 0 : 1);
  CHECK(listed == keys);
  CHECK(groups.front().title == "File");
  CHECK(key_groups(commands, /*lecture=*/true, "").front().title == "In lecture mode");
}

TEST_CASE_FIXTURE(Table, "keys: a search leaves what fits, by the key or by what it does") {
  const auto rows = [&](const std::string& query) {
    std::vector<std::string> all;
    for (const KeyGroup& group : key_groups(commands, false, query))
      for (const KeyRow& row : group.rows) all.push_back(row.keys + ": " + row.what);
    return all;
  };
  REQUIRE(rows("ctrl+f").size() >= 1);
  CHECK(std::ranges::count(rows("ctrl+f"), "Ctrl+F: Find in the run…") == 1);
  CHECK(std::ranges::count(rows("find in"), "Ctrl+F: Find in the run…") == 1);
  CHECK(rows("no such key").empty());
}

TEST_CASE_FIXTURE(Table, "keys: no two commands of the window have the same one") {
  std::set<std::string> seen;
  for (const Command& command : commands.all())
    for (const Chord chord : command.chords) {
      CAPTURE(to_string(chord));
      CHECK(seen.insert(to_string(chord)).second);
    }
}

TEST_CASE_FIXTURE(
    Table,
    "command lists: the peak of KV memory has a key, which leads to it from anywhere, within the range") {
  const Command* const peak = commands.find("go-to-peak");
  REQUIRE(peak);
  CHECK(has("peak", "go-to-peak", 1));
  CHECK_FALSE(peak->chords.empty());
  Document& document = *workspace.active();
  const capture::Capture& run = *document.capture;
  // The first tick after which the most slots are held, counted slot by slot.
  const auto right = [&](std::int32_t first, std::int32_t last) {
    std::int32_t most = -1;
    capture::Tick at = 0;
    for (capture::Tick tick = capture::make_tick(first, capture::Phase::kDraft);
         tick < capture::make_tick(last + 1, capture::Phase::kDraft) && tick < run.end_tick();
         ++tick) {
      std::int32_t held = 0;
      for (std::int32_t slot = 0; slot < run.slot_count_at(tick + 1); ++slot)
        held += run.slot_at(slot, tick + 1).state != capture::SlotState::kFree;
      if (held > most) most = held, at = tick;
    }
    return at + 1;
  };
  for (const capture::Tick from : {capture::Tick{0}, run.end_tick()}) {
    workspace.documents.set_cursor_of(document, from);
    peak->run();
    CHECK(document.cursor == right(0, run.last_step()));
  }
  workspace.comparison.set_range_of(document, std::pair{3, 9});
  peak->run();
  CHECK(document.cursor == right(3, 9));
}

}  // namespace
}  // namespace triescope::app::test_command_lists

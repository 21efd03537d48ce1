#include "app/window/dialogs/command_lists.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/session/text_tools.h"
#include "app/window/shell/search_rank.h"
#include "core/base/words.h"

namespace triescope::app {
namespace {

std::string key_text(const std::vector<Chord>& chords) {
  std::string text;
  for (const Chord chord : chords) text += (text.empty() ? "" : "   ") + to_string(chord);
  return text;
}

void add_group(std::vector<KeyGroup>& groups, KeyGroup group, const std::string& query) {
  std::erase_if(group.rows, [&](const KeyRow& row) {
    return !search_rank(query, row.what, row.keys + " " + group.title);
  });
  if (!group.rows.empty()) groups.push_back(std::move(group));
}

}  // namespace

std::vector<const Command*> palette_commands(const CommandList& commands,
                                             const std::string& query) {
  struct Found {
    bool impossible;
    int rank;
    const Command* command;
  };
  std::vector<Found> found;
  for (const Command& command : commands.all()) {
    if (command.id == "palette") continue;
    const auto rank = search_rank(query, command.title, command.keywords + "\n" + command.help);
    if (!rank) continue;
    // A keyword equal to the query ranks like a word of the title.
    const bool by_keyword = std::ranges::count(words(command.keywords), lower(query)) > 0;
    found.push_back(
        {!command.is_enabled(), by_keyword ? std::min(*rank, kTitleWordRank) : *rank, &command});
  }
  if (!query.empty())
    std::ranges::stable_sort(found, {},
                             [](const Found& one) { return std::tuple(one.impossible, one.rank); });
  std::vector<const Command*> rows;
  for (const Found& one : found) rows.push_back(one.command);
  return rows;
}

std::vector<KeyGroup> key_groups(const CommandList& commands, bool lecture,
                                 const std::string& query) {
  std::vector<KeyGroup> groups;
  const auto add = [&](const std::string& title, std::vector<Chord> Command::*chords,
                       auto belongs) {
    KeyGroup group{title, {}};
    for (const Command& command : commands.all())
      if (!(command.*chords).empty() && belongs(command))
        group.rows.push_back({key_text(command.*chords), command.title});
    std::ranges::stable_sort(group.rows, {}, [](const KeyRow& row) { return lower(row.what); });
    add_group(groups, std::move(group), query);
  };
  const auto add_lecture = [&] {
    add("In lecture mode", &Command::lecture_chords, [](const Command&) { return true; });
  };
  if (lecture) add_lecture();
  for (const std::string& menu : menu_names())
    add(menu, &Command::chords, [&](const Command& command) { return command.menu == menu; });
  add("More", &Command::chords, [](const Command& command) { return command.menu.empty(); });
  if (!lecture) add_lecture();
  add_group(groups,
            {"Without the mouse",
             {{"Tab   Shift+Tab", "walk: to the next part of the window, the one before"},
              {"arrows", "walk: to the part or the node that lies there"},
              {"Enter   Space", "walk: press what has the focus"},
              {"Esc", "close, end the walk, clear the focus and the range: the innermost first"}}},
            query);
  add_group(
      groups,
      {"With the mouse",
       {{"wheel, drag", "zoom the panel under the mouse at the pointer, move its picture"},
        {"click", "lock the focus on a node;  Esc clears it, and the range"},
        {"Shift+drag on the timeline", "select a range of steps"},
        {"drag a tab", "to another pane, to the edge of one, or out into a window of its own"}}},
      query);
  return groups;
}

}  // namespace triescope::app

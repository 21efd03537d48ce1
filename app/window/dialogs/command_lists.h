// The commands as two dialogs list them: the palette, best match first, and the keys, by menu. Pure:
// apart from their drawing, so that it can be tested.
#pragma once

#include <string>
#include <vector>

#include "app/window/shell/command.h"

namespace triescope::app {

// Those that fit the query (search_rank.h), by title, keywords and help; what is possible now before what
// is not. Without the palette itself.
std::vector<const Command*> palette_commands(const CommandList& commands, const std::string& query);

struct KeyRow {
  std::string keys, what;
};
struct KeyGroup {
  std::string title;
  std::vector<KeyRow> rows;  // by what they do
};
// Of every menu, then of what no menu has, lecture mode, the keyboard's walk and the mouse. In lecture mode its
// own keys come first. Groups without a row that fits are left out.
std::vector<KeyGroup> key_groups(const CommandList& commands, bool lecture,
                                 const std::string& query);

}  // namespace triescope::app

// The commands as two dialogs list them: the palette, best match first, and the keys, by menu.
// Pure, apart from the drawing, so that tests can read it.
#pragma once

#include <string>
#include <vector>

#include "app/window/shell/command.h"

namespace triescope::app {

// The commands that fit the query (search_rank.h) by title, keywords and help. Enabled ones come
// before disabled ones; the palette itself is left out.
std::vector<const Command*> palette_commands(const CommandList& commands, const std::string& query);

struct KeyRow {
  std::string keys, what;
};
struct KeyGroup {
  std::string title;
  std::vector<KeyRow> rows;  // sorted by `what`
};
// One group a menu, then the commands without a menu, lecture mode, the keyboard walk and the
// mouse. In lecture mode its own keys come first. Groups without a matching row are left out.
std::vector<KeyGroup> key_groups(const CommandList& commands, bool lecture,
                                 const std::string& query);

}  // namespace triescope::app

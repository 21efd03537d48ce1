// The lists of tokens that a step's drafts come from, as a capture's figures say (core/capture/metric_names.h): a
// line of a datastore, the rows of a window, the n-grams of a pool. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/draft_figures.h"

namespace triescope::viz {

struct TokenList {
  struct Token {
    std::int32_t token = 0;
    std::int32_t node = -1;  // that stands for it; -1 = none
    bool matched = false;    // one of the text's last tokens, which were looked up
  };
  std::string title;
  std::vector<Token> tokens;
  FoundMatch match = {};  // of its first draft

  // The title without the number behind it: rows of one table share it.
  std::string_view table() const;
};

// Those of `step`'s draft phase, in their order; empty: there are none, or the cursor has not seen them.
std::vector<TokenList> token_lists(const capture::Capture& capture, std::int32_t step,
                                   capture::Tick cursor);

}  // namespace triescope::viz

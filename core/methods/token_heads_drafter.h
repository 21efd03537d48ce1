// Shared by Medusa and Hydra: a static tree whose levels come from heads side by side. Head i gives
// level i from the target's state at the last verified position; Hydra's heads also read the drafts
// above.
#pragma once

#include <string_view>

#include "core/method/method.h"

namespace triescope {

// Completes a method, named and described, that drafts with heads of this kind; by default in Medusa's tree. A run
// REQUIRES that its draft_head has TokenHeads. Error{kInvalidArgument} of a run: a "tree" that does not fit the heads.
void drafts_with_token_heads(MethodInfo& info, formats::HeadKind kind);

// Medusa's published tree "mc_sim_7b_63", without paths of more than four levels: by expected
// acceptance, best first.
inline constexpr std::string_view kMedusaTree =
    "0;0,0;1;0,1;2;0,0,0;1,0;0,2;3;0,3;4;0,4;2,0;0,5;0,0,1;5;0,6;6;0,7;0,1,0;1,1;7;0,8;0,0,2;3,0;0,9;"
    "8;9;1,0,0;0,2,0;1,2;0,0,3;4,0;2,1;0,0,4;0,0,5;0,0,0,0;0,1,1;0,0,6;0,3,0;5,0;1,3;0,0,7;0,0,8;"
    "0,0,9;6,0;0,4,0;1,4;7,0;0,1,2;2,0,0;3,1;2,2;8,0;0,5,0;1,5;1,0,1;0,2,1;9,0;0,6,0;0,0,0,1;1,6;"
    "0,7,0";

}  // namespace triescope

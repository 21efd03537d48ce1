// The methods that write one text, for the registry. Each function is in a file of the same name.
#pragma once

#include "core/method/method.h"

namespace triescope {

MethodInfo sample_method();            // sample.cpp
MethodInfo ngram_trie_method();        // ngram_trie.cpp
MethodInfo prompt_lookup_method();     // prompt_lookup.cpp
MethodInfo suffix_automaton_method();  // suffix_automaton.cpp
MethodInfo suffix_decoding_method();   // suffix_decoding.cpp
MethodInfo rest_method();              // rest.cpp
MethodInfo lookahead_method();         // lookahead.cpp
MethodInfo token_recycling_method();   // token_recycling.cpp
MethodInfo draft_model_method();       // draft_model.cpp
MethodInfo universal_draft_method();   // universal_draft.cpp
MethodInfo layer_skip_method();        // layer_skip.cpp
MethodInfo medusa_method();            // medusa.cpp
MethodInfo hydra_method();             // hydra.cpp
MethodInfo eagle_method();             // eagle.cpp
MethodInfo eagle2_method();            // eagle2.cpp
MethodInfo eagle3_method();            // eagle3.cpp
MethodInfo mtp_method();               // mtp.cpp
MethodInfo dflash_method();            // dflash.cpp
MethodInfo space_method();             // space.cpp

}  // namespace triescope

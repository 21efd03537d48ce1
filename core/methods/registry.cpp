// The list of methods. A new method needs its file in this folder, its factory's declaration, and a
// line here.
#include "core/methods/registry.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/methods/search_methods.h"
#include "core/methods/text_methods.h"

namespace triescope {

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> list = {
      beam_method(),
      batch_beam_method(),
      greedy_method(),
      sample_method(),
      sample_then_beam_method(),
      speculative_beam_method(),
      ngram_trie_method(),
      prompt_lookup_method(),
      suffix_automaton_method(),
      suffix_decoding_method(),
      rest_method(),
      lookahead_method(),
      token_recycling_method(),
      draft_model_method(),
      universal_draft_method(),
      layer_skip_method(),
      medusa_method(),
      hydra_method(),
      eagle_method(),
      eagle2_method(),
      eagle3_method(),
      mtp_method(),
      dflash_method(),
      space_method(),
  };
  return list;
}

const MethodInfo& find_method(const std::string& name) {
  std::vector<std::string> known;
  std::string list;
  for (const MethodInfo& method : methods()) {
    if (method.name == name) return method;
    known.push_back(method.name);
    list += (list.empty() ? "" : ", ") + method.name;
  }
  throw Error(ErrorCode::kInvalidArgument, "method: expected one of " + list + "; found \"" + name +
                                               "\"" + did_you_mean(name, known));
}

std::string methods_for(formats::HeadKind kind) {
  std::string names;
  for (const MethodInfo& method : methods())
    if (method.needs_draft_head() && std::ranges::find(method.heads, kind) != method.heads.end())
      names += (names.empty() ? "" : " or ") + method.name;
  return names;
}

void check_head_kind(const MethodInfo& method, formats::HeadKind kind) {
  if (std::ranges::find(method.heads, kind) != method.heads.end()) return;
  std::string wanted;
  for (const formats::HeadKind head : method.heads)
    wanted += (wanted.empty() ? "" : " or ") + std::string(formats::to_string(head));
  throw Error(ErrorCode::kInvalidArgument,
              "method " + method.name + ": expected a draft head of kind " + wanted + "; found " +
                  formats::to_string(kind) + ", which --method " + methods_for(kind) + " takes");
}

}  // namespace triescope

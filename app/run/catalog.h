// Catalog: the models and draft heads this installation knows by a short name (what set-up
// installed, what comes with the program, what the user dropped into the models folder), and how a
// MODEL or --draft argument is resolved to a path.
#pragma once

#include <string>
#include <vector>

#include "core/method/method.h"

namespace triescope::app {

struct CatalogEntry {
  std::string name;  // "smollm2-135m-instruct"
  std::string path;
  std::string note;  // "installed by set-up"
};

// Looks in $TRIESCOPE_MODELS, the models folders beside the program (build/../.deps/models,
// ../share/triescope/models) and
// ~/.local/share/triescope/models. A folder's *.gguf files and directories with a config.json are
// entries, but for draft heads. SmolLM2 first.
std::vector<CatalogEntry> list_models();

// A path as it is (one of a file within a model's folder becomes the folder), a short name (case-insensitive), or the file name of a .gguf file that is known
// by its short name. "" = SmolLM2-135M-Instruct if installed,
// else the first entry. Errors: kNotFound for a path (it has a '/', or ends in .gguf) and where
// none is installed, kInvalidArgument for a name; both say what was looked for and which names
// there are.
std::string resolve_model(const std::string& model);

// Draft heads: those that come with the program (build/../assets/draft, ../share/triescope/draft),
// then those in the folders of list_models().
std::vector<CatalogEntry> list_draft_heads();
// Draft models that come with the program, then those that set-up makes (build/../.deps/draft). Any
// model of list_models() can draft as well.
std::vector<CatalogEntry> list_draft_models();
// What --draft names: a path as it is, or the short name of a draft head or of a model, as
// resolve_model does. `called` is what messages call it. Errors: kInvalidArgument for "", else
// resolve_model's.
std::string resolve_draft(const std::string& draft, const std::string& called = "draft");

// What drafts for `method` where nothing is named: the target itself where it holds a head of a kind
// that the method takes, the first of list_draft_heads() that is of such a kind and fits the target, or the first of list_draft_models() with the target's number
// of tokens. "" = there is none. `target`: its path. Errors: as the target's file is read.
std::string default_draft(const MethodInfo& method, const std::string& target);

}  // namespace triescope::app

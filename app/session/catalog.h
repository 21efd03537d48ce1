// Catalog: the models and draft heads that this installation knows by a short name (installed by
// set-up, shipped with the program, or put into the models folder by the user), and how a MODEL or
// --draft argument becomes a path.
#pragma once

#include <filesystem>
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
// ../share/triescope/models) and ~/.local/share/triescope/models. The entries are a folder's *.gguf
// files and directories with a config.json, except draft heads. SmolLM2 comes first.
std::vector<CatalogEntry> list_models();

// Takes a path (a file in a model's folder becomes the folder), a short name (case-insensitive), or
// the file name of a .gguf file that is known by its short name. "" = SmolLM2-135M-Instruct if
// installed, else the first entry. Errors: kNotFound for a path (it has a '/', or ends in .gguf)
// and if no model is installed, kInvalidArgument for a name; both say what was looked for and which
// names exist.
std::string resolve_model(const std::string& model);

// Draft heads: those that come with the program (build/../assets/draft, ../share/triescope/draft),
// then those in the folders of list_models().
std::vector<CatalogEntry> list_draft_heads();
// Draft models that come with the program, then those that set-up makes (build/../.deps/draft). Any
// model of list_models() can draft as well.
std::vector<CatalogEntry> list_draft_models();
// Resolves a --draft argument: a path, or the short name of a draft head or a model, as in
// resolve_model(). Messages call it `called`. Errors: kInvalidArgument for "", else those of
// resolve_model.
std::string resolve_draft(const std::string& draft, const std::string& called = "draft");

// The companion for `method` if nothing is named: the target itself where it holds a head of a kind
// that the method takes, the first of list_draft_heads() of such a kind that fits the target, or the
// first of list_draft_models() with as many tokens as the target. "" = there is none. `target`: its
// path. Errors: those of reading the target's file.
std::string default_draft(const MethodInfo& method, const std::string& target);

// The folders of models: those that $TRIESCOPE_MODELS names (with ':' between them), those beside the
// program, and the user's.
std::vector<std::filesystem::path> model_folders();
// The folders of what drafts: those that come with the program, then those that set-up makes.
std::vector<std::filesystem::path> draft_folders();

}  // namespace triescope::app

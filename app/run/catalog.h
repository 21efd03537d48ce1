// Catalog: the models this installation knows by a short name (what set-up installed, what the user
// dropped into the models folder), and how a MODEL argument is resolved to a path.
#pragma once

#include <string>
#include <vector>

namespace triescope::app {

struct CatalogEntry {
  std::string name;  // "smollm2-135m-instruct"
  std::string path;
  std::string note;  // "installed by set-up"
};

// Looks in $TRIESCOPE_MODELS, the models folders beside the program (build/../.deps/models,
// ../share/triescope/models) and
// ~/.local/share/triescope/models. A folder's *.gguf files and directories with a config.json are
// entries. SmolLM2 first.
std::vector<CatalogEntry> list_models();

// A path as it is, or a short name (case-insensitive). "" = SmolLM2-135M-Instruct if installed,
// else the first entry. Errors: kNotFound for a path (it has a '/', or ends in .gguf) and where
// none is installed, kInvalidArgument for a name; both say what was looked for and which names
// there are.
std::string resolve_model(const std::string& model);

}  // namespace triescope::app

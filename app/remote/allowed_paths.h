// AllowedPaths: which files a client of this machine may name. Everything else is refused with the
// same words, whether it exists or not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session/catalog.h"
#include "app/session/request.h"

namespace triescope::app {

class AllowedPaths {
 public:
  // Files in these folders, and what a link that lies directly in one of them leads to.
  explicit AllowedPaths(const std::vector<std::filesystem::path>& folders);

  // The path behind a model's or draft's name, if it may be read. Errors: kInvalidArgument: it lies
  // outside of the folders; those of resolve_model() and resolve_draft() for a name.
  std::string model(const std::string& name) const;
  std::string draft(const std::string& name) const;
  // The request with its names replaced by paths. Errors: those of the two above; kInvalidArgument:
  // a setting that names a file outside of the folders.
  RunRequest request(RunRequest request) const;
  // Those of the entries that may be read.
  std::vector<CatalogEntry> of(std::vector<CatalogEntry> entries) const;
  bool allows(const std::string& path) const;

 private:
  void check(const std::string& path) const;

  std::vector<std::filesystem::path> roots_;  // without links
};

}  // namespace triescope::app

// Resolver: fills a HeadConfig, a member for each kind of head (resolve_config.cpp and files of their own). Borrows
// everything.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/draft_head/head_json.h"
#include "core/files/draft_head/named_tensors.h"

namespace triescope::formats {

struct Resolver {
  const NamedTensors& tensors;
  const HeadJson& json;
  const TargetShape& target;
  std::vector<std::string>& notes;
  HeadConfig config = {};

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::kNotSupported, tensors.path() + ": " + what);
  }
  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorCode::kCorruption, tensors.path() + ": " + what);
  }
  // The tensors have the last word; a note mentions a config.json that says something else.
  void compare(const JsonFields& fields, const char* key, int found, const std::string& what) {
    if (fields.has(key) && fields.integer(key) != found) {
      notes.push_back("config.json says " + std::string(key) + " " +
                      std::to_string(fields.integer(key)) + ", the file holds " +
                      std::to_string(found) + " " + what + ": the file's are used");
    }
  }

  void transformer(const std::string& first);
  void eagle();
  void eagle3();
  void medusa();
  void hydra();
  void space();
  void space_model();
  void mtp();     // resolve_mtp.cpp
  void dflash();  // resolve_dflash.cpp
  void vocabularies(const std::string& embedding, const std::string& output);
};

}  // namespace triescope::formats

// The verbs of scripts: a table for what is shown, one for the run, one for files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/window/script_verbs.h"

namespace triescope::app {

// A line of a script that begins with a verb.
struct VerbCall {
  ScriptHost& host;
  const std::string& argument;           // all behind the verb
  const std::vector<std::string>& args;  // its words
  Workspace& workspace;

  // Error{kInvalidArgument}: no capture is open.
  Document& document() const;
  std::int32_t number(std::size_t arg) const;  // a word as a whole number
};

struct Verb {
  const char* name;
  const char* arguments;  // for messages
  std::size_t least;      // so many words are needed
  void (*run)(const VerbCall& call);
};
std::span<const Verb> view_verbs();  // script_view_verbs.cpp
std::span<const Verb> run_verbs();   // script_run_verbs.cpp
std::span<const Verb> file_verbs();  // script_file_verbs.cpp

// Throws Error{kInvalidArgument} with this message.
[[noreturn]] void refuse_verb(const std::string& why);
// Error{kInvalidArgument}: not a number.
double real_number(const std::string& text);

}  // namespace triescope::app

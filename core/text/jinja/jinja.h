// Start here. Jinja: the subset of the template language in which chat templates are written.
//
//   parse    text -> Template: lex.h cuts it into tags and tokens, parse.cpp builds nodes.h's tree
//   render   Template + globals -> text: eval.h walks the tree; value.h, text.h do what Python does
//
// The white space rules are those of trim_blocks and lstrip_blocks, with loop controls, as
// transformers sets them. Nothing but the template itself is executed, and its steps, depth, memory
// and output are limited, so a malicious template ends. A Template is immutable; any number of
// threads may render it. Source: the Jinja 3 documentation; transformers' chat_template_utils.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/text/jinja/value.h"

namespace triescope::jinja {

struct Node;
struct Template {
  std::shared_ptr<const Node> root;
};

struct Limits {
  std::int64_t steps = 5'000'000;
  std::size_t output_bytes = 16u << 20;
  int macro_depth = 100;
  int depth = 1000;       // for the walk over the syntax tree
  int value_depth = 100;  // for lists in lists
  std::uint32_t value_weight = 1'000'000;
  std::int64_t range = 100'000;  // as Jinja's sandbox
};

// Errors: kNotSupported ("chat template, line 12: ... is not supported").
Template parse(const std::string& text);
// Renders a template with its global variables. Errors: kNotSupported (names the construct and its
// line, or the limit), kInvalidArgument (the template called raise_exception).
std::string render(const Template& parsed, const Dict& globals, const Limits& limits = {});

}  // namespace triescope::jinja

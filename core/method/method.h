// A decoding method: MethodInfo says what it is and what it needs, and makes the two parts that the
// step calls: a Drafter (or none) and an Acceptor. Each method is a file in core/methods; adding
// one touches that file and the list in core/methods/registry.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/files/draft_head/head_config.h"
#include "core/method/acceptor.h"
#include "core/method/drafter.h"
#include "core/method/parameter.h"
#include "core/method/run_context.h"
#include "core/method/settings.h"
#include "core/tree/kv_policy_kind.h"

namespace triescope {

struct MethodParts {
  std::unique_ptr<Drafter> drafter;    // null = none
  std::unique_ptr<Acceptor> acceptor;  // never null
};

// The companion that a method needs beside the target model.
enum class Need : std::uint8_t { kNothing, kDraftModel, kDraftHead };
const char* to_string(Need need);  // "", "draft model", "draft head"

struct MethodInfo {
  std::string name;      // "beam"
  std::string title;     // "Trie beam search"
  std::string summary;   // two sentences
  std::string paper;     // title, authors, year, section or equation; "" = folklore
  bool lossless = true;  // same text (or distribution) as plain decoding of the same kind
  capture::RunKind kind = capture::RunKind::kText;
  // kDrafts: the name of what proposes drafts in captures (viz reads it only there).
  std::string drafter_name;   // in labels and exports: "n-gram trie"
  std::string drafter_title;  // in sentences; "" = the method's title
  capture::DrafterKind drafter_kind = capture::DrafterKind::kOther;
  std::string width_setting;  // kBeams: the parameter that sets how many texts are kept
  Need needs = Need::kNothing;
  bool any_vocabulary = false;  // kDraftModel: the draft model may have another tokenizer
  // It drafts by itself, or with a draft model of the same tokenizer or one of `heads` where one is given.
  bool takes_companion = false;
  std::vector<formats::HeadKind> heads;  // the kinds of head that it takes
  std::vector<Parameter> parameters;
  std::vector<KvPolicyKind> kv_policies = {KvPolicyKind::kRecycle, KvPolicyKind::kCompact,
                                           KvPolicyKind::kKeep};  // first = default
  std::function<MethodParts(const RunContext&)> make;

  bool drafts() const { return kind == capture::RunKind::kDrafts; }
  bool needs_draft_model() const { return needs == Need::kDraftModel; }
  bool needs_draft_head() const { return needs == Need::kDraftHead; }
  // Whether a companion of this kind has a use here, needed or not.
  bool takes_draft_model() const { return needs_draft_model() || takes_companion; }
  bool takes_draft_head() const { return needs_draft_head() || takes_companion; }
};

// How many texts a run keeps side by side; 1 except for beams.
int run_width(const MethodInfo& method, const Settings& settings);

}  // namespace triescope

#include "core/capture/reasons.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/base/error.h"
#include "core/capture/code_names.h"
#include "core/capture/records.h"

namespace triescope::capture {
namespace {

struct ReasonEntry {
  ReasonRule rule;
  const char* values;
};
constexpr ReasonEntry kReasons[] = {
    {ReasonRule::kNone, ""},
#define TRIESCOPE_REASON(code, name, rule, values) {ReasonRule::rule, values},
#include "core/capture/reasons.def"
};
static_assert(std::size(kReasons) == kReasonCount);

constexpr ReasonValue kValues[] = {
#define TRIESCOPE_REASON_VALUE(name, column, unit, meaning) \
  {#name, #column, ReasonUnit::unit, meaning,               \
   [](const VerdictRow& row) { return static_cast<double>(row.column); }},
#include "core/capture/reasons.def"
};

const ReasonEntry& entry_of(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

}  // namespace

template <>
Names code_names<Reason>() {
  static constexpr const char* kNames[] = {
      "none",
#define TRIESCOPE_REASON(code, name, rule, values) #name,
#include "core/capture/reasons.def"
  };
  return kNames;
}

const char* to_string(Reason reason) {
  return code_names<Reason>()[static_cast<std::size_t>(reason)];
}

ReasonRule rule_of(Reason reason) { return entry_of(reason).rule; }

const char* to_string(ReasonRule rule) {
  static constexpr const char* kNames[] = {"none",    "greedy", "sample",
                                           "chain",   "block",  "multi_round",
                                           "typical", "top_k",  "not_reached"};
  return kNames[static_cast<std::size_t>(rule)];
}

bool is_after_warpers(Reason reason) {
  switch (rule_of(reason)) {
    case ReasonRule::kSample:
    case ReasonRule::kChain:
    case ReasonRule::kBlock:
    case ReasonRule::kMultiRound:
    case ReasonRule::kTypical:
      return true;
    default:
      return false;
  }
}

std::span<const ReasonValue> reason_values() { return kValues; }

const ReasonValue& reason_value(std::string_view name) {
  const auto found = std::ranges::find(kValues, name, &ReasonValue::name);
  if (found == std::end(kValues))
    throw Error(ErrorCode::kInvalidArgument,
                "there is no value '" + std::string(name) + "' of reasons");
  return *found;
}

const char* values_of(Reason reason) { return entry_of(reason).values; }

bool carries(Reason reason, std::string_view value) {
  const std::string_view all = values_of(reason);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(' ', at), all.size());
    if (all.substr(at, end - at) == value) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace triescope::capture

// The names of enumeration values in a capture, in the order of the values. The file holds them;
// exports, scripts and tooltips show them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/capture/records.h"

namespace triescope::capture {

using Names = std::span<const char* const>;

template <class Code>
Names code_names();
template <>
Names code_names<Phase>();
template <>
Names code_names<Whose>();
template <>
Names code_names<RunKind>();
template <>
Names code_names<RunStatus>();
template <>
Names code_names<DrafterKind>();
template <>
Names code_names<Source>();
template <>
Names code_names<NodeRole>();
template <>
Names code_names<Stage>();
template <>
Names code_names<Verdict>();
template <>
Names code_names<Reason>();
template <>
Names code_names<SlotAction>();
template <>
Names code_names<Level>();
Names log_level_names();  // LogRow::level

// nullopt: the text is none of the names.
template <class Code>
std::optional<Code> code_from_name(std::string_view name) {
  const Names names = code_names<Code>();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Code>(found - names.begin());
}

}  // namespace triescope::capture

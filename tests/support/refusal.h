// What an action that must be refused says.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace triescope::test {

// The message of the Error that `action` throws; its code is checked.
template <class Action>
std::string refusal(ErrorCode code, Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "not refused";
}

// Whether a message says that.
inline bool has(std::string_view message, std::string_view what) {
  return message.find(what) != std::string_view::npos;
}

}  // namespace triescope::test

// How serious a notice is, and where long work reports its progress. Core itself never prints.
#pragma once

#include <functional>
#include <string>

namespace triescope {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Long work (loading, prefill, export) reports its progress here. `done` and `total` have the same
// unit (bytes, tokens, rows); total 0 = unknown. Called from the working thread.
using ProgressSink = std::function<void(const std::string& what, double done, double total)>;

}  // namespace triescope

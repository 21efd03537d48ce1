// Where the core sends its log lines. Core never prints: the program (or a test) hands in a sink.
// A sink may be called from any thread.
#pragma once

#include <functional>
#include <string>

namespace triescope {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogSink = std::function<void(LogLevel, const std::string&)>;

// Long work (loading, prefill, export) reports here. `done` and `total` share a unit (bytes,
// tokens, rows), total 0 = not known. Called from the working thread.
using ProgressSink = std::function<void(const std::string& what, double done, double total)>;

}  // namespace triescope

// The identity of a capture's recorder. It is written into the capture, so that a reader can tell a
// run in progress from one whose program was killed. A lock would be simpler, but a lock file
// outlives its purpose, and locks on the capture itself are SQLite's.
#pragma once

#include <string>

namespace triescope::capture {

// This process as "boot=<id> pidns=<namespace> pid=<n> start=<clock ticks since boot>".
std::string recorder_identity();

// Whether that process still lives. Where that cannot be known (another machine or container),
// whether the capture at `path`, or its log, was written to in the last 10 seconds.
bool recorder_lives(const std::string& identity, const std::string& path);

}  // namespace triescope::capture

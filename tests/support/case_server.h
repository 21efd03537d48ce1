// A test program that serves its cases: it starts once, and each case runs in a fork of it. A
// program with libtorch takes a quarter of a second of a processor to start, which a thousand cases
// would each pay. A case still has a process, environment and working folder of its own.
// run_case.cpp starts the servers and sends them the cases.
#pragma once

#include <string>
#include <vector>

namespace triescope::test {

// What run_case.cpp sends: these lengths, with its standard input, output and error as ancillary
// data, then the working folder, the arguments and the environment, each ended by a zero byte. The
// answer is the status that waitpid() gives.
struct CaseRequest {
  int arguments;
  int bytes;
};

// argv[1] of a test program that is to serve: this and the number of a listening socket.
inline constexpr const char kServeFlag[] = "--serve-cases=";

// Serves until nobody has asked for ten seconds, then exits. Returns only in the fork for a case:
// the arguments of the case. Call before any thread is started.
std::vector<std::string> serve_cases(int listening);

}  // namespace triescope::test

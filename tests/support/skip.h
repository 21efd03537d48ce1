// TRIESCOPE_SKIP(reason): leaves the running test case because something it needs is absent (a
// model, a GPU, data). The case is reported as skipped, never as passed; a check that failed before
// still fails it. Use it in the case's own body (it returns).
#pragma once

namespace triescope::test {

// How often the running case skipped; main.cpp reads it.
int& skipped_cases();
void report_skip(const char* reason);

}  // namespace triescope::test

#define TRIESCOPE_SKIP(reason)              \
  do {                                      \
    ++::triescope::test::skipped_cases();   \
    ::triescope::test::report_skip(reason); \
    return;                                 \
  } while (false)

// The one main of all test programs. Exit codes: 0 all passed, 77 every case that ran was skipped
// (ctest: skipped), otherwise failed. A filter that matches no case is a failure: a renamed test
// must not count as passed. So is a case that ends without a check.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/exit.h"
#include "tests/support/case_server.h"
#include "tests/support/skip.h"

namespace triescope::test {

int& skipped_cases() {
  static int count = 0;
  return count;
}

void report_skip(const char* reason) {
  std::printf("[SKIPPED] %s\n", reason);
  std::fflush(stdout);
}

}  // namespace triescope::test

namespace {

int g_cases_run = 0;
int g_cases_skipped = 0;
int g_cases_unchecked = 0;

// Counts cases, and among them those skipped (a case that skips in several subcases is one case)
// and those that checked nothing.
struct CaseListener : doctest::IReporter {
  explicit CaseListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& begun) override {
    ++g_cases_run;
    name = begun.m_name;
    triescope::test::skipped_cases() = 0;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& ended) override {
    if (triescope::test::skipped_cases() > 0) {
      ++g_cases_skipped;
    } else if (ended.numAssertsCurrentTest == 0) {
      ++g_cases_unchecked;
      std::fprintf(stderr, "the case checked nothing: %s\n", name);
    }
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  const char* name = "";  // of the case that runs
};
REGISTER_LISTENER("triescope_cases", 1, CaseListener);

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  const std::string serve = triescope::test::kServeFlag;
  if (argc == 2 && arguments[1].starts_with(serve))
    arguments = triescope::test::serve_cases(std::atoi(argv[1] + serve.size()));
  triescope::skip_library_teardown();
  std::vector<const char*> texts;
  for (const std::string& argument : arguments) texts.push_back(argument.c_str());
  doctest::Context context(static_cast<int>(texts.size()), texts.data());
  const int result = context.run();
  if (context.shouldExit()) return result;  // --help, --list-test-cases
  if (result != 0) return result;
  if (g_cases_run == 0) {
    std::fprintf(stderr, "no test case matches the filter\n");
    return 1;
  }
  if (g_cases_unchecked > 0) return 1;
  return g_cases_skipped == g_cases_run ? 77 : 0;
}

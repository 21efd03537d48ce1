// `triescope doctor`: what is wrong in a capture, ours or another program's.
#include <iostream>
#include <memory>

#include "app/cli/commands.h"
#include "core/doctor/compare_runs.h"
#include "core/doctor/doctor.h"
#include "core/doctor/report.h"

namespace triescope::app {
namespace {

constexpr int kFound = 6;  // the exit code where something is wrong

struct DoctorOptions {
  std::string capture, other;
  bool json = false;
};

int run_doctor(const DoctorOptions& options) {
  const auto capture = capture::Capture::open(options.capture);
  doctor::Diagnosis diagnosis;
  std::string title = options.capture;
  if (options.other.empty()) {
    diagnosis = doctor::diagnose(*capture);
  } else {
    title += ", " + options.other;
    const auto other = capture::Capture::open(options.other);
    if (const auto difference = doctor::first_difference(*capture, *other))
      diagnosis.groups = doctor::grouped({&difference->finding, 1});
  }
  std::cout << (options.json ? doctor::report_json(diagnosis)
                             : doctor::report_text(diagnosis, title));
  return diagnosis.groups.empty() ? 0 : kFound;
}

}  // namespace

void add_doctor_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = root.add_subcommand(
      "doctor", "what is wrong in a capture, ours or another program's; 6 if anything is");
  command->add_option("CAPTURE", options->capture, ".tscap file")->required()->check(file_name());
  command
      ->add_option("OTHER", options->other,
                   "another run of the same prompt: where the two texts part, and why")
      ->check(file_name());
  command->add_flag("--json", options->json, "the findings as JSON, gravest first");
  command->callback([options, &line] { line.action = [options] { return run_doctor(*options); }; });
}

}  // namespace triescope::app

// `triescope doctor`: what is wrong in a capture, ours or another program's.
#include <iostream>
#include <memory>

#include "app/cli/commands.h"
#include "app/session/catalog.h"
#include "core/base/error.h"
#include "core/doctor/compare_runs.h"
#include "core/doctor/doctor.h"
#include "core/doctor/model/model_checks.h"
#include "core/doctor/report.h"
#include "core/model/rope_scaling.h"

namespace triescope::app {
namespace {

constexpr int kFound = 6;  // the exit code where something is wrong

struct DoctorOptions {
  std::string capture, other, model, dtype = "f32";
  bool json = false;
};

// What the weights say about the capture's rows, before what the capture says by itself.
void add_model_findings(const DoctorOptions& options, const capture::Capture& capture,
                        doctor::Diagnosis& diagnosis) {
  const std::string path = resolve_model(options.model);
  LoadOptions load;
  load.dtype = dtype_from_string(options.dtype);
  const auto model = load_model(path, load);
  doctor::ModelToCheck with{.model = *model};
  if (has_rope_scaling(path))
    with.without_rope_scaling = [&] { return load_without_rope_scaling(path, load); };
  doctor::add_groups(diagnosis.groups, doctor::diagnose_with(capture, with));
}

int run_doctor(const DoctorOptions& options) {
  const auto capture = capture::Capture::open(options.capture);
  doctor::Diagnosis diagnosis;
  std::string title = options.capture;
  if (options.other.empty()) {
    diagnosis = doctor::diagnose(*capture);
    if (!options.model.empty()) add_model_findings(options, *capture, diagnosis);
  } else {
    if (!options.model.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "--model: expected one capture; two are compared without a model");
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
  command->add_option("--model", options->model,
                      "the model that was recorded: its rows are computed again, and the mistake "
                      "that makes the recorded numbers is named");
  command->add_option("--dtype", options->dtype, "of that computation: f32 or bf16")
      ->capture_default_str();
  command->add_flag("--json", options->json, "the findings as JSON, gravest first");
  command->callback([options, &line] { line.action = [options] { return run_doctor(*options); }; });
}

}  // namespace triescope::app

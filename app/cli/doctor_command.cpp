// `triescope doctor`: what is wrong in a capture, ours or another program's.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/session/catalog.h"
#include "app/session/head_readings.h"
#include "app/session/loaded_model.h"
#include "core/base/error.h"
#include "core/doctor/compare_runs.h"
#include "core/doctor/doctor.h"
#include "core/doctor/model/model_checks.h"
#include "core/doctor/report.h"
#include "core/doctor/run_view.h"
#include "core/model/rope_scaling.h"

namespace triescope::app {
namespace {

constexpr int kFound = 6;  // the exit code where something is wrong

struct DoctorOptions {
  std::string capture, other, model, head, dtype = "f32";
  bool json = false;
};

// Prompts that a head is read with, beside the capture's own.
constexpr const char* kPrompts[] = {
    "The three primary colours are red, yellow and blue. Mixing red and yellow makes",
    "Once upon a time there was a small house at the edge of the forest. In it lived"};
constexpr int kTokensPerPrompt = 64;

// What the weights say about the capture's rows and, where a head is named, its readings.
void check_with_model(const DoctorOptions& options, const capture::Capture& capture,
                      doctor::Diagnosis& diagnosis, std::vector<HeadReading>& readings) {
  const std::string path = resolve_model(options.model);
  LoadOptions load;
  load.dtype = dtype_from_string(options.dtype);
  const auto model = load_model(path, load);
  doctor::ModelToCheck with{.model = *model};
  if (has_rope_scaling(path))
    with.without_rope_scaling = [&] { return load_without_rope_scaling(path, load); };
  doctor::add_groups(diagnosis.groups, doctor::diagnose_with(capture, with));
  if (options.head.empty()) return;

  const auto tokenizer = open_tokenizer(path);
  std::vector<std::vector<std::int32_t>> prompts;
  if (!capture.run().prompt_tokens.empty()) prompts.push_back(capture.run().prompt_tokens);
  for (const char* text : kPrompts) prompts.push_back(tokenizer->encode(text, true));
  readings = head_readings(resolve_draft(options.head, "--head"), *model, *tokenizer, prompts,
                           kTokensPerPrompt);
  const std::size_t trained = trained_reading(readings);
  if (trained == 0) return;
  const doctor::Finding finding{
      .code = doctor::Code::kAcceptanceShape,
      .kind = "the head's weights were trained for another reading of its file",
      .text = "read with " + readings[trained].name + " the head makes " +
              doctor::number_of(readings[trained].tokens_per_forward) +
              " tokens a forward; as its file says, " +
              doctor::number_of(readings[0].tokens_per_forward),
      .sure = doctor::Sure::kLikely};
  doctor::add_groups(diagnosis.groups, doctor::grouped({&finding, 1}));
}

std::string readings_text(const std::vector<HeadReading>& readings) {
  if (readings.empty()) return "";
  std::string text =
      "\nThe head by reading: tokens a forward, and the share of steps that accepted 1, 2, … drafts\n";
  for (const HeadReading& reading : readings) {
    text += "  " + doctor::number_of(reading.tokens_per_forward) + "  " + reading.name + ":";
    for (const double share : reading.acceptance) text += " " + doctor::number_of(share);
    text += "\n";
  }
  return text;
}

std::string report_json(const doctor::Diagnosis& diagnosis,
                        const std::vector<HeadReading>& readings) {
  if (readings.empty()) return doctor::report_json(diagnosis);
  auto report = nlohmann::json::parse(doctor::report_json(diagnosis));
  for (const HeadReading& reading : readings)
    report["head_readings"].push_back({{"reading", reading.name},
                                       {"tokens_per_forward", reading.tokens_per_forward},
                                       {"acceptance_by_depth", reading.acceptance}});
  return report.dump(2) + "\n";
}

int run_doctor(const DoctorOptions& options) {
  const auto capture = capture::Capture::open(options.capture);
  doctor::Diagnosis diagnosis;
  std::vector<HeadReading> readings;
  if (!options.head.empty() && options.model.empty())
    throw Error(ErrorCode::kInvalidArgument, "--head: expected --model, the target it drafts for");
  std::string title = options.capture;
  if (options.other.empty()) {
    diagnosis = doctor::diagnose(*capture);
    if (!options.model.empty()) check_with_model(options, *capture, diagnosis, readings);
  } else {
    if (!options.model.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "--model: expected one capture; two are compared without a model");
    title += ", " + options.other;
    const auto other = capture::Capture::open(options.other);
    if (const auto difference = doctor::first_difference(*capture, *other))
      diagnosis.groups = doctor::grouped({&difference->finding, 1});
  }
  if (options.json) {
    std::cout << report_json(diagnosis, readings);
  } else {
    std::cout << doctor::report_text(diagnosis, title) << readings_text(readings);
  }
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
  command->add_option("--head", options->head,
                      "with --model: a draft head (EAGLE, EAGLE-3); acceptance by depth under each "
                      "reading of its file, and the one that it was trained for");
  command->add_option("--dtype", options->dtype, "of that computation: f32 or bf16")
      ->capture_default_str();
  command->add_flag("--json", options->json, "the findings as JSON, gravest first");
  command->callback([options, &line] { line.action = [options] { return run_doctor(*options); }; });
}

}  // namespace triescope::app

// `triescope doctor`: what is wrong in a capture, ours or another program's.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/session/head_readings.h"
#include "app/session/loaded_model.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
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

std::string tokens_of(const TriedReading& reading) {
  return reading.refused.empty()
             ? doctor::number_of(reading.tokens_per_forward) + " tokens a forward"
             : "nothing, because it cannot be read so (" + reading.refused + ")";
}

std::string percent_of(double share) {
  return std::isnan(share) ? "none" : std::to_string(std::lround(100 * share)) + " %";
}

// The readings' findings about the head's file and the program that used the head.
std::vector<doctor::Finding> head_findings(const std::vector<TriedReading>& readings) {
  std::vector<doctor::Finding> findings;
  const std::size_t trained = trained_reading(readings);
  if (trained != 0)
    findings.push_back({.code = doctor::Code::kAcceptanceShape,
                        .kind = "the head's weights were trained for another reading of its file",
                        .text = "read with " + readings[trained].name + " the head makes " +
                                tokens_of(readings[trained]) + "; as its file says, " +
                                tokens_of(readings[0]),
                        .sure = doctor::Sure::kLikely});
  const std::optional<std::size_t> used = used_reading(readings);
  if (used && *used != 0 && *used != trained)
    findings.push_back(
        {.code = doctor::Code::kAcceptanceShape,
         .kind = "the recorded program used the head in another way than it was trained for",
         .text = "the recorded first drafts are those of " + readings[*used].name + " (" +
                 percent_of(readings[*used].same_drafts) + " the same; " + readings[trained].name +
                 ": " + percent_of(readings[trained].same_drafts) + "), which makes " +
                 tokens_of(readings[*used]) + "; " + readings[trained].name + " makes " +
                 tokens_of(readings[trained]),
         .sure = doctor::Sure::kLikely});
  return findings;
}

// Checks the capture's rows with the model's weights and, where a head is named, reads its file in each way.
void check_with_model(const DoctorOptions& options, const capture::Capture& capture, bool quiet,
                      doctor::Diagnosis& diagnosis, std::vector<TriedReading>& readings) {
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
  const ProgressSink progress = terminal_progress(quiet);
  HeadToRead head{.path = resolve_draft(options.head, "--head"),
                  .target = *model,
                  .tokenizer = *tokenizer,
                  .max_new_tokens = kTokensPerPrompt,
                  .progress = progress};
  if (!capture.run().prompt_tokens.empty()) {
    head.prompts.push_back(capture.run().prompt_tokens);
    head.recorded = &capture;
  }
  for (const char* text : kPrompts) head.prompts.push_back(tokenizer->encode(text, true));
  readings = head_readings(head);
  if (!quiet) clear_progress();
  const std::vector<doctor::Finding> findings = head_findings(readings);
  doctor::add_groups(diagnosis.groups, doctor::grouped(findings));
}

std::string readings_text(const std::vector<TriedReading>& readings) {
  if (readings.empty()) return "";
  const bool compared = std::ranges::any_of(
      readings, [](const TriedReading& one) { return !std::isnan(one.same_drafts); });
  std::string text =
      "\nThe head by reading: tokens a forward, the share of steps that accepted 1, 2, … drafts" +
      std::string(compared ? ", and of the recorded first drafts the share that it drafts too"
                           : "") +
      "\n";
  for (const TriedReading& reading : readings) {
    if (!reading.refused.empty()) {
      text += "  -     " + reading.name + ": " + reading.refused + "\n";
      continue;
    }
    text += "  " + doctor::number_of(reading.tokens_per_forward) + "  " + reading.name + ":";
    for (const double share : reading.acceptance) text += " " + doctor::number_of(share);
    if (compared) text += " (" + percent_of(reading.same_drafts) + ")";
    text += "\n";
  }
  return text;
}

std::string report_json(const doctor::Diagnosis& diagnosis,
                        const std::vector<TriedReading>& readings) {
  if (readings.empty()) return doctor::report_json(diagnosis);
  auto report = json_or_discarded(doctor::report_json(diagnosis));
  const std::optional<std::size_t> used = used_reading(readings);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    nlohmann::json one = {{"reading", readings[i].name},
                          {"tokens_per_forward", readings[i].tokens_per_forward},
                          {"acceptance_by_depth", readings[i].acceptance},
                          {"trained", i == trained_reading(readings)},
                          {"used", used == i}};
    if (!std::isnan(readings[i].same_drafts)) one["same_first_drafts"] = readings[i].same_drafts;
    if (!readings[i].refused.empty()) one["refused"] = readings[i].refused;
    report["head_readings"].push_back(one);
  }
  return dump_json(report, 2) + "\n";
}

int run_doctor(const DoctorOptions& options, bool quiet) {
  const auto capture = capture::Capture::open(options.capture);
  doctor::Diagnosis diagnosis;
  std::vector<TriedReading> readings;
  if (!options.head.empty() && options.model.empty())
    throw Error(ErrorCode::kInvalidArgument, "--head: expected --model, the target it drafts for");
  std::string title = options.capture;
  if (options.other.empty()) {
    diagnosis = doctor::diagnose(*capture);
    if (!options.model.empty()) check_with_model(options, *capture, quiet, diagnosis, readings);
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
    std::cout << doctor::report_text(diagnosis, title, options.capture) << readings_text(readings);
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
  command->add_option(
      "--head", options->head,
      "with --model: a draft head; acceptance by depth under each reading of its file "
      "that published heads disagree on, the one that it was trained for, and the "
      "one that the recorded program used");
  command->add_option("--dtype", options->dtype, "of that computation: f32 or bf16")
      ->capture_default_str();
  command->add_flag("--json", options->json, "the findings as JSON, gravest first");
  command->callback([options, &line] {
    line.action = [options, &line] { return run_doctor(*options, line.quiet); };
  });
}

}  // namespace triescope::app

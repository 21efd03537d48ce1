// `triescope rejudge`: the drafts of a recorded run judged again, without decoding.
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "viz/query/rejudge.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;
using viz::NotKnown;
using viz::Rejudged;

struct RejudgeOptions {
  std::string path;
  std::vector<std::string> settings;
  bool as_json = false, as_csv = false;
};

ordered_json figure(std::int64_t forwards, std::int64_t tokens) {
  return {{"forwards", forwards},
          {"tokens", tokens},
          {"tokens_per_forward",
           forwards ? ordered_json(Rejudged::ratio(tokens, forwards)) : ordered_json(nullptr)}};
}

constexpr const char* kEnds[] = {"text_ends", "not_known", "not_drafted", "other_text"};

void print_json(const RejudgeOptions& options, const Rejudged& rejudged) {
  ordered_json steps = ordered_json::array(), set = ordered_json::object();
  for (const std::string& one : options.settings)
    set[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  for (const viz::RejudgedStep& step : rejudged.steps) {
    const bool known = step.not_known == NotKnown::kNothing;
    ordered_json row = {{"step", step.step},
                        {"position", step.position},
                        {"recorded",
                         {{"sent", step.recorded_sent},
                          {"accepted", step.recorded_accepted},
                          {"tokens", step.recorded_tokens}}}};
    if (known)
      row.update({{"sent", step.sent},
                  {"accepted", step.accepted},
                  {"tokens", step.tokens},
                  {"same_text", step.same_text},
                  {"followed", step.followed}});
    else
      row["not_known"] = words_of(step.not_known);
    steps.push_back(std::move(row));
  }
  ordered_json followed = figure(rejudged.followed, rejudged.followed_tokens);
  followed.update({{"end", kEnds[static_cast<int>(rejudged.end)]},
                   {"end_step", rejudged.end_step},
                   {"end_position", rejudged.end_position}});
  std::cout << dump_json(ordered_json{{"set", set},
                                      {"recorded",
                                       figure(static_cast<std::int64_t>(rejudged.steps.size()),
                                              rejudged.recorded_tokens)},
                                      {"each_step", figure(rejudged.known, rejudged.tokens)},
                                      {"followed", followed},
                                      {"steps", steps}},
                         2)
            << "\n";
}

void print_text(const Rejudged& rejudged) {
  const auto line = [](const char* what, std::int64_t forwards, std::int64_t tokens,
                       const std::string& more) {
    std::cout << what
              << (forwards ? viz::number_text(Rejudged::ratio(tokens, forwards), 3)
                           : std::string("–"))
              << " tokens a forward (" << tokens << " in " << forwards << ")" << more << "\n";
  };
  const auto steps = static_cast<std::int64_t>(rejudged.steps.size());
  line("recorded:             ", steps, rejudged.recorded_tokens, "");
  line("each step by itself:  ", rejudged.known, rejudged.tokens,
       rejudged.known < steps
           ? "; " + std::to_string(steps - rejudged.known) + " steps could not be known"
           : "");
  line("from the first on:    ", rejudged.followed, rejudged.followed_tokens, "");
  std::cout << follow_text(rejudged) << "\n";
}

int rejudge_run(const RejudgeOptions& options) {
  const auto capture = capture::Capture::open(options.path);
  viz::RejudgeSettings settings = viz::recorded_settings(*capture);
  for (const std::string& one : options.settings) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorCode::kInvalidArgument, "--set: expected name=value; found '" + one + "'");
    viz::set_rejudge(settings, *capture, one.substr(0, equals), one.substr(equals + 1));
  }
  const Rejudged rejudged = viz::rejudge(*capture, settings, capture->end_tick());
  if (options.as_csv)
    std::cout << viz::rejudged_csv(rejudged);
  else if (options.as_json)
    print_json(options, rejudged);
  else
    print_text(rejudged);
  return 0;
}

}  // namespace

void add_rejudge_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<RejudgeOptions>();
  CLI::App* command = root.add_subcommand(
      "rejudge", "what another rule, tree or number of drafts would have given, without decoding");
  command->add_option("CAPTURE", options->path, ".tscap file of a run with drafts")
      ->required()
      ->check(file_name());
  command
      ->add_option("--set", options->settings,
                   "name=value: verify, typical_epsilon, typical_delta, accept_top_k, tree, the "
                   "method's own bound of drafts, or drafts, depth, rank: at most so many")
      ->type_name("NAME=VALUE");
  auto* json = command->add_flag("--json", options->as_json, "as JSON, with every step");
  command->add_flag("--csv", options->as_csv, "as CSV, a row a step")->excludes(json);
  command->callback(
      [options, &line] { line.action = [options] { return rejudge_run(*options); }; });
}

}  // namespace triescope::app

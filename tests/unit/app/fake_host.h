// A RunHost that decodes nothing: it writes down what it is told, and answers what a test says.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/remote/field_lists.h"
#include "app/session/run_host.h"

namespace triescope::app {

class FakeHost : public RunHost {
 public:
  // What was told so far, a line a command with its arguments.
  std::vector<std::string> told() const {
    std::lock_guard lock(mutex_);
    return told_;
  }
  std::function<PromptCount(const RunRequest&)> counts = [](const RunRequest&) {
    return PromptCount{};
  };
  bool takes_commands = true;  // false: they wait for ever

  std::shared_ptr<const LiveStatus> status() const override {
    std::lock_guard lock(mutex_);
    return status_;
  }
  std::uint64_t commands_sent() const override {
    std::lock_guard lock(mutex_);
    return sent_;
  }

  std::vector<DeviceInfo> devices() const override { return {{"cuda:3", "far", 7}}; }
  std::vector<CatalogEntry> models() const override { return {}; }
  std::vector<CatalogEntry> draft_heads() const override { return {}; }
  std::vector<CatalogEntry> draft_models() const override { return {}; }
  std::string model_path(const std::string& model) const override { return model; }
  std::string drafts_by_default(const RunRequest&) const override { return "head"; }
  RunMemory memory_of(const RunRequest&, std::int64_t) const override { return {}; }
  WhatFits what_fits(const RunRequest&) const override { return {}; }
  PromptCount count_prompt(const RunRequest& request) const override { return counts(request); }

  void load(const std::string& model, const std::string& device, DType dtype,
            std::optional<DType> kv_dtype) override {
    tell("load " + model + " " + device + " " + to_string(dtype) + " " +
         (kv_dtype ? to_string(*kv_dtype) : "-"));
  }
  void start(const RunRequest& request, const std::string&, bool at_once) override {
    tell("start " + json_of(request).dump() + (at_once ? " at once" : ""));
  }
  void measure(const RunRequest& request, const std::string&,
               const MeasureOptions& options) override {
    tell("measure " + json_of(request).dump() + " " + to_string(options.level) + " " +
         std::to_string(options.threads));
  }
  void step() override { tell("step"); }
  void step_phase() override { tell("phase"); }
  void run() override { tell("run"); }
  void run_to(capture::Tick tick) override { tell("run to " + std::to_string(tick)); }
  void try_again() override { tell("try again"); }
  void branch(std::int32_t node, std::int32_t token, const std::string&) override {
    tell("branch " + std::to_string(node) + " " + std::to_string(token));
  }
  void set_breakpoints(std::vector<Breakpoint> breakpoints) override {
    std::string line = "breakpoints";
    for (const Breakpoint& point : breakpoints)
      line += "; " + describe(point) + (point.enabled ? "" : " off");
    tell(line);
  }
  void pause() override { tell("pause"); }
  void stop() override { tell("stop"); }
  void cancel() override { tell("cancel"); }

 private:
  void tell(const std::string& line) {
    std::lock_guard lock(mutex_);
    told_.push_back(line);
    ++sent_;
    auto next = std::make_shared<LiveStatus>(*status_);
    if (takes_commands) next->commands_done = sent_;
    status_ = next;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> told_;
  std::uint64_t sent_ = 0;
  std::shared_ptr<const LiveStatus> status_ = std::make_shared<LiveStatus>();
};

}  // namespace triescope::app

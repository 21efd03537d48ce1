// A run host without a thread and without a real model. It decodes at once, on the caller's thread,
// with a hash function as the network. It notes every command in order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/run_host.h"
#include "core/capture/writer.h"
#include "tests/support/fake_model.h"

namespace triescope::test {

class FakeHost final : public app::RunHost {
 public:
  std::shared_ptr<const app::LiveStatus> status() const override { return published_; }
  std::uint64_t commands_sent() const override { return sent; }

  std::vector<DeviceInfo> devices() const override {
    before_answer();
    return {{.id = "far:0", .name = "There"}};
  }
  std::vector<app::CatalogEntry> models() const override {
    before_answer();
    return {{"m", "/there/m.gguf", ""}};
  }
  std::vector<app::CatalogEntry> draft_heads() const override { return {{"h", "/there/h", ""}}; }
  std::vector<app::CatalogEntry> draft_models() const override { return {{"d", "/there/d", ""}}; }
  std::string model_path(const std::string& model) const override {
    before_answer();
    return "/there/" + model;
  }
  std::string drafts_by_default(const app::RunRequest&) const override {
    before_answer();
    return "/there/h";
  }
  app::RunMemory memory_of(const app::RunRequest&, std::int64_t prompt_tokens) const override {
    before_answer();
    return {.to_load = 1000, .kv = prompt_tokens, .free = 5000};
  }
  app::WhatFits what_fits(const app::RunRequest&) const override {
    before_answer();
    return {.free = 5000, .models = {{"m", "/there/m.gguf", 1000, ""}}};
  }
  app::PromptCount count_prompt(const app::RunRequest& request) const override {
    before_answer();
    return {.tokens = static_cast<int>(request.prompt.size()), .model = request.model};
  }
  app::HostLine line() const override { return far; }

  void load(const std::string& model, const std::string& device, DType dtype,
            std::optional<DType>) override {
    now.model = ModelInfo{};
    now.model->path = model_path(model);
    now.tokenizer = tokenizer_;
    done("load " + model + " " + device + " " + to_string(dtype));
  }
  void start(const app::RunRequest& request, const std::string& path, bool run_at_once) override {
    RunConfig config;
    config.method = request.method;
    config.prompt_tokens = {5, 6, 7};
    config.max_new_tokens = request.max_new_tokens;
    auto file = capture::open_recorder(path);
    auto session = std::make_unique<Session>(model_, *tokenizer_, std::move(config), *file);
    adopt(std::move(file), std::move(session), path);
    if (run_at_once) session_->run();
    done(std::string("start ") + request.method + (run_at_once ? " and run" : ""));
  }
  void measure(const app::RunRequest& request, const std::string& path,
               const app::MeasureOptions&) override {
    start(request, path, true);
    asked.back() = "measure " + request.method;
  }
  void step() override {
    if (session_) session_->step();
    done("step");
  }
  void step_phase() override {
    if (session_ && !session_->done()) session_->advance();
    done("phase");
  }
  void run() override {
    if (session_) session_->run();
    done("run");
  }
  void run_to(capture::Tick tick) override {
    while (session_ && !session_->done() && session_->next_tick() < tick) session_->advance();
    done("run to " + std::to_string(tick));
  }
  void try_again() override {
    now.memory_refused.clear();
    now.pause_reason.clear();
    done("try again");
  }
  void branch(std::int32_t node, std::int32_t token, const std::string& path) override {
    auto file = capture::open_recorder(path);
    auto session = Session::branch(*session_, NodeId(node), token, *file);
    adopt(std::move(file), std::move(session), path);
    done("branch " + std::to_string(node) + " " + std::to_string(token));
  }
  void set_breakpoints(std::vector<app::Breakpoint> breakpoints) override {
    done(std::to_string(breakpoints.size()) + " breakpoints");
  }
  void pause() override { asked.push_back("pause"); }
  void stop() override {
    if (session_ && !session_->done()) {
      session_->request_stop();
      while (!session_->done()) session_->advance();
    }
    done("stop");
  }
  void cancel() override { asked.push_back("cancel"); }

  // Publishes `now`, as a test or a command has changed it.
  void publish() {
    using app::LiveState;
    if (session_) {
      recorder_->flush();
      now.next_tick = session_->next_tick();
      if (now.state != LiveState::kRunning || session_->done())
        now.state = session_->done() ? LiveState::kDone : LiveState::kPaused;
    }
    published_ = std::make_shared<app::LiveStatus>(now);
  }

  app::LiveStatus now;
  std::vector<std::string> asked;
  std::uint64_t sent = 0;
  app::HostLine far;  // of another machine, if a test says so
  std::function<void()> before_answer = [] {};

 private:
  void adopt(std::unique_ptr<capture::Recorder> file, std::unique_ptr<Session> session,
             const std::string& path) {
    session_ = std::move(session);
    recorder_ = std::move(file);
    now.tokenizer = tokenizer_;
    now.capture_path = path;
    ++now.run_serial;
  }
  void done(const std::string& command) {
    asked.push_back(command);
    now.commands_done = ++sent;
    publish();
  }

  FakeModel model_{{.eos_token_ids = {}}};
  std::shared_ptr<FakeTokenizer> tokenizer_ = std::make_shared<FakeTokenizer>();
  std::unique_ptr<capture::Recorder> recorder_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<const app::LiveStatus> published_ = std::make_shared<app::LiveStatus>();
};

}  // namespace triescope::test

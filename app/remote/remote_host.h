// RemoteHost: a RunHost on another machine, behind a line (line.h). The rows of its runs come into
// captures on this machine, so everything that reads a capture works as it does for a run here.
// When the line breaks, the run there goes on; reconnect() takes up where the rows stopped, and
// sends again what had not arrived. Two threads of its own read and write; a question waits for its
// answer, anything else returns at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/remote/line.h"
#include "app/session/run_host.h"

namespace triescope::app {

// Opens a line to the session of this name; "" = to a new one. Errors: kIoError, with what to do.
using Dial = std::function<std::unique_ptr<Line>(const std::string& session)>;

struct RemoteSetup {
  std::string where;  // the other machine, for people
  Dial dial;
  std::function<void()> wake;      // called after every new snapshot
  std::filesystem::path captures;  // a folder for runs that somebody else started; made when needed
  std::string session = {};        // a session that exists there; "" = a new one
  std::uint64_t runs_before = 0;   // the first run here gets the serial after this
  std::string version = {};        // this program's
  // How long a question waits for its answer.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class RemoteHost final : public RunHost {
 public:
  explicit RemoteHost(RemoteSetup setup);
  // Ends the session there if the line stands (keep(): not).
  ~RemoteHost() override;
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;

  // Waits until the line stands. Error{kIoError}: it does not, and why.
  void wait_connected();
  // The session goes on when this object goes.
  void keep();
  bool connected() const;
  // Its name there; "" = not connected yet.
  std::string session() const;
  // A report that the other machine makes for a command line (ServedSetup::report).
  nlohmann::json report(const std::string& name, const nlohmann::json& about,
                        std::chrono::milliseconds patience);

  std::shared_ptr<const LiveStatus> status() const override;
  std::uint64_t commands_sent() const override;

  // Lists are empty where there is no line.
  std::vector<DeviceInfo> devices() const override;
  std::vector<CatalogEntry> models() const override;
  std::vector<CatalogEntry> draft_heads() const override;
  std::vector<CatalogEntry> draft_models() const override;
  std::string model_path(const std::string& model) const override;
  std::string drafts_by_default(const RunRequest& request) const override;
  RunMemory memory_of(const RunRequest& request, std::int64_t prompt_tokens) const override;
  WhatFits what_fits(const RunRequest& request) const override;
  PromptCount count_prompt(const RunRequest& request) const override;

  void load(const std::string& model, const std::string& device, DType dtype,
            std::optional<DType> kv_dtype) override;
  void start(const RunRequest& request, const std::string& capture_path, bool run_at_once) override;
  void measure(const RunRequest& request, const std::string& capture_path,
               const MeasureOptions& options) override;
  void step() override;
  void step_phase() override;
  void run() override;
  void run_to(capture::Tick tick) override;
  void try_again() override;
  void branch(std::int32_t node, std::int32_t token, const std::string& capture_path) override;
  void set_breakpoints(std::vector<Breakpoint> breakpoints) override;
  void pause() override;
  void stop() override;
  void cancel() override;
  HostLine line() const override;
  void reconnect() override;
  void hang_up() override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace triescope::app

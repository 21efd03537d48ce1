// SessionThread: the RunHost of this process, a thread that owns the model, the session and
// libtorch. Errors become notices in the snapshot, and the thread survives them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/loaded_model.h"
#include "app/session/run_host.h"

namespace triescope::app {

class SessionThread final : public RunHost {
 public:
  // `wake` is called (from the session thread) after every new snapshot.
  // The first run gets the serial after `runs_before`.
  explicit SessionThread(std::function<void()> wake, const ModelLoader& loader = load_model,
                         std::uint64_t runs_before = 0);
  ~SessionThread() override;
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  std::shared_ptr<const LiveStatus> status() const override;
  std::uint64_t commands_sent() const override;

  std::vector<DeviceInfo> devices() const override { return list_devices(); }
  std::vector<CatalogEntry> models() const override { return list_models(); }
  std::vector<CatalogEntry> draft_heads() const override { return list_draft_heads(); }
  std::vector<CatalogEntry> draft_models() const override;
  std::string model_path(const std::string& model) const override { return resolve_model(model); }
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::app

// RunHost: whatever decodes for a window: the session thread of this process, or a decoder
// elsewhere. A window sends commands, reads immutable snapshots and never waits for either; it
// opens the capture that a run writes like any other. Errors become notices in the snapshot.
// Thread-safety: every member function may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/breakpoints.h"
#include "app/session/catalog.h"
#include "app/session/live_status.h"
#include "app/session/prompt_count.h"
#include "app/session/request.h"
#include "app/session/what_fits.h"
#include "core/capture/records.h"
#include "core/model/model.h"

namespace triescope::app {

// The machine that decodes, and how it is reached.
struct HostLine {
  std::string host = {};  // "" = this machine
  std::string lost = {};  // why the line to it broke; "" = it stands
  bool watches = false;   // the run is somebody else's: commands are refused
};

// How a run that nobody draws is decoded and recorded.
struct MeasureOptions {
  capture::Level level = capture::Level::kFull;
  int threads = 0;  // of the CPU; 0 = all cores
};

class RunHost {
 public:
  virtual ~RunHost() = default;  // stops a running forward, closes the capture properly

  virtual std::shared_ptr<const LiveStatus> status() const = 0;
  // LiveStatus::commands_done counts the finished ones
  virtual std::uint64_t commands_sent() const = 0;

  // --- what exists on the machine that decodes ---
  virtual std::vector<DeviceInfo> devices() const = 0;
  virtual std::vector<CatalogEntry> models() const = 0;
  virtual std::vector<CatalogEntry> draft_heads() const = 0;
  // models that can draft, small ones first
  virtual std::vector<CatalogEntry> draft_models() const = 0;
  // The path of a MODEL argument, and the path of what drafts for a request that names nothing; ""
  // = nothing does. Errors: those of resolve_model() and default_draft().
  virtual std::string model_path(const std::string& model) const = 0;
  virtual std::string drafts_by_default(const RunRequest& request) const = 0;
  // The memory that a request's model and run need there. Errors: those of memory_of_run().
  virtual RunMemory memory_of(const RunRequest& request, std::int64_t prompt_tokens) const = 0;
  // Which models of the list have room there, on the request's device with its dtypes.
  virtual WhatFits what_fits(const RunRequest& request) const = 0;
  // A prompt's tokens as the request's model splits it; that need not be loaded.
  virtual PromptCount count_prompt(const RunRequest& request) const = 0;

  // --- commands, in order ---
  // Loads the model unless it is already loaded.
  virtual void load(const std::string& model, const std::string& device, DType dtype,
                    std::optional<DType> kv_dtype) = 0;
  // Starts a run and pauses before its first phase (run_at_once: decodes on). The previous capture
  // is closed and stays; the new one is marked as timed while drawing. `capture_path` is a file on
  // this machine.
  virtual void start(const RunRequest& request, const std::string& capture_path,
                     bool run_at_once) = 0;
  // The same for a run that decodes on while nothing is drawn: it is not marked, and no breakpoint
  // stops it.
  virtual void measure(const RunRequest& request, const std::string& capture_path,
                       const MeasureOptions& options) = 0;
  virtual void step() = 0;
  virtual void step_phase() = 0;
  virtual void run() = 0;
  // Runs until the cursor would reach `tick`.
  virtual void run_to(capture::Tick tick) = 0;
  // For a run that waits for memory: tries again and goes on with what it was doing. step(),
  // step_phase(), run() and run_to() also try again and then do what they ask for; stop(), start(),
  // branch() and load() end the run.
  virtual void try_again() = 0;
  // Starts a new run that decodes on from `node` of the newest run with `token` after it.
  virtual void branch(std::int32_t node, std::int32_t token, const std::string& capture_path) = 0;
  virtual void set_breakpoints(std::vector<Breakpoint> breakpoints) = 0;

  // --- with immediate effect ---
  virtual void pause() = 0;  // after the current phase
  // Ends the run: the running forward is abandoned within a layer, and what was recorded stays.
  virtual void stop() = 0;
  // Cancels loading or prefill; commands that wait behind it are dropped.
  virtual void cancel() = 0;

  // --- where the decoder is ---
  virtual HostLine line() const { return {}; }
  // Where the line is lost: tries again. A run that goes on there goes on here too.
  virtual void reconnect() {}
  // Questions that wait for an answer, and all later ones, fail at once: nobody needs them now.
  virtual void hang_up() {}
};

}  // namespace triescope::app

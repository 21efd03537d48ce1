// LiveRun: the run that is decoded, wherever the host decodes it: started, branched, measured, stopped;
// what stops it; and what was said of it. Window thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/run_host.h"
#include "app/window/workspace/comparison.h"

namespace triescope::app {

class LiveRun {
 public:
  LiveRun(Documents& documents, Comparison& comparison, Preferences& preferences, Messages& log,
          std::unique_ptr<RunHost> host);

  RunHost& host() { return *host_; }
  const RunHost& host() const { return *host_; }
  const LiveStatus& status() const { return *status_; }
  // Takes in what the host did since the last call; true if anything changed.
  bool update();
  // No command waits, and nothing decodes or loads.
  bool idle() const;
  // Decoding or loading goes on by itself, as the host says it now: drawing is to spare the cores.
  bool works_by_itself() const;

  // --- from the run bar ---
  // Whether the prompt is read as token ids: asked for, or the loaded model has no tokenizer.
  bool prompt_is_ids() const;
  void load_model();
  bool start(bool run_at_once) { return start(preferences_.request, run_at_once); }
  // What the run bar need not hold. False: refused, with a message.
  bool start(const RunRequest& request, bool run_at_once);
  void stop();
  void close(Document* document);           // the live run's ends with it
  void try_again() { host_->try_again(); }  // a run that waits for memory
  // How the model in use splits a text that follows another one. Empty: no model, or it takes no text.
  std::vector<std::int32_t> tokens_of(const std::string& text) const;

  // --- breakpoints ---
  const std::vector<Breakpoint>& breakpoints() const { return breakpoints_; }
  // Error{kInvalidArgument}: one of them could never be hit; nothing changes.
  void set_breakpoints(std::vector<Breakpoint> breakpoints);

  // --- from one run to the next (live_run_branch.cpp) ---
  // Decodes on from `node` with another token, as a run of its own that begins with what both share.
  void branch(std::int32_t node, std::int32_t token);
  // The same with a text: its first token. Error{kInvalidArgument}: no token, or no tokenizer.
  void branch_with(std::int32_t node, const std::string& text);
  // "branch of #1 after ·capital with ·is"; "" = not a branch, or its origin is closed.
  std::string origin_text(const Document& document) const;
  void compare_with_origin();
  // The run bar takes what the run shown was started with: model, method, settings, prompt, seed.
  void take_run();
  bool can_take_run() const;  // a capture is shown, and the run bar does not hold its run

  // --- times without drawing (live_run_measure.cpp) ---
  // Decodes the run shown once more while the window draws nothing but how far it is, so that its times
  // are the method's; then puts it beside the run shown. A branch cannot be decoded again.
  void measure_again();
  bool can_measure_again() const;
  void stop_measuring();
  bool measuring() const { return measured_.has_value(); }

 private:
  bool take_in_notices();   // true: there were new ones
  void take_in_run();       // the newest one becomes a document
  void show_break();        // marks where the run was stopped, and selects the node
  void tell_what_stops();   // one run decodes at a time: another one ends one that was not over
  bool finish_measuring();  // true: the run that was measured is over
  const RunRequest* request_shown() const;
  // What the run shown was started with; of a file it is read from the capture. Errors: those of
  // request_of_run().
  const RunRequest& read_request();

  Documents& documents_;
  Comparison& comparison_;
  Preferences& preferences_;
  Messages& log_;
  std::vector<Breakpoint> breakpoints_;
  std::uint64_t seen_run_ = 0, seen_pause_ = 0, seen_notice_ = 0;  // serials
  // The command that loads a model that was opened, and whether it failed; 0 = none is under way.
  std::uint64_t opens_ = 0;
  bool open_failed_ = false;
  // What take_run() would take, found once a document.
  std::uint64_t taken_serial_ = 0;
  std::optional<RunRequest> taken_;
  // The run that is decoded while nothing is drawn, and the document it measures again.
  struct Measured {
    std::string path;
    std::uint64_t of_serial = 0;
  };
  std::optional<Measured> measured_;
  std::shared_ptr<const LiveStatus> status_;
  std::unique_ptr<RunHost> host_;
};

}  // namespace triescope::app

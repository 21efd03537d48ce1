// LiveRun: the run that is decoded, wherever the host decodes it. Starts, branches, measures and
// stops it, and keeps what stops it and what was said about it. Window thread only.
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
          std::shared_ptr<RunHost> host);

  RunHost& host() { return *host_; }
  const RunHost& host() const { return *host_; }
  const std::shared_ptr<RunHost>& shared_host() const { return host_; }
  const LiveStatus& status() const { return *status_; }
  // Another host decodes from now on; the old host's run ends.
  void use(std::shared_ptr<RunHost> host);
  // Takes in what the host did since the last call; true if anything changed.
  bool update();
  // True if no command waits and nothing decodes or loads.
  bool idle() const;
  // True while the host decodes or loads, by its newest status: drawing then spares the cores.
  bool works_by_itself() const;

  // --- from the run bar ---
  // Whether the prompt is read as token ids: the user asked for that, or the loaded model has no
  // tokenizer.
  bool prompt_is_ids() const;
  void load_model();
  bool start(bool run_at_once) { return start(preferences_.request, run_at_once); }
  // Starts a request that the run bar need not hold. False: refused, with a message.
  bool start(const RunRequest& request, bool run_at_once);
  void stop();
  void close(Document* document);           // the live run ends with its document
  void try_again() { host_->try_again(); }  // resumes a run that waits for memory

  // --- breakpoints ---
  const std::vector<Breakpoint>& breakpoints() const { return breakpoints_; }
  // Error{kInvalidArgument}: one of them could never be hit; nothing changes.
  void set_breakpoints(std::vector<Breakpoint> breakpoints);

  // --- from one run to the next (live_run_branch.cpp) ---
  // Decodes on from `node` with another token. The branch is a run of its own that begins with what
  // both share.
  void branch(std::int32_t node, std::int32_t token);
  // Branches with the text's first token. Error{kInvalidArgument}: the text gives no token, or the
  // model has no tokenizer.
  void branch_with(std::int32_t node, const std::string& text);
  // "branch of #1 after ·capital with ·is"; "" = not a branch, or its origin is closed.
  std::string origin_text(const Document& document) const;
  void compare_with_origin();
  // Fills the run bar with the request of the run shown: model, method, settings, prompt, seed.
  void take_run();
  bool can_take_run() const;  // a capture is shown, and the run bar does not hold its run

  // --- times without drawing (live_run_measure.cpp) ---
  // Decodes the run shown once more while the window draws only its progress, so that the times are
  // the method's. Then shows both runs side by side. A branch cannot be decoded again.
  void measure_again();
  bool can_measure_again() const;
  void stop_measuring();
  bool measuring() const { return measured_.has_value(); }

 private:
  bool take_in_notices();   // true: there were new notices
  void take_in_run();       // the newest run becomes a document
  void show_break();        // marks where the run stopped, and selects the node
  void tell_what_stops();   // names the run that ends, because only one decodes at a time
  bool finish_measuring();  // true: the run that was measured is over
  const RunRequest* request_shown() const;
  // The request of the run shown; a file's is read from the capture. Errors: those of
  // request_of_run().
  const RunRequest& read_request();

  Documents& documents_;
  Comparison& comparison_;
  Preferences& preferences_;
  Messages& log_;
  std::vector<Breakpoint> breakpoints_;
  std::uint64_t seen_run_ = 0, seen_pause_ = 0, seen_notice_ = 0;  // serials
  // The serial of the command that loads a model, and whether that failed; 0 = none is under way.
  std::uint64_t opens_ = 0;
  bool open_failed_ = false;
  // The request that take_run() would take, found once a document.
  std::uint64_t taken_serial_ = 0;
  std::optional<RunRequest> taken_;
  // The run that is decoded while nothing is drawn, and the document that it measures again.
  struct Measured {
    std::string path;
    std::uint64_t of_serial = 0;
  };
  std::optional<Measured> measured_;
  std::shared_ptr<const LiveStatus> status_;
  std::shared_ptr<RunHost> host_;
};

}  // namespace triescope::app

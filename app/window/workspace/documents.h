// Documents: the captures that are open. Knows which one is shown, and which stands beside it while
// two runs are compared. Window thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/breakpoints.h"
#include "app/session/request.h"
#include "app/window/workspace/messages.h"
#include "app/window/workspace/preferences.h"
#include "core/capture/capture.h"
#include "viz/draw/scene.h"
#include "viz/panels/panel.h"
#include "viz/query/comparison.h"
#include "viz/query/step_range.h"

namespace triescope::app {

// Where a branch left another run that was decoded in this window.
struct BranchOrigin {
  std::uint64_t run_serial = 0;  // the run it left
  std::int32_t node = -1;        // of that run: the last node that both share
  std::int32_t token = -1;       // the token forced in place of the next one
};

// One open capture with its own cursor, focus and panels.
struct Document {
  std::uint64_t serial = 0;
  std::string path, title;
  std::unique_ptr<capture::Capture> capture;
  std::vector<std::unique_ptr<viz::Panel>> panels;
  capture::Tick cursor = 0;
  bool follow = true;  // the cursor stays at the newest tick
  viz::Focus focus;
  viz::StepRange range;
  std::uint64_t run_serial = 0;  // the run decoded into it; 0 = opened from a file
  // The request that started the run. Empty for a file and for a branch, which cannot be run again.
  std::optional<RunRequest> request;
  std::optional<BranchOrigin> origin;       // only a branch has one
  std::vector<viz::BreakMark> breaks = {};  // stops so far, oldest first
  std::optional<BreakStop> stopped;         // where a breakpoint held playback or a search
  bool playing = false;                     // playback is under way
  double next_play_time = 0;
  viz::Twins twins;    // as seen from the other run while two are compared
  float enlarged = 1;  // scale of its maximised panel; 1 = as elsewhere

  viz::Panel* panel(const std::string& name) const;
};

class Documents {
 public:
  Documents(Preferences& preferences, Messages& log) : preferences_(preferences), log_(log) {}

  const std::vector<std::unique_ptr<Document>>& all() const { return all_; }
  Document* active() const { return active_; }
  void activate(Document* document);
  // The document that the newest run is decoded into; nullptr = none, or closed.
  Document* live() const;
  bool active_is_live() const { return active_ && active_ == live(); }

  void open(const std::string& path);  // errors become problems
  // Opens a file without listing it among the recent captures, or shows it where it is open
  // already. Errors: Capture::open()'s.
  Document* open_unlisted(const std::string& path);
  // Opens the newest run, which is live from now on. Errors: Capture::open()'s.
  Document& add_run(const std::string& path, std::uint64_t run_serial);
  void forget_live() { live_run_ = 0; }  // nothing decodes into a document any more
  void close(Document* document);
  void save_as(const std::string& path);  // the active one; errors become problems

  // Keep how the run in a capture starts or branches off: that is known before the capture is
  // opened.
  void note_start(const std::string& path, const RunRequest& request) { requests_[path] = request; }
  void note_branch(const std::string& path, const BranchOrigin& origin) { origins_[path] = origin; }
  Document* origin_of(const Document& document) const;  // nullptr = not a branch, or closed

  // Takes in what was recorded since; true if there was anything.
  bool poll();
  bool poll(Document& document);

  // --- the cursor ---
  void set_cursor_of(Document& document, capture::Tick tick);  // it leads; the other follows
  void set_cursor(capture::Tick tick);                         // the active one's; stops following
  void follow();                                               // back to the newest tick
  void add_bookmark(const std::string& note);
  void set_bookmark_note(std::int64_t id, const std::string& note);  // of the active one's
  void remove_bookmark(std::int64_t id);
  void go_to_bookmark(int direction);  // +1 next, -1 previous

  // --- two runs side by side (Comparison writes these) ---
  bool comparing = false;
  Document* partner = nullptr;  // the capture on the right; stays while nothing is compared
  Document* lead = nullptr;     // of the two, the one whose cursor moved last

 private:
  Document& add(const std::string& path, std::uint64_t run_serial);
  // Changes the bookmarks of the active capture, and says `done`; errors become problems.
  void mark(const std::function<void(capture::Capture&)>& change, const std::string& done);

  Preferences& preferences_;
  Messages& log_;
  std::vector<std::unique_ptr<Document>> all_;
  Document* active_ = nullptr;
  std::uint64_t next_serial_ = 1;
  std::uint64_t live_run_ = 0;                   // the newest run's serial
  std::map<std::string, RunRequest> requests_;   // by capture; only runs started here
  std::map<std::string, BranchOrigin> origins_;  // by capture; only branches
};

}  // namespace triescope::app

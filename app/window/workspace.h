// Workspace: everything the window shows and can do, without a line of drawing: the open captures,
// the run that is decoded, the run that is being set up, layout and theme. The command table, the
// script and the drawing code all act through it. Not thread-safe: the window thread owns it; the
// decoder is reached through a RunHost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/run/breakpoints.h"
#include "app/run/prompt_counter.h"
#include "app/run/run_host.h"
#include "app/window/lecture_mode.h"
#include "app/window/lesson_player.h"
#include "app/window/pane_docking.h"
#include "app/window/preferences.h"
#include "core/capture/capture.h"
#include "viz/export/export.h"
#include "viz/look/scene.h"
#include "viz/panels/panel.h"
#include "viz/questions/comparison.h"

namespace triescope::app {

// What a run branched off from: another run, decoded in this window.
struct BranchOrigin {
  std::uint64_t run_serial = 0;  // of the run it left
  std::int32_t node = -1;        // of that run: the last one that both share
  std::int32_t token = -1;       // forced in place of what followed
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
  std::optional<std::pair<std::int32_t, std::int32_t>> range;
  std::uint64_t run_serial = 0;  // of the run decoded into it; 0 = opened from a file
  // What the run was started with; empty for a file and for a branch, which cannot be run again.
  std::optional<RunRequest> request;
  std::optional<BranchOrigin> origin;       // of a branch
  std::vector<viz::BreakMark> breaks = {};  // what stopped it so far, oldest first
  std::optional<BreakStop> stopped;         // a breakpoint held playback, or a search, there
  bool playing = false;                     // replay goes on by itself
  double next_play_time = 0;
  viz::Twins twins;    // as seen from the other run, while two are compared
  float enlarged = 1;  // how much larger than elsewhere its maximised panel is drawn

  viz::Panel* panel(const std::string& name) const;
};

// Of playback, slowest first: 0.25 to 8.
const std::vector<double>& play_speeds();
std::string play_speed_text(double speed);  // "0.25×"

// As a page for a browser; as JSON lines for a notebook.
enum class WholeRun : std::uint8_t { kHandout, kData };

// A picture a step, for slides.
enum class Animation : std::uint8_t { kGif, kPngFrames };

struct ExportJob {
  std::string panel, path;  // a panel, or a chart
  viz::ExportFormat format = viz::ExportFormat::kSvg;
  viz::ThemeName theme = viz::ThemeName::kLight;
  bool both = true;  // while two runs are compared: both in one picture
  viz::ExportPart part = viz::ExportPart::kWhole;
  bool in_range = true;  // figures are limited to the range of steps chosen, if any
  bool slide = false;    // of a slide's size, else of its own
  std::optional<Animation> animation = {};  // in place of `format`
  // Of kSeen: the panel as it was drawn last, of one run or two.
  std::vector<viz::SeenPanel> seen = {};
};

class ExportTask;

class Workspace {
 public:
  // `wake` makes the window thread look again (called from other threads). Decodes in this process,
  // or wherever `host` does; it calls `wake` after every new snapshot.
  Workspace(Preferences preferences, std::function<void()> wake);
  Workspace(Preferences preferences, std::function<void()> wake, std::unique_ptr<RunHost> host);
  ~Workspace();

  // Takes in what other threads did since the last call; `seconds` is a steady clock. True if
  // anything changed.
  bool update(double seconds);

  // Makes the window thread look again, from any thread.
  const std::function<void()>& waker() const { return wake_; }

  // --- state ---
  Preferences preferences;
  PaneLayout layout;
  std::string layout_name = "debug";  // the one it came from; "" = changed by docking since
  std::string maximised;              // panel name; "" = none
  bool animate = true;
  std::vector<Breakpoint> breakpoints;
  std::vector<DeviceInfo> devices;
  const std::vector<std::unique_ptr<Document>>& documents() const { return documents_; }
  Document* active() const { return active_; }
  void activate(Document* document);
  const LiveStatus& live() const { return *live_; }
  const RunHost& host() const { return *host_; }
  // The document that the newest run is decoded into; nullptr = none, or closed.
  Document* live_document() const;
  bool active_is_live() const { return active_ && active_ == live_document(); }
  std::vector<std::string> problems;  // errors waiting to be read, oldest first
  std::vector<Notice> messages;       // everything reported so far, newest last
  // `about`: serial of a document; the status line says it while that one is shown. 0 = whatever is.
  void say(LogLevel level, const std::string& text, std::uint64_t about = 0);
  // What a person asks for and may ask for again: an error about it ends when it succeeds.
  enum class Action : std::uint8_t { kOpen, kSave, kExport };
  // becomes a problem
  void failed(Action action, const std::string& why, std::uint64_t about = 0);
  void succeeded(Action action);
  // For the status line: the newest message since a run was asked for last that is not about another
  // document than the one shown; "" = none.
  std::string newest_message() const;

  // --- layouts (workspace_layout.cpp) ---
  // As it was made: a preset, or one's own by name. Error{kNotFound}: there is none of this name; lists
  // them.
  void use_layout(const std::string& name);
  // The same with the panels in front that were there when it was left. The one that is shown already: as
  // it was made.
  void go_to_layout(const std::string& name);
  // Keeps the present one. Error{kInvalidArgument}: no name, or a preset's.
  void save_layout(const std::string& name);
  void forget_layout(const std::string& name);
  std::vector<std::string> own_layouts() const;
  // All there are: the presets, then one's own. Their order is that of the keys Ctrl+1 to Ctrl+9.
  std::vector<std::string> layout_names() const;
  void dock(const std::string& panel, PaneNode& target, DropSide side);
  void undock(const std::string& panel, viz::Rect area);
  void move_panel(const std::string& panel, PaneMove move);

  // One to three panels large, the first on top; all others are tabs of the last pane.
  void show_panels(const std::vector<std::string>& panels);

  // Brings a panel to the front of its pane, or into lecture mode. False: the layout lacks it.
  bool show_panel(const std::string& panel);
  // The same in the window as it is: in the place of a maximised one.
  void go_to_panel(const std::string& panel);
  // Of the window, or of lecture mode while that is on; each is remembered.
  viz::ThemeName theme() const;
  void set_theme(viz::ThemeName theme);

  // --- lecture mode ---
  LectureMode lecture{*this};

  // --- lessons ---
  LessonPlayer lesson{*this};
  void open_lesson(const std::string& path_or_name);  // errors become problems

  // --- documents ---
  void open_capture(const std::string& path);  // errors become problems
  // The same without a place among the recent captures; one that is open already is shown. Errors:
  // Capture::open()'s.
  Document* open_unlisted(const std::string& path);
  void close_document(Document* document);
  void save_capture_as(const std::string& path);
  // A path that was dropped or opened: opens a capture or a lesson, loads a model, reads a prompt (.txt).
  void open_path(const std::string& path);
  void read_prompt(const std::string& path);  // the run bar's, from a file; errors become problems

  // --- the run ---
  RunRequest& request() { return preferences.request; }
  // Whether the prompt is read as token ids: asked for, or the loaded model has no tokenizer.
  bool prompt_is_ids() const;
  // Of the prompt as it is now, with the loaded model; asked for while the run bar is drawn.
  PromptCounter prompt_counter;
  void start(bool run_at_once);
  // Decodes to the end what the run bar need not hold.
  void decode(const RunRequest& request) { start_request(request, /*run_at_once=*/true); }
  void load_model();
  void step();  // in the past: forward in the capture; at the end of a live run: the decoder
  void step_phase();
  void back();
  void back_phase();
  void toggle_run();  // decoder run / pause; replay play / pause
  // Of playback, as a multiple of its own pace; one of play_speeds(). Another one: the nearest of them.
  void set_play_speed(double speed);
  void change_play_speed(int direction);  // +1: the next faster one
  void stop();
  void try_again();  // a run that waits for memory
  void cancel();
  // The same run (settings, seed, prompt) decoded again, up to the cursor, into a capture of its
  // own; the old one stays open. At the end of a live run: a step.
  void run_to_cursor();
  bool can_run_to_cursor() const;
  // The run shown once more from its beginning, with its own settings, in a capture of its own; a capture
  // that was not started here goes back to its start.
  void restart();
  // Decodes the run shown once more while the window draws nothing but how far it is, so that its times are
  // the method's; then puts it beside the run shown. A branch cannot be decoded again.
  void measure_again();
  bool can_measure_again() const;
  void stop_measuring();
  bool measuring() const { return measured_.has_value(); }
  // Decoding or loading goes on by itself, as the host says it now: drawing is to spare the
  // cores.
  bool works_by_itself() const;
  bool can_step() const;  // there is a next step to show or to decode, or a run to start
  // Error{kInvalidArgument}: one of them could never be hit; nothing changes.
  void set_breakpoints(std::vector<Breakpoint> breakpoints);
  // The next step that is recorded where a breakpoint would stop the run, or the one before: +1, -1.
  // Goes there, or says that there is none.
  void go_to_match(int direction);
  // What holds the run that is shown: a breakpoint in the live run, or in playback at the cursor; or
  // that memory was refused. "" = nothing.
  std::string stop_reason() const;
  // What the timeline of `document` marks: where it stopped, and the steps it will stop at.
  std::vector<viz::BreakMark> break_marks(const Document& document) const;

  // --- from one run to the next (workspace_branch.cpp) ---
  // Decodes on from `node` with another token, as a run of its own that begins with what both share.
  void branch(std::int32_t node, std::int32_t token);
  // The same with a text: its first token. Error{kInvalidArgument}: no token, or no tokenizer.
  void branch_with(std::int32_t node, const std::string& text);
  // How the model in use splits a text that follows another one. Empty: no model, or it takes no text.
  std::vector<std::int32_t> tokens_of(const std::string& text) const;
  // "branch of #1 after ·capital with ·is"; "" = not a branch, or its origin is closed.
  std::string origin_text(const Document& document) const;
  Document* origin_of(const Document& document) const;  // nullptr = not a branch, or closed
  void compare_with_origin();
  // The run bar takes what the run shown was started with: model, method, settings, prompt, seed.
  void take_run();
  bool can_take_run() const;  // a capture is shown, and the run bar does not hold its run

  // --- the cursor ---
  void set_cursor(capture::Tick tick);  // stops following
  void follow();                        // back to now
  void go_to_start();
  void add_bookmark(const std::string& note);
  void go_to_bookmark(int direction);  // +1 next, -1 previous
  void lock_focus(std::int32_t node);  // -1 = clear

  // --- two runs side by side (workspace_compare.cpp) ---
  bool comparing() const { return comparing_; }
  // The capture on the right; nullptr = nothing is compared, or nothing was chosen yet.
  Document* partner() const;
  // Takes the compare layout; nullptr = the newest other capture.
  void compare(Document* other);
  void stop_comparing();
  // Each of the two with axes of its own, in the window and in pictures of both; else they share them.
  bool own_scales() const { return preferences.compare_own_scales; }
  viz::Along along() const { return along_; }
  void set_along(viz::Along along);
  void set_cursor_of(Document& document,
                     capture::Tick tick);  // this document leads, the other follows
  // The steps that figures are limited to; nullopt = all. Of both runs while two are compared.
  void set_range_of(Document& document, std::optional<std::pair<std::int32_t, std::int32_t>> range);
  // The range of the active document begins (or ends) at the cursor's step; its other end stays where it fits,
  // else it is the run's.
  void end_range(bool first);
  void sync_partner();  // before drawing: cursor and twins of the one that follows
  void mirror_focus(const Document& from);
  bool go_to_difference();       // the first; false: the texts are the same so far
  bool go_to_next_difference();  // behind the one shown; false: there is none

  // --- export, in the background (workspace_export.cpp) ---
  void start_export(const ExportJob& job);
  // A proposal: "trie.png", in the folder of the last export under a name that is free.
  std::string picture_path(const std::string& panel, const std::string& ending) const;
  // The run, or the chosen range of its steps.
  void start_whole_run(WholeRun as, const std::string& path);
  std::string whole_run_path(WholeRun as) const;
  void cancel_export();
  bool exporting() const;
  double export_share() const;

  // Nothing under way: no command waiting, no run, no export.
  bool idle() const;
  bool decoder_idle() const;  // no command waiting, nothing loading or running
  // When the replay, or the file of an open lesson, wants to be looked at again; negative = never.
  double seconds_to_next_play(double seconds) const;

  nlohmann::json state_json(const std::vector<std::string>& visible_panels) const;
  void remember();  // writes the preferences

 private:
  // As a run is asked for: what was said before is of an earlier one, or of a start that failed. The log
  // keeps it. What is said of this run, also while its model loads, stays.
  void end_messages();
  // From the preferences; an entry that is not a layout is skipped with a message.
  void read_layouts();
  void keep_tabs();  // of the layout that is about to be left
  Document* add_document(const std::string& path, std::uint64_t run_serial);
  bool start_request(const RunRequest& request,
                     bool run_at_once);  // false: refused, with a message
  void tell_what_stops();  // one run decodes at a time: another one ends one that was not over
  bool poll_document(Document& document);
  void start_animation(const ExportJob& job);
  void keep_export_folder(const std::string& path);  // is proposed the next time
  bool may_export();     // false: no run is shown; or one is under way, and that is said
  bool finish_export();  // true: one has ended, with a message
  void play(double seconds);
  void show_break();  // marks where the run was stopped, and selects the node
  void show_stop(Document& document,
                 const BreakStop& stop);  // the same, of a stop in what is recorded
  const RunRequest* request_shown() const;
  // What the run shown was started with; of a file it is read from the capture. Errors: those of
  // request_of_run().
  const RunRequest& read_request();
  bool finish_measuring();  // true: the run that was measured is over

  std::function<void()> wake_;
  // What the twins were found for.
  struct Compared {
    const Document* lead = nullptr;
    capture::Tick cursor = -1, end = -1, other_end = -1;
    std::int64_t verdicts = -1, other_verdicts = -1;
    bool operator==(const Compared&) const = default;
  };
  void forget_partner(const Document* document);
  bool steps_in_partner(int direction) const;
  void show_difference(std::size_t index);

  std::vector<std::unique_ptr<Document>> documents_;
  Document* active_ = nullptr;
  bool comparing_ = false;
  Document* partner_ = nullptr;
  Document* lead_ = nullptr;  // of the two, the one whose cursor was moved
  viz::Along along_ = viz::Along::kTokens;
  Compared compared_;
  std::uint64_t next_serial_ = 1;
  std::uint64_t seen_run_serial_ = 0;
  std::uint64_t said_before_run_ = 0;            // serial of the newest message before that run
  std::map<std::string, RunRequest> requests_;   // of the runs started here, by capture
  std::map<std::string, BranchOrigin> origins_;  // of the branches, by capture
  std::uint64_t seen_pause_ = 0;
  // What take_run() would take, found once a document.
  std::uint64_t taken_serial_ = 0;
  std::optional<RunRequest> taken_;
  // The run that is decoded while nothing is drawn, and the document it measures again.
  struct Measured {
    std::string path;
    std::uint64_t of_serial = 0;
  };
  std::optional<Measured> measured_;
  std::uint64_t seen_notice_ = 0;
  std::shared_ptr<const LiveStatus> live_;
  std::unique_ptr<ExportTask> export_;
  std::uint64_t export_of_ = 0;  // serial of the document shown when it began
  // The command that loads a model that was opened, and whether it failed; 0 = none is under way.
  std::uint64_t opens_ = 0;
  bool open_failed_ = false;
  std::vector<std::pair<Action, std::string>> failures_;  // those of `problems` that an action ends
  std::unique_ptr<RunHost> host_;  // declared last so it is destroyed first; it calls wake_
};

}  // namespace triescope::app

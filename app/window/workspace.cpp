#include "app/window/workspace.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/run/session_thread.h"
#include "app/window/document_names.h"
#include "app/window/export_task.h"
#include "app/window/window_words.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/text_file.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using capture::Tick;

constexpr double kPlaySecondsPerStep = 0.45;
constexpr std::size_t kMaxMessages = 500;

// "2026-01-02T03:04:05Z" -> "2026-01-02 03:04". The path is made absolute: the next start may be elsewhere.
RecentCapture recent_of(const std::string& path, const capture::Capture& capture) {
  const capture::RunInfo& run = capture.run();
  std::string recorded = run.created_utc.substr(0, 16);
  if (recorded.size() == 16) recorded[10] = ' ';
  std::error_code ec;
  const fs::path whole = fs::absolute(path, ec);
  return {ec ? path : whole.string(), run.method_title.empty() ? run.method : run.method_title,
          recorded, first_words(run.prompt_text)};
}

// The first tick of the step after the one `cursor` stands in, at most `end`.
Tick next_step_tick(Tick cursor, Tick end) {
  const Tick next = (cursor / capture::kPhaseCount + 1) * capture::kPhaseCount;
  return std::min(next, end);
}

Tick previous_step_tick(Tick cursor) {
  if (cursor <= 0) return 0;
  return (cursor - 1) / capture::kPhaseCount * capture::kPhaseCount;
}

}  // namespace

viz::Panel* Document::panel(const std::string& name) const {
  for (const auto& panel : panels)
    if (panel->info().name == name) return panel.get();
  return nullptr;
}

Workspace::Workspace(Preferences initial, std::function<void()> wake)
    : Workspace(std::move(initial), wake, std::make_unique<SessionThread>(wake)) {}

Workspace::Workspace(Preferences initial, std::function<void()> wake, std::unique_ptr<RunHost> host)
    : preferences(std::move(initial)),
      devices(host->devices()),
      prompt_counter(wake),
      wake_(std::move(wake)),
      host_(std::move(host)) {
  live_ = host_->status();
  read_layouts();
}

Workspace::~Workspace() { cancel_export(); }

void Workspace::say(LogLevel level, const std::string& said, std::uint64_t about) {
  const std::string text = in_window_words(said);
  messages.push_back({messages.empty() ? 1 : messages.back().serial + 1, level, text, about});
  if (messages.size() > kMaxMessages) messages.erase(messages.begin());
  if (level == LogLevel::kError) problems.push_back(text);
}

void Workspace::failed(Action action, const std::string& why, std::uint64_t about) {
  say(LogLevel::kError, why, about);
  failures_.emplace_back(action, messages.back().text);
}

void Workspace::succeeded(Action action) {
  for (const auto& [of, text] : failures_)
    if (of == action)
      if (const auto found = std::ranges::find(problems, text); found != problems.end())
        problems.erase(found);
  std::erase_if(failures_, [&](const auto& failure) { return failure.first == action; });
}

std::string Workspace::newest_message() const {
  for (auto message = messages.rbegin();
       message != messages.rend() && message->serial > said_before_run_; ++message)
    if (message->document == 0 || (active_ && active_->serial == message->document))
      return message->text;
  return "";
}

void Workspace::end_messages() {
  problems.clear();
  failures_.clear();
  said_before_run_ = messages.empty() ? 0 : messages.back().serial;
}

Document* Workspace::live_document() const {
  for (const auto& document : documents_)
    if (document->run_serial != 0 && document->run_serial == live_->run_serial)
      return document.get();
  return nullptr;
}

Document* Workspace::add_document(const std::string& path, std::uint64_t run_serial) {
  auto document = std::make_unique<Document>();
  document->serial = next_serial_++;
  document->path = path;
  document->capture = capture::Capture::open(path);
  document->panels = viz::make_panels();
  for (const auto& panel : document->panels)
    panel->set_view_state(preferences.view_states.value(panel->info().name, ""));
  document->run_serial = run_serial;
  if (const auto started = requests_.find(path); started != requests_.end())
    document->request = started->second;
  const capture::RunInfo& run = document->capture->run();
  if (const auto from = origins_.find(path); from != origins_.end())
    document->origin = from->second;
  document->title = run.method_title.empty() ? fs::path(path).stem().string() : run.method_title;
  document->title += run_serial ? " #" + std::to_string(run_serial)
                                : " (" + fs::path(path).filename().string() + ")";
  document->cursor = document->capture->end_tick();
  documents_.push_back(std::move(document));
  Document& added = *documents_.back();
  if (const std::string from = origin_text(added); run_serial != 0 && !from.empty()) {
    added.title = "#" + std::to_string(run_serial) + ", " + from;
    host_->step();  // prefill: what both runs share is there at once
  }
  // The capture that was active stays as the one to compare with.
  if (comparing_ && !partner_) partner_ = active_;
  active_ = lead_ = documents_.back().get();
  return active_;
}

void Workspace::activate(Document* document) {
  if (document == active_) return;
  if (document == partner_) partner_ = active_;
  active_ = lead_ = document;
}

void Workspace::open_capture(const std::string& path) {
  try {
    RecentCapture opened = recent_of(path, *add_document(path, 0)->capture);
    // A run that the window recorded has its place among the runs.
    const bool own = std::ranges::any_of(
        preferences.recent_runs, [&](const RecentCapture& one) { return one.path == opened.path; });
    remember_capture(own ? preferences.recent_runs : preferences.recent_captures,
                     std::move(opened));
    succeeded(Action::kOpen);
  } catch (const std::exception& error) {
    failed(Action::kOpen, error.what());
  }
}

Document* Workspace::open_unlisted(const std::string& path) {
  for (const auto& document : documents_)
    if (document->path == path) {
      activate(document.get());
      return document.get();
    }
  return add_document(path, 0);
}

void Workspace::open_lesson(const std::string& path_or_name) {
  try {
    lesson.open(path_or_name);
    succeeded(Action::kOpen);
  } catch (const std::exception& error) {
    failed(Action::kOpen, error.what());
  }
}

void Workspace::open_path(const std::string& path) {
  std::error_code ec;
  const fs::path given(path);
  if (given.extension() == ".md") return open_lesson(path);
  if (given.extension() == ".gguf" || fs::is_directory(given, ec)) {
    request().model = path;
    load_model();
    return;
  }
  if (given.extension() == ".txt" || given.extension() == ".json") return read_prompt(path);
  open_capture(path);
}

void Workspace::read_prompt(const std::string& path) {
  try {
    if (fs::path(path).extension() == ".json") {
      take_conversation(request(), read_messages_file(path), path);
      say(LogLevel::kInfo, "the conversation is now that of " + path);
    } else {
      request().prompt = read_text_file(path, "a text file");
      request().prompt_is_ids = false;
      say(LogLevel::kInfo, "the prompt is now that of " + path);
    }
    succeeded(Action::kOpen);
  } catch (const std::exception& error) {
    failed(Action::kOpen, error.what());
  }
}

void Workspace::close_document(Document* document) {
  if (document == live_document() && live_->state != LiveState::kDone) host_->stop();
  forget_partner(document);
  std::erase_if(documents_, [&](const auto& entry) { return entry.get() == document; });
  if (active_ == document) active_ = documents_.empty() ? nullptr : documents_.back().get();
  if (partner_ == active_) partner_ = nullptr;
}

void Workspace::save_capture_as(const std::string& path) {
  if (!active_) return;
  try {
    const std::int32_t last = active_->capture->last_step();
    if (last < 0)
      throw Error(ErrorCode::kInvalidArgument,
                  "nothing is recorded yet: run at least one step before saving");
    capture::save_slice(active_->path, path, 0, last);
    remember_capture(preferences.recent_captures, recent_of(path, *active_->capture));
    say(LogLevel::kInfo, "saved " + path, active_->serial);
    succeeded(Action::kSave);
  } catch (const std::exception& error) {
    failed(Action::kSave, error.what(), active_->serial);
  }
}

bool Workspace::prompt_is_ids() const {
  return preferences.request.prompt_is_ids ||
         (live_->tokenizer && !live_->tokenizer->encodes_text());
}

void Workspace::start(bool run_at_once) { start_request(request(), run_at_once); }

bool Workspace::start_request(const RunRequest& request, bool run_at_once) {
  try {
    const std::string path = new_run_path();
    requests_[path] = request;
    end_messages();
    host_->start(request, path, run_at_once);
    tell_what_stops();
    return true;
  } catch (const std::exception& error) {
    say(LogLevel::kError, error.what());
    return false;
  }
}

void Workspace::tell_what_stops() {
  const Document* const before = live_document();
  if (!before || (live_->state != LiveState::kPaused && live_->state != LiveState::kRunning))
    return;
  say(LogLevel::kInfo, before->title + " stops after " +
                           counted(before->capture->last_step() + 1, "step") +
                           ", because another run begins. What it recorded stays.");
}

void Workspace::load_model() {
  host_->load(request().model, request().device, request().dtype, request().kv_dtype);
  opens_ = host_->commands_sent();
  open_failed_ = false;
}

void Workspace::step() {
  if (!active_) return start(/*run_at_once=*/false);
  if (steps_in_partner(+1))
    return set_cursor_of(*partner_,
                         next_step_tick(partner_->cursor, partner_->capture->end_tick()));
  lead_ = active_;
  const Tick end = active_->capture->end_tick();
  if (active_->cursor < end) {
    active_->cursor = next_step_tick(active_->cursor, end);
    active_->playing = false;
    if (active_->cursor >= end && active_is_live()) active_->follow = true;
    return;
  }
  if (active_is_live()) {
    active_->follow = true;
    host_->step();
  }
}

void Workspace::step_phase() {
  if (!active_) return start(/*run_at_once=*/false);
  if (steps_in_partner(+1)) return set_cursor_of(*partner_, partner_->cursor + 1);
  lead_ = active_;
  const Tick end = active_->capture->end_tick();
  if (active_->cursor < end) {
    ++active_->cursor;
    active_->playing = false;
    if (active_->cursor >= end && active_is_live()) active_->follow = true;
    return;
  }
  if (active_is_live()) {
    active_->follow = true;
    host_->step_phase();
  }
}

void Workspace::back() {
  if (!active_) return;
  if (steps_in_partner(-1)) return set_cursor_of(*partner_, previous_step_tick(partner_->cursor));
  set_cursor(previous_step_tick(active_->cursor));
}

void Workspace::back_phase() {
  if (!active_) return;
  if (steps_in_partner(-1)) return set_cursor_of(*partner_, partner_->cursor - 1);
  set_cursor(active_->cursor - 1);
}

void Workspace::toggle_run() {
  if (!active_) return start(/*run_at_once=*/true);
  if (active_is_live() && live_->state == LiveState::kRunning) return host_->pause();
  if (active_is_live() && live_->state == LiveState::kPaused) {
    active_->follow = true;
    return host_->run();
  }
  // A finished capture is replayed; at its end, from the start.
  if (active_->cursor >= active_->capture->end_tick()) active_->cursor = 0;
  active_->playing = !active_->playing;
  active_->follow = false;
  active_->next_play_time = 0;
}

void Workspace::stop() {
  if (active_) active_->playing = false;
  if (live_document()) host_->stop();
}

void Workspace::try_again() { host_->try_again(); }

void Workspace::cancel() {
  host_->cancel();
  cancel_export();
}

void Workspace::run_to_cursor() {
  if (!active_) return;
  const Tick target = active_->cursor;
  if (target >= active_->capture->end_tick()) return step();
  if (!active_->request) {
    say(LogLevel::kError,
        "only a run that was started in this window can be re-run to the cursor; this capture is a "
        "file or a branch: set up the same run in the run bar and press Start");
    return;
  }
  // A copy: the documents may move while the new run is opened.
  const RunRequest again = *active_->request;
  if (start_request(again, /*run_at_once=*/false)) host_->run_to(target);
}

bool Workspace::can_run_to_cursor() const {
  if (!active_) return false;
  return active_->cursor < active_->capture->end_tick() ? active_->request.has_value()
                                                        : active_is_live();
}

void Workspace::restart() {
  if (!active_ || !active_->request) return go_to_start();
  // A copy: the documents may move while the new run is opened.
  const RunRequest again = *active_->request;
  start_request(again, /*run_at_once=*/false);
}

bool Workspace::can_step() const {
  if (!active_ || active_->cursor < active_->capture->end_tick()) return true;
  if (partner() && partner_->cursor < partner_->capture->end_tick()) return true;
  return active_is_live() && live_->state != LiveState::kDone;
}

void Workspace::set_cursor(Tick tick) {
  if (active_) set_cursor_of(*active_, tick);
}

void Workspace::follow() {
  if (!active_) return;
  active_->follow = true;
  active_->playing = false;
  active_->cursor = active_->capture->end_tick();
  lead_ = active_;
}

void Workspace::go_to_start() { set_cursor(0); }

void Workspace::add_bookmark(const std::string& note) {
  if (!active_) return;
  try {
    active_->capture->add_bookmark(active_->cursor, note);
    say(LogLevel::kInfo, "bookmark at step " + std::to_string(capture::step_of(active_->cursor)));
  } catch (const std::exception& error) {
    say(LogLevel::kError, error.what());
  }
}

void Workspace::go_to_bookmark(int direction) {
  if (!active_) return;
  std::optional<Tick> best;
  for (const capture::Bookmark& bookmark : active_->capture->bookmarks()) {
    const Tick distance = (bookmark.tick - active_->cursor) * direction;
    if (distance <= 0) continue;
    if (!best || distance < (*best - active_->cursor) * direction) best = bookmark.tick;
  }
  if (best) set_cursor(*best);
}

void Workspace::lock_focus(std::int32_t node) {
  if (!active_) return;
  active_->focus.locked = node;
  mirror_focus(*active_);
}

bool Workspace::poll_document(Document& document) {
  const bool changed = document.capture->poll();
  const Tick end = document.capture->end_tick();
  if (document.follow && document.cursor != end) {
    document.cursor = end;
    return true;
  }
  return changed;
}

void Workspace::play(double seconds) {
  Document& document = *active_;
  const Tick end = document.capture->end_tick();
  if (document.next_play_time > seconds) return;
  const Tick next = next_step_tick(document.cursor, end);
  document.next_play_time = seconds + kPlaySecondsPerStep / preferences.play_speed;
  if (const auto stop = next_match(*document.capture, breakpoints, document.cursor, next)) {
    document.playing = false;
    return show_stop(document, *stop);
  }
  document.cursor = next;
  if (document.cursor >= end) document.playing = false;
}

bool Workspace::update(double seconds) {
  lecture.see_clock(seconds);
  bool changed = lesson.update(seconds);
  const auto status = host_->status();
  if (status != live_) {
    live_ = status;
    changed = true;
  }
  for (const Notice& notice : live_->notices) {
    if (notice.serial <= seen_notice_) continue;
    seen_notice_ = notice.serial;
    if (opens_ != 0 && notice.level == LogLevel::kError) {
      failed(Action::kOpen, notice.text);
      open_failed_ = true;
    } else {
      say(notice.level, notice.text);
    }
    changed = true;
  }
  if (opens_ != 0 && live_->commands_done >= opens_) {
    if (!open_failed_) succeeded(Action::kOpen);
    opens_ = 0;
  }
  if (live_->run_serial != seen_run_serial_) {
    seen_run_serial_ = live_->run_serial;
    try {
      const Document* const run = add_document(live_->capture_path, live_->run_serial);
      remember_capture(preferences.recent_runs, recent_of(run->path, *run->capture));
    } catch (const std::exception& error) {
      say(LogLevel::kError, error.what());
    }
    changed = true;
  }
  if (live_->pause_serial != seen_pause_) {
    seen_pause_ = live_->pause_serial;
    show_break();
  }
  changed |= finish_measuring();
  for (const auto& document : documents_) {
    if (measuring()) break;  // reading takes cores as drawing does
    try {
      changed |= poll_document(*document);
    } catch (const std::exception& error) {
      say(LogLevel::kError, error.what());
    }
  }
  if (active_ && active_->playing) {
    play(seconds);
    changed = true;
  }
  changed |= finish_export();
  return changed;
}

bool Workspace::decoder_idle() const {
  return live_->commands_done >= host_->commands_sent() && live_->state != LiveState::kRunning &&
         live_->state != LiveState::kLoading;
}

bool Workspace::idle() const {
  return decoder_idle() && !measuring() && !exporting() && !prompt_counter.busy() &&
         !(active_ && active_->playing);
}

double Workspace::seconds_to_next_play(double seconds) const {
  const double look = lesson.seconds_to_next_look(seconds);
  if (!active_ || !active_->playing) return look;
  const double play = std::max(0.0, active_->next_play_time - seconds);
  return look < 0 ? play : std::min(look, play);
}

void Workspace::remember() {
  // What a lesson arranged is not the user's.
  const bool teaching = lesson.is_open();
  preferences.layout = teaching ? lesson.layout_before() : layout_to_json(layout);
  preferences.layout_name = teaching ? lesson.layout_name_before() : layout_name;
  if (teaching) preferences.run_bar_open = lesson.run_bar_before();
  if (active_) {
    for (const auto& panel : active_->panels)
      if (const std::string state = panel->view_state(); !state.empty())
        preferences.view_states[panel->info().name] = state;
  }
  if (const std::string failure = save_preferences(preferences); !failure.empty())
    say(LogLevel::kWarning, failure);
}

}  // namespace triescope::app

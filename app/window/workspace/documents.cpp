#include "app/window/workspace/documents.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/window/workspace/document_names.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using capture::Tick;

// "2026-01-02T03:04:05Z" -> "2026-01-02 03:04". The path is made absolute, because the next start
// may be in another folder.
RecentCapture recent_of(const std::string& path, const capture::Capture& capture) {
  const capture::RunInfo& run = capture.run();
  std::string recorded = run.created_utc.substr(0, 16);
  if (recorded.size() == 16) recorded[10] = ' ';
  std::error_code ec;
  const fs::path whole = fs::absolute(path, ec);
  return {ec ? path : whole.string(), run.method_title.empty() ? run.method : run.method_title,
          recorded, first_words(run.prompt_text)};
}

}  // namespace

viz::Panel* Document::panel(const std::string& name) const {
  for (const auto& panel : panels)
    if (panel->info().name == name) return panel.get();
  return nullptr;
}

Document* Documents::live() const {
  for (const auto& document : all_)
    if (document->run_serial != 0 && document->run_serial == live_run_) return document.get();
  return nullptr;
}

Document& Documents::add(const std::string& path, std::uint64_t run_serial) {
  auto document = std::make_unique<Document>();
  document->serial = next_serial_++;
  document->path = path;
  document->capture = capture::Capture::open(path);
  document->panels = viz::make_panels();
  for (const auto& panel : document->panels)
    panel->set_view_state(preferences_.view_states.value(panel->info().name, ""));
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
  all_.push_back(std::move(document));
  // The capture that was active stays as the one to compare with.
  if (comparing && !partner) partner = active_;
  active_ = lead = all_.back().get();
  return *active_;
}

Document& Documents::add_run(const std::string& path, std::uint64_t run_serial) {
  live_run_ = run_serial;
  Document& run = add(path, run_serial);
  remember_capture(preferences_.recent_runs, recent_of(path, *run.capture));
  return run;
}

void Documents::activate(Document* document) {
  if (document == active_) return;
  if (document == partner) partner = active_;
  active_ = lead = document;
}

void Documents::open(const std::string& path) {
  log_.attempt(Messages::Action::kOpen, [&] {
    RecentCapture opened = recent_of(path, *add(path, 0).capture);
    // A run that the window recorded is listed among the runs.
    const bool own = std::ranges::any_of(preferences_.recent_runs, [&](const RecentCapture& one) {
      return one.path == opened.path;
    });
    remember_capture(own ? preferences_.recent_runs : preferences_.recent_captures,
                     std::move(opened));
  });
}

Document* Documents::open_unlisted(const std::string& path) {
  for (const auto& document : all_)
    if (document->path == path) {
      activate(document.get());
      return document.get();
    }
  return &add(path, 0);
}

void Documents::close(Document* document) {
  if (partner == document) partner = nullptr;
  if (lead == document) lead = nullptr;
  std::erase_if(all_, [&](const auto& entry) { return entry.get() == document; });
  if (active_ == document) active_ = all_.empty() ? nullptr : all_.back().get();
  if (partner == active_) partner = nullptr;
}

void Documents::save_as(const std::string& path) {
  if (!active_) return;
  const auto save = [&] {
    const std::int32_t last = active_->capture->last_step();
    if (last < 0)
      throw Error(ErrorCode::kInvalidArgument,
                  "nothing is recorded yet: run at least one step before saving");
    capture::save_slice(active_->path, path, 0, last);
    remember_capture(preferences_.recent_captures, recent_of(path, *active_->capture));
    log_.say(LogLevel::kInfo, "saved " + path, active_->serial);
  };
  log_.attempt(Messages::Action::kSave, save, active_->serial);
}

Document* Documents::origin_of(const Document& document) const {
  if (!document.origin) return nullptr;
  for (const auto& other : all_)
    if (other->run_serial == document.origin->run_serial) return other.get();
  return nullptr;
}

bool Documents::poll() {
  bool changed = false;
  for (const auto& document : all_) {
    try {
      changed |= poll(*document);
    } catch (const std::exception& error) {
      log_.say(LogLevel::kError, error.what());
    }
  }
  return changed;
}

bool Documents::poll(Document& document) {
  const bool changed = document.capture->poll();
  const Tick end = document.capture->end_tick();
  if (document.follow && document.cursor != end) {
    document.cursor = end;
    return true;
  }
  return changed;
}

void Documents::set_cursor_of(Document& document, Tick tick) {
  document.cursor = std::clamp<Tick>(tick, 0, document.capture->end_tick());
  document.follow = false;
  document.playing = false;
  lead = &document;
}

void Documents::set_cursor(Tick tick) {
  if (active_) set_cursor_of(*active_, tick);
}

void Documents::follow() {
  if (!active_) return;
  active_->follow = true;
  active_->playing = false;
  active_->cursor = active_->capture->end_tick();
  lead = active_;
}

void Documents::mark(const std::function<void(capture::Capture&)>& change,
                     const std::string& done) {
  if (!active_) return;
  try {
    change(*active_->capture);
    log_.say(LogLevel::kInfo, done);
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

void Documents::add_bookmark(const std::string& note) {
  if (!active_) return;
  const Tick at = active_->cursor;
  mark([&](capture::Capture& capture) { capture.add_bookmark(at, note); },
       "bookmark at step " + std::to_string(capture::step_of(at)));
}

void Documents::set_bookmark_note(std::int64_t id, const std::string& note) {
  mark([&](capture::Capture& capture) { capture.set_bookmark_note(id, note); },
       "the bookmark's note is changed");
}

void Documents::remove_bookmark(std::int64_t id) {
  mark([&](capture::Capture& capture) { capture.remove_bookmark(id); }, "bookmark removed");
}

void Documents::go_to_bookmark(int direction) {
  if (!active_) return;
  std::optional<Tick> best;
  for (const capture::Bookmark& bookmark : active_->capture->bookmarks()) {
    const Tick distance = (bookmark.tick - active_->cursor) * direction;
    if (distance <= 0) continue;
    if (!best || distance < (*best - active_->cursor) * direction) best = bookmark.tick;
  }
  if (best) set_cursor(*best);
}

}  // namespace triescope::app

#include "app/study/run_study.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <new>
#include <utility>

#include "app/session/result_json.h"
#include "app/session/run.h"
#include "app/study/capture_row.h"
#include "core/base/error.h"
#include "core/capture/capture.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

class Watch final : public RunWatcher {
 public:
  Watch(StudyWatcher& study, std::stop_token stop) : study_(study), stop_(std::move(stop)) {}
  ProgressSink progress() override { return study_.progress(); }
  std::stop_token stop() override { return stop_; }
  void warn(const std::string& text) override { note(text); }
  void note(const std::string& text) {
    if (!text.empty()) notes += (notes.empty() ? "" : "; ") + text;
  }
  std::string notes;

 private:
  StudyWatcher& study_;
  std::stop_token stop_;
};

// The models of a study: one target at a time, and beside it every draft model and head that was
// used with it, for methods come in turn.
class StudyModels {
 public:
  // The models, with the companion that this run used last time.
  RunModels& take(const RunRequest& request) {
    if (request.model == model_) {
      put_back();
    } else {  // companions borrow the target that goes now
      models_.draft = {};
      companions_.clear();
      model_ = request.model;
    }
    companion_ = request.method + "\n" + request.draft_model + "\n" + request.draft_device;
    models_.draft = std::exchange(companions_[companion_], {});
    return models_;
  }
  // Frees all companions but the one in use. False: there were no others.
  bool free_others() {
    const bool some = companions_.size() > 1;
    companions_.clear();
    return some;
  }

 private:
  void put_back() {
    if (!companion_.empty()) companions_[companion_] = std::exchange(models_.draft, {});
  }

  RunModels models_;
  std::map<std::string, LoadedDraft> companions_;  // heads borrow the target above
  std::string model_, companion_;
};

void remove_capture(const std::string& path) {
  std::error_code ec;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ec);
}

}  // namespace

std::vector<std::size_t> missing_runs(const std::vector<StudyRun>& runs, StudyStore& store) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!store.is_done(runs[i].key)) missing.push_back(i);
  return missing;
}

namespace {

// One study under way.
class Study {
 public:
  Study(const StudyFile& study, const std::vector<StudyRun>& runs, const std::string& folder,
        StudyWatcher& watcher, std::stop_token stop, const std::string& command)
      : study_(study),
        runs_(runs),
        watcher_(watcher),
        stop_(std::move(stop)),
        command_(command),
        captures_((fs::path(folder) / "captures").string()),
        store_(folder, /*writes=*/true) {}

  StudyOutcome run() {
    store_.set_fact("title", study_.title);
    store_.set_fact("baseline", study_.baseline);
    const std::vector<std::size_t> missing = missing_runs(runs_, store_);
    StudyOutcome outcome;
    outcome.there = static_cast<int>(runs_.size() - missing.size());
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (stop_.stop_requested()) break;
      const StudyRun& run = runs_[missing[i]];
      watcher_.begins(run, static_cast<int>(i), static_cast<int>(missing.size()),
                      seconds_left(std::span(missing).subspan(i)));
      const auto start = Clock::now();
      one(run, static_cast<std::int64_t>(missing[i]), outcome);
      auto& [seconds, count] = took_[run.name];
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
      ++count;
    }
    outcome.interrupted = stop_.stop_requested();
    return outcome;
  }

 private:
  // By the mean of what each method has taken; methods that have not run take the mean of all.
  std::optional<double> seconds_left(std::span<const std::size_t> rest) const {
    if (took_.empty()) return std::nullopt;
    double all = 0, seconds = 0;
    int count = 0;
    for (const auto& [name, took] : took_) all += took.first, count += took.second;
    for (const std::size_t i : rest) {
      const auto found = took_.find(runs_[i].name);
      seconds += found == took_.end() ? all / count : found->second.first / found->second.second;
    }
    return seconds;
  }

  void one(const StudyRun& run, std::int64_t place, StudyOutcome& outcome) {
    const bool records = study_.captures != capture::Level::kOff;
    const std::string path = records ? (fs::path(captures_) / run.capture).string() : "";
    std::string why;
    try {
      decode(run, place, path);
      ++outcome.done;
      return;
    } catch (const Error& error) {
      if (records) remove_capture(path);
      if (error.code() == ErrorCode::kIoError) throw;  // the next run would meet it too
      if (stop_.stop_requested()) return;
      why = error.what();
    } catch (const std::bad_alloc&) {
      if (records) remove_capture(path);
      why = "out of memory";
    }
    store_.put_failure(run, place, why);
    ++outcome.failed;
    watcher_.failed(run, why);
  }

  void decode(const StudyRun& run, std::int64_t place, const std::string& path) {
    if (!path.empty()) remove_capture(path);  // a kill may have left half a file
    Watch watch(watcher_, stop_);
    RunModels& models = models_.take(run.request);
    const RunSetup setup = {.capture = path,
                            .writer = {.level = study_.captures},
                            .threads = study_.threads,
                            .command = command_};
    const auto open = [&] { return std::make_unique<Run>(run.request, models, setup, watch); };
    std::unique_ptr<Run> decoding;
    try {
      decoding = open();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory || !models_.free_others()) throw;
      decoding = open();
    }
    Session& session = decoding->session();
    {
      const std::stop_callback stopping(stop_, [&] { session.request_stop(); });
      session.run();
    }
    if (stop_.stop_requested()) throw Error(ErrorCode::kCancelled, "interrupted");
    const RunResult result = decoding->result();
    watch.note(result.warning);
    const json all =
        result_json(result, models.target.model->info(), session.context(), run.request.method);
    decoding.reset();  // closes the capture
    const bool has_tree = !path.empty() && study_.captures >= capture::Level::kTree;
    store_.put(run, place, all, has_tree ? depths_of(*capture::Capture::open(path)) : json(nullptr),
               !path.empty(), watch.notes);
    watcher_.ended(run, all);
  }

  const StudyFile& study_;
  const std::vector<StudyRun>& runs_;
  StudyWatcher& watcher_;
  std::stop_token stop_;
  std::string command_, captures_;
  StudyStore store_;
  StudyModels models_;
  std::map<std::string, std::pair<double, int>> took_;  // by method's name: seconds, runs
};

}  // namespace

StudyOutcome run_study(const StudyFile& study, const std::vector<StudyRun>& runs,
                       const std::string& folder, StudyWatcher& watcher, std::stop_token stop,
                       const std::string& command) {
  std::error_code ec;
  fs::create_directories(fs::path(folder) / "captures", ec);
  if (ec)
    throw Error(ErrorCode::kIoError, folder + ": the study's folder cannot be made (" +
                                         ec.message() + "); name another with -o");
  return Study(study, runs, folder, watcher, std::move(stop), command).run();
}

}  // namespace triescope::app

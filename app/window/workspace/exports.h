// Exports: writes pictures of panels and whole runs in the background, one file at a time. Window
// thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/workspace/comparison.h"
#include "viz/export/export.h"

namespace triescope::app {

// A page for a browser, or JSON lines for a notebook.
enum class WholeRun : std::uint8_t { kHandout, kData };

// One picture a step, for slides.
enum class Animation : std::uint8_t { kGif, kPngFrames };

struct ExportJob {
  std::string panel, path;  // a panel, or a chart
  viz::ExportFormat format = viz::ExportFormat::kSvg;
  viz::ThemeName theme = viz::ThemeName::kLight;
  bool both = true;  // while two runs are compared: one picture shows both
  viz::ExportPart part = viz::ExportPart::kWhole;
  bool in_range = true;  // figures are limited to the chosen range of steps, if there is one
  bool slide = false;    // as large as a slide, else as large as the picture needs
  bool notes = false;    // the run's bookmarks as numbered marks, with their notes
  std::optional<Animation> animation = {};  // in place of `format`
  // The panels as they were drawn last, of one run or two; only for kSeen.
  std::vector<viz::SeenPanel> seen = {};
};

class ExportTask;

class Exports {
 public:
  // `wake` is called from another thread once a file is written.
  Exports(Documents& documents, Comparison& comparison, Preferences& preferences, Messages& log,
          std::function<void()> wake);
  ~Exports();  // cancels

  void start(const ExportJob& job);
  // Proposes "trie.png" in the folder of the last export, under a name that is free.
  std::string picture_path(const std::string& panel, const std::string& ending) const;
  // Writes the run, or the chosen range of its steps.
  void start_whole_run(WholeRun as, const std::string& path);
  std::string whole_run_path(WholeRun as) const;
  void cancel();
  bool under_way() const { return task_ != nullptr; }
  double share() const;
  bool finish();  // true: an export has ended, and a message says so

 private:
  bool may_start();  // false: no run is shown, or an export is under way (a message says so)
  void start_animation(const ExportJob& job);
  void keep_folder(const std::string& path);  // the next export proposes it

  Documents& documents_;
  Comparison& comparison_;
  Preferences& preferences_;
  Messages& log_;
  std::function<void()> wake_;
  std::unique_ptr<ExportTask> task_;
  std::uint64_t of_ = 0;  // serial of the document shown when the export began
};

}  // namespace triescope::app

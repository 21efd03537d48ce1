// Exports: pictures of panels, and whole runs, as files written in the background; one at a time. Window
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

class Exports {
 public:
  // `wake`: called from another thread once a file is written.
  Exports(Documents& documents, Comparison& comparison, Preferences& preferences, Messages& log,
          std::function<void()> wake);
  ~Exports();  // cancels

  void start(const ExportJob& job);
  // A proposal: "trie.png", in the folder of the last export under a name that is free.
  std::string picture_path(const std::string& panel, const std::string& ending) const;
  // The run, or the chosen range of its steps.
  void start_whole_run(WholeRun as, const std::string& path);
  std::string whole_run_path(WholeRun as) const;
  void cancel();
  bool under_way() const { return task_ != nullptr; }
  double share() const;
  bool finish();  // true: one has ended, with a message

 private:
  bool may_start();  // false: no run is shown; or one is under way, and that is said
  void start_animation(const ExportJob& job);
  void keep_folder(const std::string& path);  // is proposed the next time

  Documents& documents_;
  Comparison& comparison_;
  Preferences& preferences_;
  Messages& log_;
  std::function<void()> wake_;
  std::unique_ptr<ExportTask> task_;
  std::uint64_t of_ = 0;  // serial of the document shown when it began
};

}  // namespace triescope::app

#include "app/spec/spec_figures.h"

#include <algorithm>
#include <map>

#include "app/session/text_tools.h"
#include "app/spec/spec_plan.h"
#include "app/study/study_figures.h"
#include "core/base/json_io.h"
#include "core/capture/capture.h"

namespace triescope::app {
namespace {

using nlohmann::json;

double figure_of(const StudyRow& row, const char* column) {
  const auto found = row.find(column);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::string prompt_of(const StudyRow& row) {
  return row.at("category").get<std::string>() + "\n" + row.at("prompt_text").get<std::string>();
}

// The figures of a run's capture that its row lacks.
struct OfCapture {
  viz::Acceptance by_depth, by_rank, by_source;
  double index_ms = 0;
};

OfCapture of_capture(const std::string& path) {
  const std::unique_ptr<capture::Capture> run = capture::Capture::open(path);
  const capture::Tick end = run->end_tick();
  OfCapture found{.by_depth = viz::acceptance_by(*run, viz::AcceptanceBy::kDepth, end),
                  .by_rank = viz::acceptance_by(*run, viz::AcceptanceBy::kRank, end),
                  .by_source = viz::acceptance_by(*run, viz::AcceptanceBy::kSource, end)};
  for (const capture::PhaseRow& phase : run->phases()) {
    const capture::Phase which = capture::phase_of(phase.tick);
    const std::int32_t step = capture::step_of(phase.tick);
    if ((step == 0 && which == capture::Phase::kObserve) ||
        (step == 1 && which == capture::Phase::kDraft))
      found.index_ms += static_cast<double>(phase.duration_us) / 1000;
  }
  return found;
}

void add_row(SpecCell& cell, const StudyRow& row, const StudyRow& plain, const OfCapture* more) {
  ++cell.prompts;
  cell.equal += row.at("same_text").is_boolean() && row.at("same_text").get<bool>();
  const double emitted = figure_of(row, "emitted_tokens");
  cell.emitted += emitted;
  cell.decoded += emitted - figure_of(row, "prefill_tokens");
  cell.forwards += figure_of(row, "target_forwards");
  cell.steps += figure_of(row, "steps") - 1;
  cell.accepted += figure_of(row, "accepted_drafts");
  cell.prefill_ms += figure_of(row, "prefill_ms");
  cell.decode_ms += figure_of(row, "decode_ms");
  cell.draft_ms += figure_of(row, "draft_ms");
  cell.forward_ms += figure_of(row, "forward_ms");
  cell.accept_ms += figure_of(row, "accept_ms");
  cell.commit_ms += figure_of(row, "commit_ms");
  cell.observe_ms += figure_of(row, "observe_ms");
  cell.plain_emitted += figure_of(plain, "emitted_tokens");
  cell.plain_decoded += figure_of(plain, "emitted_tokens") - figure_of(plain, "prefill_tokens");
  cell.plain_decode_ms += figure_of(plain, "decode_ms");
  cell.plain_prefill_ms += figure_of(plain, "prefill_ms");
  cell.kv_bytes += figure_of(row, "kv_peak_held_tokens") * figure_of(row, "kv_bytes_per_token");
  cell.draft_kv_bytes +=
      figure_of(row, "draft_kv_peak_tokens") * figure_of(row, "draft_kv_bytes_per_token");
  const json& histogram = row.at("accepted_histogram");
  if (cell.accepted_histogram.size() < histogram.size())
    cell.accepted_histogram.resize(histogram.size(), 0);
  for (std::size_t k = 0; k < histogram.size(); ++k)
    cell.accepted_histogram[k] += histogram[k].get<std::int64_t>();
  if (!more) return;
  cell.index_ms += more->index_ms;
  ++cell.indexed;
  viz::add_acceptance(cell.by_depth, more->by_depth);
  viz::add_acceptance(cell.by_rank, more->by_rank);
  viz::add_acceptance(cell.by_source, more->by_source);
}

// The settings that differ between the runs of each name: those that a sweep varies.
std::map<std::string, std::vector<std::string>> varied_settings(const std::vector<StudyRow>& rows) {
  std::map<std::string, std::map<std::string, json>> first;
  std::map<std::string, std::vector<std::string>> varied;
  for (const StudyRow& row : rows) {
    const std::string name = row.at("name");
    if (!is_spec_sweep(name) || !row.at("settings").is_object()) continue;
    for (const auto& [setting, value] : row.at("settings").items()) {
      const auto [found, is_new] = first[name].emplace(setting, value);
      std::vector<std::string>& list = varied[name];
      if (!is_new && found->second != value &&
          std::find(list.begin(), list.end(), setting) == list.end())
        list.push_back(setting);
    }
  }
  return varied;
}

// Cells in the order in which they are asked for.
class Cells {
 public:
  SpecCell& at(const std::string& method, const std::string& task, const json& settings) {
    const auto [found, is_new] =
        place_.emplace(method + "\n" + task + "\n" + dump_json(settings), cells_.size());
    if (is_new) {
      cells_.emplace_back();
      cells_.back().method = method;
      cells_.back().task = task;
      cells_.back().settings = settings;
    }
    return cells_[found->second];
  }
  std::vector<SpecCell> take() { return std::move(cells_); }

 private:
  std::vector<SpecCell> cells_;
  std::map<std::string, std::size_t> place_;
};

}  // namespace

std::vector<SpecCell> spec_cells(const std::string& folder, const std::vector<StudyRow>& runs) {
  const std::vector<StudyRow> rows = folded_rows(runs, "greedy");
  std::map<std::string, const StudyRow*> plain;  // by prompt
  std::vector<std::string> tasks, names;
  for (const StudyRow& row : rows) {
    if (row.at("name") == "greedy") plain.emplace(prompt_of(row), &row);
    place_of(tasks, row.at("category"));
    place_of(names, row.at("name"));
  }
  const auto varied = varied_settings(rows);
  Cells cells;
  for (const std::string& name : names)  // a method's tasks together, all of them last
    if (!is_spec_sweep(name)) {
      for (const std::string& task : tasks) cells.at(name, task, json::object());
      if (tasks.size() > 1) cells.at(name, kAllTasks, json::object());
    }
  for (const StudyRow& row : rows) {
    const auto beside = plain.find(prompt_of(row));
    if (beside == plain.end()) continue;
    const std::string name = row.at("name");
    std::optional<OfCapture> more;
    if (!is_spec_sweep(name) && has_tree(row))
      more = of_capture(capture_path(folder, row.at("capture")));
    const OfCapture* const found = more ? &*more : nullptr;
    json settings = json::object();
    if (const auto list = varied.find(name); list != varied.end())
      for (const std::string& setting : list->second)
        settings[setting] = row.at("settings").at(setting);
    if (is_spec_sweep(name)) {
      add_row(cells.at(name, kAllTasks, settings), row, *beside->second, found);
      continue;
    }
    add_row(cells.at(name, row.at("category"), settings), row, *beside->second, found);
    if (tasks.size() > 1) add_row(cells.at(name, kAllTasks, settings), row, *beside->second, found);
  }
  std::vector<SpecCell> all = cells.take();
  std::erase_if(all, [](const SpecCell& cell) { return cell.prompts == 0; });
  return all;
}

}  // namespace triescope::app

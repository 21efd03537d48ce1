#include "app/study/study_acceptance.h"

#include <algorithm>

#include "app/study/study_variants.h"
#include "core/capture/capture.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/text/csv_columns.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

WorstRun as_worst(const StudyRow& row, const viz::AcceptanceGroup& group) {
  WorstRun worst = {.capture = row.at("capture"),
                    .category = row.at("category"),
                    .prompt = row.at("prompt"),
                    .n = group.n,
                    .accepted = group.accepted};
  for (const viz::AcceptanceCase& one : group.cases)
    if (!one.accepted) {
      worst.step = one.step;
      break;
    }
  return worst;
}

// A smaller share is worse, of causes a larger one; of equal ones the one with more cases.
bool is_worse(const WorstRun& a, const WorstRun& b, viz::AcceptanceBy by) {
  const auto left = a.accepted * b.n, right = b.accepted * a.n;
  if (left != right) return viz::is_of_causes(by) ? left > right : left < right;
  return a.n > b.n;
}

// Calls see(variant's name, row, capture) for every run that is meant and whose capture has its
// tree; repeats of a run are the same drafts again.
template <class See>
void each_drafting_run(const std::string& folder, const std::vector<StudyRow>& runs,
                       const StudyFilter& filter, const See& see, std::stop_token stop = {}) {
  const StudySelection meant(runs, filter);
  const StudyVariants variants(meant.rows);
  for (const StudyRow& row : runs) {
    if (stop.stop_requested()) return;
    if (!has_tree(row) || row.at("repeat") != 1 || !meant.has(row)) continue;
    const auto capture = capture::Capture::open(capture_path(folder, row.at("capture")));
    see(variants.of(row), row, *capture);
  }
}

}  // namespace

std::vector<MethodAcceptance> study_acceptance(const std::string& folder,
                                               const std::vector<StudyRow>& runs,
                                               viz::AcceptanceBy by, const StudyFilter& filter,
                                               std::stop_token stop) {
  std::vector<MethodAcceptance> methods;
  std::vector<std::vector<WorstRun>> found;  // by method: of every run and group
  std::vector<std::vector<std::string>> labels;
  each_drafting_run(
      folder, runs, filter,
      [&](const std::string& name, const StudyRow& row, const capture::Capture& capture) {
        auto method = std::find_if(methods.begin(), methods.end(),
                                   [&](const MethodAcceptance& one) { return one.name == name; });
        if (method == methods.end()) {
          method = methods.insert(methods.end(),
                                  {.name = name, .runs = 0, .acceptance = {}, .behind = {}});
          found.emplace_back();
          labels.emplace_back();
        }
        const auto place = static_cast<std::size_t>(method - methods.begin());
        const viz::Acceptance of_run = viz::acceptance_by(capture, by, capture.end_tick());
        ++method->runs;
        viz::add_acceptance(method->acceptance, of_run);
        for (const viz::AcceptanceGroup& group : of_run.groups) {
          found[place].push_back(as_worst(row, group));
          labels[place].push_back(group.label);
        }
      },
      stop);
  for (std::size_t m = 0; m < methods.size(); ++m)
    for (const viz::AcceptanceGroup& group : methods[m].acceptance.groups) {
      std::vector<WorstRun>& behind = methods[m].behind.emplace_back();
      for (std::size_t i = 0; i < found[m].size(); ++i)
        if (labels[m][i] == group.label) behind.push_back(found[m][i]);
      std::stable_sort(behind.begin(), behind.end(),
                       [&](const WorstRun& a, const WorstRun& b) { return is_worse(a, b, by); });
    }
  return methods;
}

std::string study_failures_csv(const std::string& folder, const std::vector<StudyRow>& runs,
                               viz::AcceptanceBy by, const StudyFilter& filter) {
  std::string text;
  each_drafting_run(
      folder, runs, filter,
      [&](const std::string& name, const StudyRow& row, const capture::Capture& capture) {
        text += viz::with_columns(
            "name,capture",
            viz::csv_field(name) + "," + viz::csv_field(row.at("capture").get<std::string>()),
            viz::failures_csv(capture, viz::draft_failures(capture, by, capture.end_tick())),
            text.empty());
      });
  return text;
}

std::vector<MethodTreeYield> study_tree_yields(const std::string& folder,
                                               const std::vector<StudyRow>& runs,
                                               const StudyFilter& filter) {
  std::vector<MethodTreeYield> methods;
  each_drafting_run(
      folder, runs, filter,
      [&](const std::string& name, const StudyRow&, const capture::Capture& capture) {
        auto method = std::find_if(methods.begin(), methods.end(),
                                   [&](const MethodTreeYield& one) { return one.name == name; });
        if (method == methods.end())
          method = methods.insert(methods.end(), {.name = name, .runs = 0, .yield = {}});
        ++method->runs;
        viz::add_tree_yield(method->yield, viz::tree_yield(capture, capture.end_tick()));
      });
  return methods;
}

}  // namespace triescope::app

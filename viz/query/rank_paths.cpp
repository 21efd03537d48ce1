#include "viz/query/rank_paths.h"

#include <algorithm>

namespace triescope::viz {
namespace {

std::string joined(const RankPath& path, char between, int first) {
  std::string text;
  for (const int rank : path) {
    if (!text.empty()) text += between;
    text += std::to_string(rank + first);
  }
  return text;
}

}  // namespace

std::map<std::int32_t, RankPath> rank_paths(const capture::Capture& capture,
                                            const std::vector<StepDraft>& drafts) {
  // By level and parent, so that a parent's path is there before it is needed.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const StepDraft*>> siblings;
  for (const StepDraft& draft : drafts)
    siblings[{draft.level, capture.nodes()[static_cast<std::size_t>(draft.node)].parent}].push_back(
        &draft);
  std::map<std::int32_t, RankPath> paths;
  for (auto& [place, below] : siblings) {
    std::stable_sort(below.begin(), below.end(),
                     [](const StepDraft* a, const StepDraft* b) { return is_likelier(*a, *b); });
    const auto above = paths.find(place.second);
    for (std::size_t i = 0; i < below.size(); ++i) {
      RankPath path = above == paths.end() ? RankPath{} : above->second;
      path.push_back(static_cast<int>(i));
      paths[below[i]->node] = std::move(path);
    }
  }
  return paths;
}

std::string rank_text(const RankPath& path) { return joined(path, '.', 1); }
std::string tree_text(const RankPath& path) { return joined(path, ',', 0); }

bool stands_before(const RankPath& a, const RankPath& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace triescope::viz

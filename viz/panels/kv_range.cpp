#include "viz/panels/kv_range.h"

#include <algorithm>

namespace triescope::viz {

using capture::SlotAction;

void KvRange::update(const RowSource& source, const Scene& scene) {
  const capture::Capture& capture = *scene.capture;
  const std::int64_t events = capture.counts().slots;
  if (&capture == capture_ && source == source_ && events == events_ && scene.range == range_)
    return;
  capture_ = &capture;
  source_ = source;
  events_ = events;
  range_ = scene.range;
  written_ = reused_ = moved_ = died_ = freed_ = 0;
  most_held_ = -1;
  writes_.clear();
  if (!range_) return;
  for (std::int32_t step = range_->first; step <= std::min(range_->second, capture.last_step());
       ++step)
    for (const capture::SlotRow& row : source.slot_events(capture, step)) {
      const bool taken = row.action == SlotAction::kAlloc || row.action == SlotAction::kReuse;
      written_ += taken;
      reused_ += row.action == SlotAction::kReuse;
      moved_ += row.action == SlotAction::kMove;
      died_ += row.action == SlotAction::kGarbage;
      freed_ += row.action == SlotAction::kFree;
      if ((!taken && row.action != SlotAction::kMove) || row.slot < 0) continue;
      const auto slot = static_cast<std::size_t>(row.slot);
      if (slot >= writes_.size()) writes_.resize(slot + 1, 0);
      ++writes_[slot];
    }
  for (const capture::MemoryRow& row : source.memory(capture))
    if (scene.in_range(row.step)) most_held_ = std::max(most_held_, row.live + row.garbage);
}

std::string KvRange::steps() const {
  if (!range_) return "";
  return range_->first == range_->second
             ? "step " + std::to_string(range_->first)
             : "steps " + std::to_string(range_->first) + "–" + std::to_string(range_->second);
}

std::string KvRange::text(Canvas& canvas, const TextStyle& style, float width) const {
  if (!range_) return "";
  std::vector<std::string> figures = {
      std::to_string(written_) + " written" +
      (reused_ > 0 ? " (" + std::to_string(reused_) + " reused)" : "")};
  if (moved_ > 0) figures.push_back(std::to_string(moved_) + " moved");
  if (freed_ > 0) figures.push_back(std::to_string(freed_) + " freed");
  if (died_ > 0) figures.push_back(std::to_string(died_) + " became garbage");
  if (most_held_ >= 0) figures.push_back("at most " + std::to_string(most_held_) + " held");
  std::string line = steps() + ": ";
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string longer = line + (i > 0 ? " · " : "") + figures[i];
    if (i > 0 && canvas.measure(longer, style).x > width) break;
    line = longer;
  }
  return line;
}

}  // namespace triescope::viz

#include "viz/handout/shared_list.h"

namespace triescope::viz {

std::size_t SharedList::number_of(const std::string& thing) {
  const auto [at, fresh] = index_.try_emplace(thing, things_.size());
  if (fresh) things_.push_back(&at->first);
  return at->second;
}

std::string SharedList::stretches(std::span<const std::string> things) {
  std::string out = "[";
  std::size_t begin = 0, count = 0, behind = 0;  // the current stretch; where the last one ended
  const auto flush = [&] {
    if (count == 0) return;
    const auto distance = static_cast<long long>(begin) - static_cast<long long>(behind);
    out += (out.size() > 1 ? "," : "") + std::to_string(distance) + "," + std::to_string(count);
    behind = begin + count;
  };
  for (const std::string& thing : things) {
    const std::size_t number = number_of(thing);
    if (count > 0 && number == begin + count) {
      ++count;
      continue;
    }
    flush();
    begin = number;
    count = 1;
  }
  flush();
  return out + "]";
}

std::string SharedList::json() const {
  std::string out = "[";
  for (const std::string* thing : things_) out += (out.size() > 1 ? "," : "") + *thing;
  return out + "]";
}

}  // namespace triescope::viz

#include "app/window/workspace/messages.h"

#include <algorithm>

#include "app/window/workspace/window_words.h"

namespace triescope::app {

namespace {
constexpr std::size_t kMaxMessages = 500;
}  // namespace

void Messages::say(LogLevel level, const std::string& said, std::uint64_t about) {
  const std::string text = in_window_words(said);
  all.push_back({all.empty() ? 1 : all.back().serial + 1, level, text, about});
  if (all.size() > kMaxMessages) all.erase(all.begin());
  if (level == LogLevel::kError) problems.push_back(text);
}

void Messages::failed(Action action, const std::string& why, std::uint64_t about) {
  say(LogLevel::kError, why, about);
  failures_.emplace_back(action, all.back().text);
}

void Messages::succeeded(Action action) {
  for (const auto& [of, text] : failures_)
    if (of == action)
      if (const auto found = std::ranges::find(problems, text); found != problems.end())
        problems.erase(found);
  std::erase_if(failures_, [&](const auto& failure) { return failure.first == action; });
}

std::string Messages::newest(std::uint64_t shown) const {
  for (auto message = all.rbegin(); message != all.rend() && message->serial > before_run_;
       ++message)
    if (message->document == 0 || message->document == shown) return message->text;
  return "";
}

void Messages::begin_run() {
  problems.clear();
  failures_.clear();
  before_run_ = all.empty() ? 0 : all.back().serial;
}

}  // namespace triescope::app

#include "app/remote/status_diff.h"

#include <utility>

#include "app/remote/served_answers.h"

namespace triescope::app {

Told StatusDiff::next(const LiveStatus& status, std::uint64_t commands_sent, std::uint64_t taken) {
  Told told{.status = status, .commands_sent = commands_sent, .taken = taken};
  std::erase_if(told.status.notices, [&](const Notice& one) { return one.serial <= notice_; });
  if (!told.status.notices.empty()) notice_ = told.status.notices.back().serial;
  nlohmann::json model = json_of(told.status.model);
  told.same_model =
      !std::exchange(first_, false) && model == model_ && status.tokenizer == tokenizer_;
  if (told.same_model)
    told.status.model.reset();
  else if (status.tokenizer && !watch_)
    told.tokenizer = facts_of(*status.tokenizer);
  model_ = std::move(model);
  tokenizer_ = status.tokenizer;
  return told;
}

}  // namespace triescope::app

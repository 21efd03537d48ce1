#include "app/remote/client_backlog.h"

#include <utility>

#include "app/remote/served_answers.h"

namespace triescope::app {
namespace {

constexpr std::size_t kRowsPieceBytes = 256 << 10;  // what waits in memory

}  // namespace

void RowPump::send_all(const std::vector<ServedRun>& runs,
                       const std::function<void(const std::string&)>& send) {
  if (runs.empty()) return;
  // A client of an earlier life of this session, or one that begins.
  if (run_ == 0 || run_ > runs.size()) {
    run_ = runs.size();
    marks_.clear();
  }
  while (true) {
    const ServedRun& now = runs[run_ - 1];
    if (!feed_) {
      send(bytes_of(Told{.kind = ToldKind::kRun,
                         .run = run_,
                         .asked_by = now.asked_by,
                         .asked_serial = now.asked_serial}));
      feed_.emplace(now.path, std::exchange(marks_, {}));
    }
    while (auto piece = feed_->next(kRowsPieceBytes))
      send(bytes_of(RunRows{run_, std::move(*piece)}));
    if (run_ == runs.size()) return;
    ++run_;
    feed_.reset();
  }
}

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

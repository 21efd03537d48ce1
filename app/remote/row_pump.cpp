#include "app/remote/row_pump.h"

#include <utility>

namespace triescope::app {
namespace {

constexpr std::size_t kPieceBytes = 256 << 10;  // what waits in memory

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
    while (auto piece = feed_->next(kPieceBytes)) send(bytes_of(RunRows{run_, std::move(*piece)}));
    if (run_ == runs.size()) return;
    ++run_;
    feed_.reset();
  }
}

}  // namespace triescope::app

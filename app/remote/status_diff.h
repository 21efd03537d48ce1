// StatusDiff: what one client lacks of a host's status: new notices, a model that changed.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/remote/messages.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

class StatusDiff {
 public:
  // The client has the notices up to this one. A watcher gets no tokenizer: it may not ask it.
  StatusDiff(std::uint64_t notice, bool watch) : notice_(notice), watch_(watch) {}

  Told next(const LiveStatus& status, std::uint64_t commands_sent, std::uint64_t taken);

 private:
  std::uint64_t notice_;
  const bool watch_;
  bool first_ = true;
  nlohmann::json model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace triescope::app

// Later: a value that is computed on a thread of its own, so that no frame waits for it. The window
// thread owns it. The destructor asks the computation to stop and waits for it.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace triescope::app {

template <class Value>
class Later {
 public:
  // `wake` is called from the thread when it ends; empty = nobody is told.
  explicit Later(std::function<Value(std::stop_token)> make, std::function<void()> wake = {})
      : thread_([this, make = std::move(make), wake = std::move(wake)](std::stop_token stop) {
          try {
            value_ = make(stop);
          } catch (const std::exception& error) {
            error_ = error.what();
          }
          done_ = true;
          if (wake) wake();
        }) {}

  bool done() const { return done_; }
  // REQUIRES: done().
  const Value& value() const { return value_; }
  const std::string& error() const { return error_; }  // "" = none

 private:
  std::atomic<bool> done_{false};
  Value value_{};  // both written before done_ is
  std::string error_;
  std::jthread thread_;  // declared last: it uses the members above
};

}  // namespace triescope::app

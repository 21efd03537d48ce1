// DoctorWatch: what the doctor says of a capture, beside whoever draws it. A small capture is checked at once; a
// large one by a thread of its own, which reads the file itself, so nobody waits for it. A run that grows is
// checked again now and then, and what was found stays until then. Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/doctor/doctor.h"

namespace triescope::doctor {

class DoctorWatch {
 public:
  // Captures with fewer rows are checked at once.
  explicit DoctorWatch(std::int64_t rows_at_once = 20'000);
  ~DoctorWatch();
  DoctorWatch(DoctorWatch&&) noexcept;
  DoctorWatch& operator=(DoctorWatch&&) noexcept;

  struct Opinion {
    Diagnosis diagnosis;
    std::int32_t last_step = -1;  // up to which it was checked; -1 = nothing is known yet
    bool is_current = false;      // about all that the capture holds
    bool is_working = false;      // a thread checks it, or what was added to it
    double done = 0;              // of that work, 0 to 1
    std::string problem = {};     // why it cannot be checked; "" = it can
  };

  // The opinion so far. Does not wait.
  const Opinion& look(const capture::Capture& capture);
  // About all that the capture holds. Checks it here if need be.
  const Opinion& complete(const capture::Capture& capture);

 private:
  using Clock = std::chrono::steady_clock;
  struct Key {
    std::string path = {};
    const capture::Capture* capture = nullptr;
    std::int32_t last_step = -1;
    std::int64_t phases = 0, nodes = 0;
    capture::RunStatus status = capture::RunStatus::kRunning;
    bool operator==(const Key&) const = default;
  };
  struct Job;  // watch.cpp

  static Key key_of(const capture::Capture& capture);
  void check_here(const capture::Capture& capture);
  void take_result();
  void give_up();

  std::int64_t rows_at_once_;
  Key about_;
  Opinion opinion_;
  Clock::time_point made_;
  Clock::duration took_{};
  std::unique_ptr<Job> job_;                 // null: nothing is being checked
  std::vector<std::unique_ptr<Job>> ended_;  // given up, and not yet over: nobody waits for them
};

}  // namespace triescope::doctor

#include "app/window/workspace/experiment_task.h"

#include <exception>
#include <utility>

namespace triescope::app {

ExperimentTask::ExperimentTask(lessons::ExperimentSetup setup, std::function<void()> wake)
    : setup_(std::move(setup)), wake_(std::move(wake)), thread_([this](std::stop_token stop) {
        try {
          result_ = run_experiment(setup_, stop);
        } catch (const std::exception& error) {
          error_ = error.what();
        }
        done_ = true;
        wake_();
      }) {}

}  // namespace triescope::app

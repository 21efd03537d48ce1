#include "core/model/weight_loading.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace triescope {

void load_weights(const formats::WeightSource& source, int threads, const ProgressSink& progress,
                  std::stop_token stop, const std::function<void(const WeightTask&)>& place) {
  std::vector<WeightTask> tasks;
  double total = 0;
  for (const formats::Part& part : formats::parts_of(source.config())) {
    const formats::WeightShape shape = source.shape(part).value();
    tasks.push_back({part, shape});
    total += static_cast<double>(shape.rows * shape.cols);
  }
  // The order is layer by layer, but the vocabulary's matrices come first: at the end they would
  // keep one thread busy while the others wait.
  std::stable_sort(tasks.begin(), tasks.end(), [](const WeightTask& a, const WeightTask& b) {
    const bool a_layer = formats::is_of_layer(a.part.role);
    const bool b_layer = formats::is_of_layer(b.part.role);
    return a_layer != b_layer ? b_layer : a.part.layer < b.part.layer;
  });

  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  double done = 0;
  std::exception_ptr error;
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next++;
      if (i >= tasks.size()) return;
      try {
        if (stop.stop_requested())
          throw Error(ErrorCode::kCancelled, "loading the model was cancelled");
        place(tasks[i]);
        const std::lock_guard lock(mutex);
        done += static_cast<double>(tasks[i].shape.rows * tasks[i].shape.cols);
        if (progress) progress(formats::locate(source.config(), tasks[i].part).tensor, done, total);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = tasks.size();
        return;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
    work();
  }
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory,
                "no memory for the weights: " + std::to_string(static_cast<std::int64_t>(total)) +
                    " values; choose a smaller model or dtype bf16");
  }
  source.check_unchanged();
}

}  // namespace triescope

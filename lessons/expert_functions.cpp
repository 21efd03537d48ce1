#include "lessons/expert_functions.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/capture/expert_use.h"

namespace triescope::lessons {
namespace {

// The choice of experts of a node's row in a layer, in the newest forward that it went through.
const capture::ExpertRow& expert_row(const Arguments& a) {
  const std::int32_t node = a.node_number(0), layer = a.whole(1, "the number of a layer");
  const std::int32_t from = capture::step_of(a.row(node).tick);
  for (std::int32_t step = a.capture.last_step(); step >= from; --step)
    for (const capture::ExpertRow& row : a.capture.experts(step))
      if (row.node == node && row.layer == layer) return row;
  refuse_argument("the run recorded no experts of node " + std::to_string(node) + " in layer " +
                  std::to_string(layer));
}

// The place of the expert that counts for the I-th most.
std::size_t expert_place(const Arguments& a, const capture::ExpertRow& row) {
  const std::int32_t rank = a.whole(2, "the number of an expert of the row");
  if (rank < 1 || rank > std::ssize(row.weights))
    refuse_argument("the row's experts have weights 1 to " + std::to_string(row.weights.size()) +
                    " in this capture; found number " + std::to_string(rank));
  std::vector<std::size_t> places(row.weights.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, std::greater{}, [&](std::size_t i) { return row.weights[i]; });
  return places[static_cast<std::size_t>(rank - 1)];
}

// How many experts the model has, and how many a row goes through. The capture's numbers may be anything.
capture::MixtureSize experts_of_model(const Arguments& a) {
  const auto count = [&](const char* field) {
    return static_cast<std::int32_t>(
        std::clamp(std::get<double>(model_number(a, field)), 0.0, 1e9));
  };
  return {.experts = count("experts"), .used = count("experts_used")};
}

// The bytes of weights that the step's forward read; `bytes` says for which of its rows.
Value weight_bytes(const Arguments& a,
                   double (*bytes)(const capture::ExpertStep&, const capture::MixtureSize&)) {
  const capture::ExpertStep step = capture::expert_step(a.capture.experts(a.step(0)), a.step(0));
  if (step.layers == 0)
    refuse_argument("the run recorded no experts in step " + std::to_string(step.step));
  capture::MixtureSize size = experts_of_model(a);
  size.row_bytes = std::get<double>(model_number(a, "active_bytes"));
  size.expert_bytes = std::get<double>(model_number(a, "expert_bytes"));
  return bytes(step, size);
}

}  // namespace

Value expert(const Arguments& a) {
  const capture::ExpertRow& row = expert_row(a);
  return number(row.experts[expert_place(a, row)]);
}

Value expert_weight(const Arguments& a) {
  const capture::ExpertRow& row = expert_row(a);
  return static_cast<double>(row.weights[expert_place(a, row)]);
}

Value experts_of_rows(const Arguments& a) {
  const std::int32_t rows = a.whole(0, "a number of rows");
  if (rows < 0) refuse_argument("expected a number of rows from 0; found " + std::to_string(rows));
  return capture::experts_by_chance(experts_of_model(a), rows);
}

Value weights_read(const Arguments& a) { return weight_bytes(a, capture::bytes_read); }

Value weights_alone(const Arguments& a) { return weight_bytes(a, capture::bytes_alone); }

}  // namespace triescope::lessons

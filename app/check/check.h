// `triescope check`: what this machine has, whether every kernel computes what its reference does,
// whether a tiny model's logits are the reference's on the CPU and on the requested device, and how
// fast a given model is. A bug report should include it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/log.h"

namespace triescope::app {

// One comparison. `difference` is the largest difference from the reference over the reference's
// largest number (for a given model's logits: not divided). The comparison holds if that is at most
// `allowed` (0: equal bits).
struct CheckComparison {
  std::string where;  // "AVX-512", "cpu, f32", "cuda:0, bf16"
  std::string what;   // "linear, Q4_K, 5 rows"
  double difference = 0, allowed = 0;
  std::string error;  // why the comparison could not be made; it then does not hold
  bool holds() const { return error.empty() && difference <= allowed; }
};

// Every kernel against libtorch in fp64, in every instruction set that this processor has.
std::vector<CheckComparison> check_kernels(int threads);

// Every kernel of the CUDA module against its CPU twin, in f32, f16 and bf16, on a GPU counted
// from 0. None if there is an obstacle: the reason why they cannot be compared here, "" = they can.
// A GPU that cannot be used is one comparison, with an error.
std::vector<CheckComparison> check_cuda_kernels(int gpu);
std::string cuda_kernels_obstacle();

// A Llama of two layers with invented weights, written into the system's temporary folder: compares
// the logits of a prompt and of a step over four rows, on the CPU and on `device`, with libtorch's
// plain operations on the CPU in fp32; and checks on the CPU that a row's bits do not depend on the
// other rows. What cannot be loaded or run is a comparison with an error. Error{kIoError}: the
// folder.
std::vector<CheckComparison> check_tiny_model(const std::string& device, int threads);

struct CheckOptions {
  std::string device;  // "": the first GPU that answers, else "cpu"
  std::string model;   // path or short name; "": no model is timed
  int threads = 0;     // 0 = all cores
};

struct CheckReport {
  nlohmann::ordered_json machine;  // names, versions, limits; docs/cli.md has the keys
  std::vector<CheckComparison> comparisons;
  nlohmann::ordered_json model;      // for CheckOptions::model; null without one
  std::vector<std::string> skipped;  // sentences: what was not compared, and why
  std::vector<std::string> advice;   // sentences: what would make this machine better
  bool holds() const;                // whether every comparison holds
  std::string verdict() const;       // a sentence or two
};

// Takes about half a minute without a model. Errors: those of check_tiny_model, resolve_model,
// load_model and load_tokenizer for options.model; kInvalidArgument, kCuda: no such device.
CheckReport check_machine(const CheckOptions& options, const ProgressSink& progress);

}  // namespace triescope::app

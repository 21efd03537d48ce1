// What a drafter proposed for the next token, at every place of a text: by which two ways of using one
// draft head are told apart, whatever the shape of their trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/capture/recorder.h"
#include "core/capture/records.h"

namespace triescope::app {

// By the text behind the prompt up to where they hang: the drafts of the first level, in draw order.
using FirstDrafts = std::map<std::vector<std::int32_t>, std::vector<std::int32_t>>;

// The first drafts among a run's nodes (index = id). `counts` says whose drafts count.
FirstDrafts first_drafts(std::span<const capture::NodeRow> nodes,
                         const std::function<bool(const capture::NodeRow&)>& counts);

struct Sameness {
  std::size_t places = 0;  // of the text at which both drafted
  double share = 0;        // of the drafts there, as many of each as the shorter list has
};
Sameness sameness(const FirstDrafts& a, const FirstDrafts& b);

// Keeps the nodes of a run and nothing else.
class NodeRecorder final : public capture::Recorder {
 public:
  capture::Level level() const override { return capture::Level::kTree; }
  void write(const capture::RowTables& rows) override {
    nodes_.insert(nodes_.end(), rows.nodes.begin(), rows.nodes.end());
  }
  void flush() override {}
  std::span<const capture::NodeRow> nodes() const { return nodes_; }

 private:
  std::vector<capture::NodeRow> nodes_;
};

}  // namespace triescope::app

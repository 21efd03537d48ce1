// Story: a narration under construction. Each phase's story says sentences by name with their
// values, and reads the capture through it at one cursor. Not thread-safe.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "viz/narration/narration.h"
#include "viz/narration/sentences.h"
#include "viz/narration/values.h"

namespace triescope::viz {

class Story {
 public:
  static constexpr std::size_t kMostSentences = 5;

  // Tells what happened before `cursor`, which is at least 1.
  Story(const capture::Capture& capture, capture::Tick cursor, const Sentences& sentences);

  const capture::Capture& capture;
  const capture::Tick cursor;
  const capture::Tick tick;  // the phase that is told
  const std::int32_t step;

  // Adds a sentence. `values` has every value that the template uses. Does nothing once there are
  // kMostSentences, so the sentences that matter come first.
  void say(std::string_view sentence, std::vector<Value> values = {});
  bool has_room() const { return told_.size() < kMostSentences; }
  bool has(std::string_view sentence) const { return sentences_.has(sentence); }
  std::size_t said() const { return told_.size(); }
  // A value that lists items. The sentence `item` ("item.beam") tells each of the first `most`,
  // then comes "and seven more". The value's number is the number of all items.
  Value list(std::string name, std::string_view item, const std::vector<std::vector<Value>>& items,
             std::size_t most = 4) const;

  // --- values that belong to the run and the cursor ---
  Value node(std::string name, std::int32_t id) const { return viz::node(capture, name, id); }
  Value slot(std::string name, std::int32_t id,
             capture::Whose whose = capture::Whose::kTarget) const {
    return ordinal(std::move(name), id, to_slot(capture, id, cursor, whose));
  }
  Value this_step(std::string name) const { return ordinal(std::move(name), step, to_step(tick)); }
  // "p = 0.413" for a node's token; "p′ = 0.413" where the number is not the model's own.
  Value probability(std::string name, float p, std::int32_t of) const;
  // "Σ log p = -9.35".
  Value sum_log_p(std::string name, double score, std::int32_t of) const;
  // A setting of the run: a number, or `otherwise` without one; a text, or "" without one.
  double setting(std::string_view name, double otherwise) const;
  std::string setting(std::string_view name) const;
  // A field of the model's description, with the same fallbacks.
  double model(std::string_view name, double otherwise) const;
  std::string model(std::string_view name) const;

  std::vector<Sentence> take() { return std::move(told_); }

 private:
  std::vector<Part> fill(std::string_view sentence, std::span<const Value> values) const;

  const Sentences& sentences_;
  std::vector<Sentence> told_;
};

// One function a phase tells its story.
void tell_draft(Story& story);    // draft_story.cpp
void tell_forward(Story& story);  // forward_story.cpp
void tell_accept(Story& story);   // accept_story.cpp
void tell_commit(Story& story);   // commit_story.cpp
void tell_observe(Story& story);  // observe_story.cpp
// These tell accept's decisions about beams, and about texts with the drafts below them.
void tell_beams(Story& story, std::span<const capture::VerdictRow> verdicts);  // beam_story.cpp
void tell_texts(Story& story, std::span<const capture::VerdictRow> verdicts);  // text_story.cpp
// These tell a decision in a sentence or two, for somebody who steps by whole steps: the cut and
// the first beam that fell out, or the refusal that ended the drafts, or why this token was chosen.
void tell_decision(Story& story);  // accept_story.cpp
void tell_beam_decision(Story& story, std::span<const capture::VerdictRow> verdicts);
void tell_text_decision(Story& story, std::span<const capture::VerdictRow> verdicts);
// Tells in one sentence why a node's verdict fell (reason_story.cpp). False: no reason was
// recorded.
bool tell_reason(Story& story, const capture::VerdictRow& row);

// The title of the run's method.
const std::string& title_of(const capture::RunInfo& run);
// The verdicts that this phase gave in the story's step.
std::vector<capture::VerdictRow> verdicts_of(const Story& story, capture::Phase phase);

}  // namespace triescope::viz

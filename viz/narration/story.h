// Story: a narration under construction. The stories of the phases say sentences by name, each with
// its values, and look at the capture through it: the same cursor for everything. Not thread-safe.
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

  // Of what happened before `cursor`, at least 1.
  Story(const capture::Capture& capture, capture::Tick cursor, const Sentences& sentences);

  const capture::Capture& capture;
  const capture::Tick cursor;
  const capture::Tick tick;  // the phase that is told
  const std::int32_t step;

  // Has a value for every name that the sentence's template uses. Once there are kMostSentences, the
  // rest is silence: what matters comes first.
  void say(std::string_view sentence, std::vector<Value> values = {});
  bool has_room() const { return told_.size() < kMostSentences; }
  bool has(std::string_view sentence) const { return sentences_.has(sentence); }
  std::size_t said() const { return told_.size(); }
  // A value that enumerates: each item is told by the sentence `item` ("item.beam"), the first
  // `most` of them, then "and seven more". Its number is that of all items.
  Value list(std::string name, std::string_view item, const std::vector<std::vector<Value>>& items,
             std::size_t most = 4) const;

  // --- values that belong to the run and the cursor ---
  Value node(std::string name, std::int32_t id) const { return viz::node(capture, name, id); }
  Value slot(std::string name, std::int32_t id,
             capture::Whose whose = capture::Whose::kTarget) const {
    return ordinal(std::move(name), id, to_slot(capture, id, cursor, whose));
  }
  Value this_step(std::string name) const { return ordinal(std::move(name), step, to_step(tick)); }
  // "p = 0.413" of a node's token; "p′ = 0.413" where the number is not the model's own.
  Value probability(std::string name, float p, std::int32_t of) const;
  // "Σ log p = -9.35".
  Value sum_log_p(std::string name, double score, std::int32_t of) const;
  // A setting of the run that is a number, or `otherwise`; that is a text, or "".
  double setting(std::string_view name, double otherwise) const;
  std::string setting(std::string_view name) const;
  // A field of the model's description, likewise.
  double model(std::string_view name, double otherwise) const;
  std::string model(std::string_view name) const;

  std::vector<Sentence> take() { return std::move(told_); }

 private:
  std::vector<Part> fill(std::string_view sentence, std::span<const Value> values) const;

  const Sentences& sentences_;
  std::vector<Sentence> told_;
};

// A phase each; the story stands behind it.
void tell_draft(Story& story);    // draft_story.cpp
void tell_forward(Story& story);  // forward_story.cpp
void tell_accept(Story& story);   // accept_story.cpp
void tell_commit(Story& story);   // commit_story.cpp
void tell_observe(Story& story);  // observe_story.cpp
// What accept decided about beams; about texts, with the drafts below them.
void tell_beams(Story& story, std::span<const capture::VerdictRow> verdicts);  // beam_story.cpp
void tell_texts(Story& story, std::span<const capture::VerdictRow> verdicts);  // text_story.cpp
// The same in a sentence or two, for whoever goes on by whole steps: the cut and the first that fell
// out; the refusal that ended the drafts, or why this token was chosen.
void tell_decision(Story& story);  // accept_story.cpp
void tell_beam_decision(Story& story, std::span<const capture::VerdictRow> verdicts);
void tell_text_decision(Story& story, std::span<const capture::VerdictRow> verdicts);
// Why a node's verdict fell, as a sentence of its own (reason_story.cpp). False: nothing was recorded.
bool tell_reason(Story& story, const capture::VerdictRow& row);

// What people call its method.
const std::string& title_of(const capture::RunInfo& run);
// The verdicts that this phase of the story's step gave.
std::vector<capture::VerdictRow> verdicts_of(const Story& story, capture::Phase phase);

}  // namespace triescope::viz

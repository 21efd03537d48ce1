#include "app/window/lessons/presenter_words.h"

#include <algorithm>
#include <cstdio>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::app {

PresenterWords presenter_words(const Document& document) try {
  const capture::Capture& capture = *document.capture;
  const viz::Sentences& sentences = viz::Sentences::standard();
  const viz::Narration now = viz::narrate(capture, document.cursor, sentences);
  PresenterWords words;
  words.now_heading = viz::heading_of(now);
  words.place = "of " + counted(std::max(0, capture.last_step()), "step");
  for (const viz::Sentence& one : now.sentences) words.now.push_back(viz::sentence_text(one));
  if (document.cursor < capture.end_tick()) {
    const viz::Narration next = viz::narrate(capture, document.cursor + 1, sentences);
    words.next_heading = "Next: " + viz::heading_of(next);
    if (!next.sentences.empty()) words.next = viz::sentence_text(next.sentences.front());
  } else if (capture.status() == capture::RunStatus::kRunning) {
    words.next_heading = std::string("Next: the model computes ") +
                         capture::to_string(capture::phase_of(document.cursor)) + " of step " +
                         std::to_string(capture::step_of(document.cursor));
  } else {
    words.next_heading = "The run ends here.";
  }
  return words;
} catch (const Error& error) {
  // The user's own sentences have a mistake.
  return {.now_heading = error.what(), .place = {}, .now = {}, .next_heading = {}, .next = {}};
}

nlohmann::json to_json(const PresenterWords& words) {
  return {{"heading", words.now_heading},
          {"place", words.place},
          {"sentences", words.now},
          {"next", words.next_heading},
          {"next_sentence", words.next}};
}

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<long long>(std::max(0.0, seconds));
  char text[64];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

}  // namespace triescope::app

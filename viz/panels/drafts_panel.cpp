// Drafts: the lists that a step's drafts come from, and what each head or level proposed, likeliest first, beside the
// token that came and what was withdrawn before the forward. The history below has the same over the text, by
// position and level.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/draft_rows.h"
#include "viz/panels/drafts_title.h"
#include "viz/panels/level_chart.h"
#include "viz/panels/level_history.h"
#include "viz/panels/panels.h"
#include "viz/panels/token_list_rows.h"
#include "viz/panels/verdict_history.h"
#include "viz/query/leaves.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kDraftsTopEm = 1.7f, kLeastHistoryEm = 5.6f;
// Two charts get the room that a tall pane has left between the drafts and the history.
constexpr float kLeastChartsEm = 11, kMostChartsEm = 22;
constexpr float kChartsShare = 0.7f;  // of what is left; the drafts have the rest
constexpr float kBothChartsEm = 44;   // the width from which there are two

struct Shown {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = -1;
  std::int64_t verdicts = -1;
  DraftLevels drafts = {};
  std::vector<TokenList> sources = {};
};

// The heights below a step's drafts, in px; 0 = left out.
struct Lower {
  float charts = 0, history = 0;
};

// `most`: levels of the step that has most; `sources_em`: the height of the run's tallest lists; `wanted`: px in which
// all of the history stands.
Lower lower_part(float height, float em, std::size_t most, float sources_em, float wanted) {
  const float left = height - em * (kDraftsTopEm + sources_em + DraftRows::height_em(most));
  // Half of a pane is the history's at least; where lists of tokens stand above the drafts, a few rows of a tall one.
  const float least = sources_em == 0    ? std::max(em * kLeastHistoryEm, height * 0.5f)
                      : height > em * 22 ? em * kLeastHistoryEm
                                         : 0;
  float history = height > em * 11 || left >= wanted ? std::min(wanted, std::max(least, left)) : 0;
  if (history < std::min(wanted, em * kLeastHistoryEm)) history = 0;
  const float rest = left - history;
  if (history < wanted || rest < em * kLeastChartsEm) return {0, history};
  return {std::clamp(rest * kChartsShare, em * kLeastChartsEm, em * kMostChartsEm), history};
}

class DraftsPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "drafts",
        "Drafts",
        "What each level of this step's drafts proposed, likeliest first, and which token came. A "
        "level is one head of several or one round of drafting; "
        "withdrawn drafts never reached the target; ▲ and △ mark rows that are not as the tree "
        "asks. Above: what the drafts come from, where a recorder tells it: a line of a datastore "
        "with the match lit, a window, a pool. Below: for each position of the text the place "
        "that each level gave its token; click a cell to go to that step.",
        "Find a level whose first guess seldom came, and look in the trie at what it guessed instead.",
        "No drafts in this step: methods that draft show here what they proposed.",
        /*rows=*/{"node"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    rows_.clear();
    sources_.clear();
    history_.clear();
    counts_.clear();
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const DraftLevels& drafts = shown_at(scene);
    const float em = scene.em, pad = em * 0.6f;
    const float wanted = em * history_.height_em(scene);
    if (drafts.levels.empty() && wanted == 0 && shown_.sources.empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    const TextStyle bold = bold_text(scene, 0.9f);
    const float room = area.h - em * (kDraftsTopEm + DraftRows::height_em(1) - 0.4f);
    const auto lines =
        drafts_title(canvas, drafts, area.w - 2 * pad, 1 + room / (em * kDraftsTitleEm), scene);
    const float head = em * (kDraftsTopEm + kDraftsTitleEm * static_cast<float>(lines.size() - 1));
    const Largest most = largest(scene, shown_);
    const Lower lower = lower_part(area.h, em, most.levels, most.sources_em, wanted);
    const float history = lower.history, charts = lower.charts;
    // The sources of the drafts have room where a few levels have it too.
    const std::vector<TokenList>& sources = shown_.sources;
    const float least = em * DraftRows::height_em(std::min<std::size_t>(drafts.levels.size(), 3));
    const float sources_height = std::clamp(area.h - history - charts - head - least, 0.0f,
                                            em * TokenListRows::height_em(sources));
    sources_.draw(canvas, {area.x + pad, area.y + head, area.w - 2 * pad, sources_height}, sources,
                  scene);
    const float top = head + sources_height;
    for (std::size_t i = 0; i < lines.size(); ++i)
      text_in(canvas,
              {area.x + pad, area.y + em * (0.25f + kDraftsTitleEm * static_cast<float>(i)),
               area.w - 2 * pad, em * kDraftsTitleEm},
              lines[i], bold);
    // A pane that is too low for the history says so. The note must leave room for two levels.
    const bool is_low = history == 0 && wanted > 0;
    const float few = DraftRows::height_em(std::min<std::size_t>(drafts.levels.size(), 2));
    const float note = is_low && area.h > top + em * (few + 0.9f) ? em * 1.3f : 0;
    if (note > 0)
      text_in(canvas, {area.x + pad, area.bottom() - note, area.w - 2 * pad, note},
              "guesses over the text: in a taller panel", dim_text(scene, 0.8f));
    rows_.draw(canvas,
               {area.x + pad, area.y + top, area.w - 2 * pad,
                std::max(1.0f, area.h - top - history - charts - note)},
               drafts, scene);
    if (charts > 0)
      draw_charts(
          canvas,
          {area.x + pad, area.bottom() - history - charts, area.w - 2 * pad, charts - em * 0.8f},
          scene);
    if (history > 0)
      history_.draw(canvas, {area.x + pad, area.bottom() - history, area.w - 2 * pad, history},
                    drafts.step, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || scene.shown_step() < 0 || !in.inside) return reaction;
    const DraftLevels& drafts = shown_at(scene);
    reaction.hover = -1;
    if (sources_.input(in, scene, reaction)) return reaction;
    if (rows_.input(in, drafts, scene, reaction)) return reaction;
    counts_.input(in, scene, reaction);
    history_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    std::size_t levels = 0;
    float history = 0, sources = 0;
    if (scene.capture && scene.shown_step() >= 0) {
      const Largest most = largest(scene, what_is_shown(scene));
      levels = most.levels;
      sources = most.sources_em;
      history = history_.height_em(scene);
    }
    return {scene.em * 60, scene.em * std::max(14.0f, kDraftsTopEm + sources +
                                                          DraftRows::height_em(levels) + history)};
  }

  // The table has a row for each level of every step in range.
  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,level,depth,came,text,place,guess\n";
    if (!scene.capture) return out.str();
    for (const LevelGuess& guess : history_.seen(scene)) {
      out << guess.step << ',' << guess.level << ',' << guess.depth << ',';
      if (guess.came >= 0) {
        const std::int32_t token =
            scene.capture->nodes()[static_cast<std::size_t>(guess.came)].token;
        out << token << ',' << csv_field(plain_text(scene.capture->piece(token)));
      } else {
        out << ',';
      }
      out << ',';
      if (guess.place >= 0) out << guess.place;
      out << ',' << guess_name(guess.guess) << '\n';
    }
    return out.str();
  }

 private:
  static const char* guess_name(Guess guess) {
    switch (guess) {
      case Guess::kUnknown:
        return "";
      case Guess::kCame:
        return "came";
      case Guess::kWithdrawn:
        return "withdrawn";
      case Guess::kElsewhere:
        return "elsewhere";
      case Guess::kMissed:
        return "missed";
    }
    return "";
  }

  static Shown what_is_shown(const Scene& scene) {
    const capture::Capture& capture = *scene.capture;
    return {scene.capture, scene.cursor, capture.counts().verdicts,
            draft_levels(capture, scene.shown_step(), scene.cursor, text_at(capture, scene.cursor)),
            token_lists(capture, scene.shown_step(), scene.cursor)};
  }

  // The largest steps of the run. The places of the charts and the history follow from them, so that nothing moves from
  // step to step. The step under way may be larger than all that are done. A single picture has no other step beside it.
  struct Largest {
    std::size_t levels = 0;
    float sources_em = 0;
  };
  Largest largest(const Scene& scene, const Shown& shown) const {
    Largest most{shown.drafts.levels.size(), TokenListRows::height_em(shown.sources)};
    if (scene.export_mode && !scene.series) return most;
    most.levels = std::max(most.levels, static_cast<std::size_t>(history_.levels(*scene.capture)));
    most.sources_em = std::max(most.sources_em, tallest_.height_em(*scene.capture));
    return most;
  }

  // It is made once per cursor and state of the capture.
  const DraftLevels& shown_at(const Scene& scene) {
    if (shown_.capture != scene.capture || shown_.cursor != scene.cursor ||
        shown_.verdicts != scene.capture->counts().verdicts)
      shown_ = what_is_shown(scene);
    return shown_.drafts;
  }

  // Draws which level loses, and how many drafts a step gets through.
  void draw_charts(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em;
    const bool both = area.w > em * kBothChartsEm;
    const Rect left{area.x, area.y, both ? area.w * 0.58f : area.w, area.h};
    const auto levels = reached_levels(history_.shares(scene));
    if (levels.empty())
      draw_empty_state(canvas, left, "No draft has been verified yet.", scene);
    else
      draw_level_chart(canvas, left, levels, scene);
    if (!both) return;
    const Rect right{left.right() + em * 2, area.y, area.right() - left.right() - em * 2, area.h};
    counts_.draw_histogram(canvas, right, scene);
  }

  Shown shown_;
  mutable LevelHistory history_;  // what it keeps of a capture is made once for all questions
  mutable TallestLists tallest_;  // likewise
  TokenListRows sources_;
  DraftRows rows_;
  VerdictHistory counts_;  // steps by accepted drafts
};

}  // namespace

std::unique_ptr<Panel> make_drafts_panel() { return std::make_unique<DraftsPanel>(); }

}  // namespace triescope::viz

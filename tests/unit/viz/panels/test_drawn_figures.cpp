// What the panels Text, Mask, Log, Timeline and Memory draw, read back from the picture and worked out again from a
// capture's rows alone: over kept captures and those of the lessons, at every cursor.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fixtures.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/drawn_shapes.h"
#include "tests/unit/viz/looking.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::test::test_drawn_figures {
namespace {

using namespace capture;

// Every kept run, opened; each check has it at every cursor, forward and back.
template <class Check>
void over_kept_runs(const Check& check) {
  const TempDir dir;
  std::vector<std::string> paths;
  for (const char* name : kKeptCaptures) paths.push_back(copy_of_capture(name, dir));
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "assets" / "lessons"))
    if (file.path().extension() == ".tscap") {
      const auto copy = dir.path() / ("lesson_" + file.path().filename().string());
      std::filesystem::copy_file(file.path(), copy);
      std::filesystem::permissions(copy, std::filesystem::perms::owner_write,
                                   std::filesystem::perm_options::add);
      paths.push_back(copy);
    }
  REQUIRE(paths.size() > 20);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const auto run = Capture::open(path);
    std::vector<Tick> cursors;
    for (Tick cursor = 1; cursor <= run->end_tick(); ++cursor) cursors.push_back(cursor);
    for (Tick cursor = run->end_tick(); cursor >= 1; cursor -= 7) cursors.push_back(cursor);
    check(*run, cursors);
  }
}

const NodeRow& node_of(const Capture& run, std::int32_t node) {
  return run.nodes()[static_cast<std::size_t>(node)];
}

// The node itself and what it hangs from, without the prompt; the text's order.
std::vector<std::int32_t> line_to(const Capture& run, std::int32_t node) {
  std::vector<std::int32_t> line;
  for (; node > 0; node = node_of(run, node).parent) line.push_back(node);
  std::ranges::reverse(line);
  return line;
}

std::string without_spaces(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ') out += c;
  return out;
}

// --- text ---

struct ShownText {
  std::int32_t rank = 0, node = 0;
  float score = 0;
  bool returned = false;
  std::string finish;
};

// From the sequences that the run returned, or finished last, or the frontier of the newest step that is decided.
std::vector<ShownText> texts_at(const Capture& run, Tick cursor) {
  std::vector<ShownText> texts;
  for (const SequenceRow& row : run.sequences())
    if (row.tick < cursor && row.rank >= 0 && row.node >= 0)
      texts.push_back({row.rank, row.node, row.score, true, row.finish});
  const auto sort = [&] { std::ranges::stable_sort(texts, {}, &ShownText::rank); };
  sort();
  if (!texts.empty()) return texts;
  std::int32_t decided = -1;
  for (const PhaseRow& row : run.phases())
    if (phase_of(row.tick) == Phase::kAccept && row.tick < cursor) decided = step_of(row.tick);
  std::int32_t frontier = decided;
  while (frontier >= 0 && run.frontier(frontier).empty()) --frontier;
  if (frontier < decided) {
    for (const SequenceRow& row : run.sequences())
      if (row.tick == make_tick(decided, Phase::kAccept) && row.node >= 0)
        texts.push_back({0, row.node, row.score, false, row.finish});
    std::ranges::stable_sort(texts, std::greater(), &ShownText::score);
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i].rank = static_cast<std::int32_t>(i);
    if (!texts.empty()) return texts;
  }
  if (frontier >= 0)
    for (const FrontierRow& row : run.frontier(frontier))
      texts.push_back({row.rank, row.node, row.score, false, ""});
  return texts;
}

std::string head_of(const ShownText& text, bool alone) {
  std::string head = text.returned ? "returned " : !text.finish.empty() ? "finished " : "beam ";
  head += std::to_string(text.rank + 1);
  if (alone && text.finish.empty()) head = "text";
  if (!std::isnan(text.score))
    head += (text.finish.empty() ? "   Σ log p " : "   final score ") +
            viz::logprob_text(static_cast<double>(text.score));
  if (!text.finish.empty()) head += "   " + viz::finish_text(text.finish);
  return head;
}

TEST_CASE("text: every text has its head with its score, and says the tokens of its path") {
  std::size_t scores = 0, several = 0;
  over_kept_runs([&](const Capture& run, const std::vector<Tick>& cursors) {
    const auto panel = viz::make_panel("text");
    panel->set_view_state("shared=each");
    for (const Tick cursor : cursors) {
      CAPTURE(cursor);
      viz::Scene scene = scene_at(run, cursor);
      scene.export_mode = true;  // nothing is out of sight
      const auto texts = texts_at(run, cursor);
      RecordingCanvas canvas;
      const viz::Point size = panel->extent(canvas, scene);
      canvas = drawn(*panel, scene, {0, 0, size.x, size.y});
      several += texts.size() > 1;
      std::size_t at = 0;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string head = head_of(texts[i], texts.size() == 1);
        CAPTURE(head);
        while (at < canvas.texts.size() && canvas.texts[at].text != head) ++at;
        REQUIRE(at < canvas.texts.size());
        scores += !std::isnan(texts[i].score);
        std::string said, wanted;
        const std::string next =
            i + 1 < texts.size() ? head_of(texts[i + 1], false) : std::string();
        for (std::size_t k = at + 1; k < canvas.texts.size() && canvas.texts[k].text != next; ++k)
          said += canvas.texts[k].text;
        std::string bytes;
        for (const std::int32_t node : line_to(run, texts[i].node))
          bytes += run.piece(node_of(run, node).token);
        for (const char c : viz::plain_text(bytes)) wanted += c == '\n' ? "⏎" : std::string(1, c);
        // A character of several tokens that is not whole yet has a form of its own.
        if (wanted.find("\xEF\xBF\xBD") != std::string::npos) continue;
        CHECK(without_spaces(said) == without_spaces(wanted));
      }
    }
  });
  CHECK(scores > 200);
  CHECK(several > 50);
}

// --- mask ---

enum class Cell { kHidden, kAncestor, kSelf };

// Nodes that hold KV while the forward runs, a node behind its ancestors.
std::vector<std::int32_t> columns_of(const Capture& run, Whose whose, Tick forward, Tick cursor,
                                     const std::vector<InputRow>& rows) {
  std::set<std::int32_t> held;
  for (std::int32_t slot = 0; slot < run.slot_count_at(forward + 1, whose); ++slot)
    if (const SlotView view = run.slot_at(slot, forward + 1, whose);
        view.state != SlotState::kFree && view.node > 0)
      held.insert(view.node);
  for (const InputRow& row : rows) held.insert(row.node);
  std::vector<std::int32_t> columns, stack = {0};
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    if (held.contains(node)) columns.push_back(node);
    for (auto other = run.nodes().rbegin(); other != run.nodes().rend(); ++other)
      if (other->node > 0 && other->parent == node && other->tick < cursor)
        stack.push_back(other->node);
  }
  return columns;
}

void check_mask(const Capture& run, Whose whose, viz::Panel& panel, Tick cursor,
                std::size_t& cells) {
  const std::int32_t step = step_of(cursor - 1);
  const Tick forward = make_tick(step, whose == Whose::kTarget ? Phase::kForward : Phase::kDraft);
  std::vector<InputRow> rows;
  if (forward < cursor)
    for (const InputRow& row : run.inputs(step, whose))
      if (row.node > 0) rows.push_back(row);
  if (rows.empty()) return;
  // What a recorder knows better than the tree is drawn as it was recorded: test_faults has those.
  for (const InputRow& row : rows)
    if (run.seen(row) != nullptr) return;
  const auto columns = columns_of(run, whose, forward, cursor, rows);
  const viz::Scene scene = scene_at(run, cursor);
  const auto canvas = drawn(panel, scene, {0, 0, 1100, 900});
  // A row begins with the bar of the prompt, in the colour of the grid.
  std::map<float, std::vector<DrawnRect>> lines;
  for (const DrawnRect& rect : rects_of(canvas))
    if (!same_hue(rect.color, scene.theme.background)) lines[rect.box.y].push_back(rect);
  std::erase_if(lines, [&](const auto& line) {
    return !same_hue(line.second.front().color, scene.theme.grid) ||
           line.second.front().color.a != 255;
  });
  REQUIRE(lines.size() == rows.size());
  const auto prompt = static_cast<std::int32_t>(run.run().prompt_tokens.size());
  const std::int32_t window = whose == Whose::kTarget ? run.run().sliding_window : 0;
  std::size_t i = 0;
  for (const auto& [y, line] : lines) {
    const InputRow& row = rows[i++];
    CAPTURE(row.node);
    const viz::Rect bar = line[0].box;
    std::vector<DrawnRect> drawn_cells;
    for (const DrawnRect& rect : line) {
      if (rect.box.x >= bar.right() - 0.5f)
        drawn_cells.push_back(rect);
      else if (&rect != &line[0]) {
        // The part of the prompt that the row sees.
        const float from = (rect.box.x - bar.x) / bar.w * static_cast<float>(prompt);
        const auto first = window > 0 ? std::max(0, row.position - window + 1) : 0;
        CHECK(std::abs(from - static_cast<float>(first)) <
              0.01f * static_cast<float>(prompt) + 0.01f);
        CHECK(std::abs(rect.box.right() - bar.right()) < 0.5f);
      }
    }
    REQUIRE_FALSE(drawn_cells.empty());
    const float left = drawn_cells.front().box.x, right = drawn_cells.back().box.right();
    const auto above = line_to(run, row.node);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto position = prompt + static_cast<std::int32_t>(line_to(run, columns[c]).size()) - 1;
      const Cell wanted = columns[c] == row.node ? Cell::kSelf
                          : std::ranges::count(above, columns[c]) > 0 &&
                                  (window <= 0 || row.position - position < window)
                              ? Cell::kAncestor
                              : Cell::kHidden;
      const float middle = left + (right - left) * (static_cast<float>(c) + 0.5f) /
                                      static_cast<float>(columns.size());
      std::optional<Cell> told;
      for (const DrawnRect& rect : drawn_cells)
        if (rect.box.x <= middle && middle <= rect.box.right())
          told = same_hue(rect.color, scene.theme.grid) ? Cell::kHidden
                 : rect.color.a == 255                  ? Cell::kSelf
                                                        : Cell::kAncestor;
      CAPTURE(columns[c]);
      CHECK(told == wanted);
      ++cells;
    }
  }
}

TEST_CASE("mask: every cell is drawn as the rows say that its row sees it") {
  std::size_t cells = 0;
  over_kept_runs([&](const Capture& run, const std::vector<Tick>& cursors) {
    for (const Whose whose : run.owners()) {
      CAPTURE(to_string(whose));
      const auto panel = viz::make_panel("mask");
      if (whose != Whose::kTarget) panel->set_view_state("whose=" + std::string(to_string(whose)));
      for (const Tick cursor : cursors)
        if (phase_of(cursor) == Phase::kAccept || phase_of(cursor) == Phase::kDraft) {
          CAPTURE(cursor);
          check_mask(run, whose, *panel, cursor, cells);
        }
    }
  });
  CHECK(cells > 10'000);
}

// --- log ---

TEST_CASE(
    "log: every message that the cursor has seen, with its step, its level and all its words") {
  const auto opened = make_capture([](Recorder& out) {
    RowTables rows;
    rows.run = synthetic_info(3, "greedy", "", "recycle");
    for (Tick tick = 0; tick < make_tick(6, Phase::kDraft); ++tick) {
      rows.phases.push_back({.tick = tick, .duration_us = 10});
      if (tick % 4 != 1) continue;
      std::string text = "message " + std::to_string(tick);
      for (Tick i = 0; i < tick * 3; ++i) text += " word" + std::to_string(i);
      rows.log.push_back({.tick = tick, .level = static_cast<int>(tick / 4 % 4), .text = text});
    }
    rows.finish = Finish{};
    out.write(rows);
  });
  const Capture& run = *opened->capture;
  std::size_t messages = 0;
  const auto panel = viz::make_panel("log");
  for (Tick cursor = 0; cursor <= run.end_tick(); ++cursor) {
    CAPTURE(cursor);
    viz::Scene scene = scene_at(run, cursor);
    scene.export_mode = true;
    RecordingCanvas canvas;
    const viz::Point size = panel->extent(canvas, scene);
    canvas = drawn(*panel, scene, {0, 0, size.x, size.y});
    // From top to bottom: a head on the left, and behind it the message's lines.
    auto lines = canvas.texts;
    std::ranges::stable_sort(lines, [](const auto& a, const auto& b) {
      return std::abs(middle_y(a) - middle_y(b)) > 2 ? a.box.y < b.box.y : a.box.x < b.box.x;
    });
    std::vector<std::string> told, wanted;
    for (const auto& line : lines)
      if (line.box.x < scene.em * 4)
        told.push_back(line.text);
      else if (!told.empty())
        told.back() += " " + line.text;
    for (const LogRow& row : run.log()) {
      if (row.tick >= cursor) continue;
      const char* const level = row.level >= 3 ? "  error" : row.level == 2 ? "  warning" : "";
      wanted.push_back("step " + std::to_string(step_of(row.tick)) + level + " " + row.text);
    }
    messages += wanted.size();
    if (wanted.empty()) continue;
    CHECK(told == wanted);
  }
  CHECK(messages > 100);
}

// --- timeline ---

TEST_CASE(
    "timeline: each phase's bar is as high as the phase was long, on the axis that is written") {
  std::size_t bars = 0, cuts = 0;
  over_kept_runs([&](const Capture& run, const std::vector<Tick>& cursors) {
    if (run.phases().empty()) return;
    std::map<std::int32_t, double> totals;
    for (const PhaseRow& row : run.phases())
      totals[step_of(row.tick)] += static_cast<double>(row.duration_us);
    const viz::Scene scene = scene_at(run, cursors.back());
    const viz::Rect area{0, 0, 1400, 420};
    const auto canvas = drawn(*viz::make_panel("timeline"), scene, area);
    // A rectangle a phase, in the order of the rows, in the colours of the series; the legend's samples are
    // squares above them.
    std::vector<DrawnRect> drawn_bars;
    for (const DrawnRect& rect : rects_of(canvas))
      for (int i = 0; i < 5; ++i)
        if (same_hue(rect.color, scene.theme.series(i)) &&
            std::abs(rect.box.w - rect.box.h) > 0.01f) {
          drawn_bars.push_back(rect);
          break;
        }
    if (drawn_bars.size() != run.phases().size()) return;  // too many steps for a bar each
    const float bottom = drawn_bars.front().box.bottom();
    // The axis: the top label is the value of its height.
    const RecordingCanvas::Text* top = nullptr;
    for (const auto& text : canvas.texts)
      if (text.box.right() < drawn_bars.front().box.x && text.text != "0" &&
          (text.text.ends_with("s")))
        top = &text;
    // Without times there is no axis, and it is said.
    const bool has_times =
        std::ranges::any_of(totals, [](const auto& total) { return total.second > 0; });
    CHECK((find(canvas, "No times were recorded.") == nullptr) == has_times);
    CHECK((top != nullptr) == has_times);
    if (!has_times) return;
    double high = 0;  // the number that is written so
    for (const auto& [step, total] : totals)
      if (viz::duration_text(total) == top->text) high = std::max(high, total);
    if (high == 0) return;  // of a median: not a step's own
    const double per_us = static_cast<double>(bottom - middle_y(*top)) / high;
    std::map<std::int32_t, double> stacked;
    for (std::size_t i = 0; i < run.phases().size(); ++i) {
      const PhaseRow& row = run.phases()[i];
      double& below = stacked[step_of(row.tick)];
      const double from = below;
      below += static_cast<double>(row.duration_us);
      const viz::Rect box = drawn_bars[i].box;
      CAPTURE(row.tick);
      if (totals[step_of(row.tick)] <= high) {
        CHECK(std::abs(static_cast<double>(bottom - box.bottom()) - from * per_us) < 1.5);
        CHECK(std::abs(static_cast<double>(bottom - box.y) - below * per_us) < 1.5);
        ++bars;
      } else if (make_tick(step_of(row.tick) + 1, Phase::kDraft) <= scene.cursor) {
        // A bar that is cut says its length once the cursor has seen the whole step.
        CHECK(find(canvas, viz::duration_text(totals[step_of(row.tick)])));
        ++cuts;
      }
    }
  });
  CHECK(bars > 100);
}

// --- memory ---

TEST_CASE("memory: the curve of what is live has each step's row at its height") {
  std::size_t points = 0;
  over_kept_runs([&](const Capture& run, const std::vector<Tick>& cursors) {
    std::vector<MemoryRow> rows(run.memory().begin(), run.memory().end());
    if (rows.size() < 3) return;
    const viz::Scene scene = scene_at(run, cursors.front());
    const auto canvas = drawn(*viz::make_panel("memory"), scene, {0, 0, 1400, 600});
    std::vector<float> live;
    for (const std::string& call : canvas.calls)
      if (const auto n = numbers_of(call);
          call.starts_with("polyline ") && std::abs(n[0] - 2.4f) < 0.01f)
        live = n;
    REQUIRE(live.size() > 4);
    live.erase(live.begin(), live.begin() + 2);
    const std::size_t count = live.size() / 2;
    // A run that has ended gives its KV back: the curve ends with the step before.
    REQUIRE((count == rows.size() || count + 1 == rows.size()));
    // Two labels of the axis say what a height is.
    std::map<double, float> labels;
    for (const auto& text : canvas.texts)
      if (text.box.right() < live[0] && !text.text.empty() &&
          text.text.find_first_not_of("0123456789") == std::string::npos &&
          text.box.y < live[1] + 2000)
        labels[std::stod(text.text)] = middle_y(text);
    std::erase_if(labels, [&](const auto& one) { return one.second > 590; });
    REQUIRE(labels.size() >= 2);
    const auto [low, low_y] = *labels.begin();
    const auto [high, high_y] = *labels.rbegin();
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(rows[i].step);
      const double y = low_y + (rows[i].live - low) / (high - low) * (high_y - low_y);
      CHECK(std::abs(static_cast<double>(live[2 * i + 1]) - y) < 1.0);
      ++points;
    }
  });
  CHECK(points > 100);
}

}  // namespace
}  // namespace triescope::test::test_drawn_figures

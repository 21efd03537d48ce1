// KV policies under whole runs on a model that really reads its slots.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/tree/kv_policy.h"
#include "tests/support/session_run.h"

namespace triescope::test {
namespace {

using capture::SlotAction;

nlohmann::json beams(int n, const char* kv, const char* stopping = "false") {
  return {{"num_beams", n},
          {"num_return_sequences", n},
          {"kv", kv},
          {"gc_every", 4},
          {"early_stopping", stopping}};
}

// Who lies in which slot after each step, put together from the recorded changes alone.
struct Strip {
  std::map<std::int32_t, std::int32_t> live, garbage;  // slot -> occupant
  void apply(const capture::SlotRow& row) {
    switch (row.action) {
      case SlotAction::kAlloc:
      case SlotAction::kReuse:
        CHECK(live.count(row.slot) + garbage.count(row.slot) == 0);
        live[row.slot] = row.node;
        break;
      case SlotAction::kGarbage:
        CHECK(live.at(row.slot) == row.node);
        live.erase(row.slot);
        garbage[row.slot] = row.node;
        break;
      case SlotAction::kFree:
        CHECK(live.count(row.slot) + garbage.count(row.slot) == 1);
        live.erase(row.slot);
        garbage.erase(row.slot);
        break;
      case SlotAction::kMove:
        live[row.slot] = row.node;
        break;
    }
  }
};

// Prompt and ancestors of the frontier that a step left: what must be in memory, and under recycle
// nothing else.
std::multiset<std::int32_t> needed(const Rig& rig, std::int32_t step) {
  std::set<std::int32_t> who;
  for (std::int32_t i = 0; i < rig.session->tree().prompt_tokens(); ++i)
    who.insert(prompt_occupant(i));
  for (const auto& row : rig.recorder.frontier_rows)
    if (row.step == step)
      for (NodeId id = rig.session->tree()[NodeId(row.node)].parent; id != TokenTree::root();
           id = rig.session->tree()[id].parent)
        who.insert(id.value);
  return {who.begin(), who.end()};
}

template <class Check>
void replay(const Rig& rig, Check&& check) {
  Strip strip;
  std::size_t at = 0;
  for (const auto& memory : rig.recorder.memory_rows) {
    for (; at < rig.recorder.slot_rows.size() &&
           capture::step_of(rig.recorder.slot_rows[at].tick) <= memory.step;
         ++at)
      strip.apply(rig.recorder.slot_rows[at]);
    CHECK(static_cast<std::int32_t>(strip.live.size()) == memory.live);
    CHECK(static_cast<std::int32_t>(strip.garbage.size()) == memory.garbage);
    check(strip, memory);
  }
}

TEST_CASE("KV policies: all policies give the same texts and the same scores, to the bit") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    const int b = 2 + static_cast<int>(seed % 8);
    const char* stopping = seed % 3 == 0 ? "true" : seed % 3 == 1 ? "false" : "never";
    Rig first({.seed = seed, .eos_boost = 1.5f});
    first.start("beam", beams(b, "recycle", stopping), {5, 6, 7}, 40).run();
    const RunResult expected = first.session->result();
    for (const char* kv : {"compact", "keep", "batch"}) {
      CAPTURE(kv);
      Rig rig({.seed = seed, .eos_boost = 1.5f});
      rig.start("beam", beams(b, kv, stopping), {5, 6, 7}, 40).run();
      CHECK(tokens_of(rig.session->result()) == tokens_of(expected));
      CHECK(scores_of(rig.session->result()) == scores_of(expected));
      CHECK(rig.session->result().kv_policy == kv);
    }
    Rig batch({.seed = seed, .eos_boost = 1.5f});
    nlohmann::json settings = beams(b, "batch", stopping);
    batch.start("batch_beam", settings, {5, 6, 7}, 40).run();
    CHECK(tokens_of(batch.session->result()) == tokens_of(expected));
  }
}

TEST_CASE("KV policies: all policies give the same logits with a sliding window") {
  for (const char* kv : {"recycle", "compact", "keep", "batch"}) {
    Rig windowed({.sliding_window = 5, .eos_boost = -9}), plain({.eos_boost = -9});
    windowed.start("beam", beams(4, kv), {5, 6, 7}, 24).run();
    Rig other({.sliding_window = 5, .eos_boost = -9});
    other.start("beam", beams(4, "recycle"), {5, 6, 7}, 24).run();
    CHECK(tokens_of(windowed.session->result()) == tokens_of(other.session->result()));
    plain.start("beam", beams(4, kv), {5, 6, 7}, 24).run();
    CHECK(tokens_of(windowed.session->result()) != tokens_of(plain.session->result()));
  }
}

TEST_CASE(
    "KV policies: recycle holds exactly the live tokens after every step, and copies nothing") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed, .eos_boost = 1});
    rig.start("beam", beams(6, "recycle"), {5, 6, 7, 8}, 30).run();
    replay(rig, [&](const Strip& strip, const capture::MemoryRow& memory) {
      std::multiset<std::int32_t> held;
      for (const auto& [slot, who] : strip.live) held.insert(who);
      CHECK(held == needed(rig, memory.step));
      CHECK(strip.garbage.empty());
      CHECK(memory.moved_bytes == 0);
    });
    const RunResult result = rig.session->result();
    CHECK(result.peak_garbage_tokens == 0);
    CHECK(result.moved_tokens == 0);
    // Between forward and commit the step's rows are there too: the peak is what was needed then,
    // never more.
    std::int64_t peak = 0;
    for (const auto& memory : rig.recorder.memory_rows) {
      const auto before =
          memory.step == 0
              ? 0
              : rig.recorder.memory_rows[static_cast<std::size_t>(memory.step) - 1].live;
      peak = std::max<std::int64_t>(
          peak, before + rig.recorder.steps[static_cast<std::size_t>(memory.step)].forward_rows);
    }
    CHECK(result.peak_live_tokens == peak);
  }
}

TEST_CASE("KV policies: recycle hands a freed slot to the next node") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", beams(5, "recycle"), {5, 6, 7}, 30).run();
  CHECK(std::ranges::any_of(rig.recorder.slot_rows,
                            [](const auto& row) { return row.action == SlotAction::kReuse; }));
  std::int32_t highest = 0;
  for (const auto& row : rig.recorder.slot_rows) highest = std::max(highest, row.slot);
  CHECK(highest + 1 ==
        rig.session->result().peak_live_tokens);  // dense: no slot beyond the peak is ever touched
}

TEST_CASE("keep frees nothing: what was taken is live or garbage") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", beams(5, "keep"), {5, 6, 7}, 20).run();
  std::int32_t rows = 0;
  replay(rig, [&](const Strip& strip, const capture::MemoryRow& memory) {
    rows += rig.recorder.steps[static_cast<std::size_t>(memory.step)].forward_rows;
    CHECK(memory.live + memory.garbage == rows);
    for (const std::int32_t who : needed(rig, memory.step))
      CHECK(
          std::ranges::any_of(strip.live, [&](const auto& entry) { return entry.second == who; }));
  });
}

TEST_CASE("KV policies: compact gathers the survivors every gc_every steps") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", beams(5, "compact"), {5, 6, 7}, 30).run();
  int collections = 0;
  replay(rig, [&](const Strip& strip, const capture::MemoryRow& memory) {
    std::multiset<std::int32_t> held;
    for (const auto& [slot, who] : strip.live) held.insert(who);
    CHECK(held == needed(rig, memory.step));
    if (memory.step > 0 && memory.step % 4 == 0) {
      CHECK(strip.garbage.empty());
      CHECK((strip.live.empty() || strip.live.rbegin()->first + 1 == memory.live));  // dense
      ++collections;
    } else {
      CHECK(memory.moved_bytes == 0);
    }
  });
  CHECK(collections >= 6);
  CHECK(rig.session->result().moved_tokens > 0);
  CHECK(rig.session->result().peak_garbage_tokens > 0);
}

TEST_CASE("KV policies: gc_every=1 leaves no garbage, and changes no logits") {
  Rig often, never;
  nlohmann::json settings = beams(4, "compact");
  settings["gc_every"] = 1;
  often.start("beam", settings, {5, 6, 7}, 20).run();
  for (const auto& memory : often.recorder.memory_rows)
    if (memory.step > 0) CHECK(memory.garbage == 0);
  never.start("beam", beams(4, "keep"), {5, 6, 7}, 20).run();
  CHECK(scores_of(often.session->result()) == scores_of(never.session->result()));
}

TEST_CASE(
    "KV policies: batch holds the prompt and every past once a beam, and copies all of it each step") {
  Rig rig({.eos_boost = -9});
  const int b = 5, prompt = 3, cap = 10;
  rig.start("batch_beam", beams(b, "batch"), {5, 6, 7}, cap).run();
  for (const auto& memory : rig.recorder.memory_rows) {
    if (memory.step + 1 == cap) continue;  // the run is over: nothing is needed
    CHECK(memory.live == b * (prompt + memory.step));
    CHECK(memory.batch_beam == memory.live);
    CHECK(memory.garbage == 0);
    const std::int64_t copied = memory.step == 0 ? (b - 1) * prompt : b * (prompt + memory.step);
    CHECK(memory.moved_bytes == copied * 64);
  }
  const RunResult result = rig.session->result();
  CHECK(result.peak_live_tokens == result.batch_beam_tokens);
  CHECK(result.batch_beam_tokens == b * (prompt + cap - 1));
  CHECK(result.greedy_tokens == prompt + cap - 1);
}

TEST_CASE("KV policies: the trie holds less than batch, never less than greedy would") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", beams(6, "recycle"), {5, 6, 7, 8, 9, 10}, 30).run();
  for (const auto& memory : rig.recorder.memory_rows) {
    if (memory.step + 1 == 30) continue;
    CHECK(memory.live <= memory.batch_beam);
    CHECK(memory.live >= memory.greedy);
    CHECK(memory.reserved >= memory.live + memory.garbage);
  }
}

TEST_CASE("KV policies: drafts that were refused are freed in the same step") {
  for (const char* method : {"prompt_lookup", "ngram_trie"})
    for (const char* kv : {"recycle", "compact", "keep"}) {
      CAPTURE(method);
      CAPTURE(kv);
      Rig rig({.vocab_size = 6, .eos_boost = -9});
      rig.start(method, {{"kv", kv}, {"gc_every", 3}}, {1, 2, 3, 1, 2, 3, 4, 1, 2}, 40).run();
      int refused = 0;
      replay(rig, [&](const Strip& strip, const capture::MemoryRow& memory) {
        std::multiset<std::int32_t> held;
        for (const auto& [slot, who] : strip.live) held.insert(who);
        CHECK(held == needed(rig, memory.step));
      });
      for (const auto& step : rig.recorder.steps) refused += step.drafted - step.accepted;
      CHECK(refused > 0);
      Rig greedy({.vocab_size = 6, .eos_boost = -9});
      greedy.start("greedy", {}, {1, 2, 3, 1, 2, 3, 4, 1, 2}, 40).run();
      CHECK(tokens_of(rig.session->result()) == tokens_of(greedy.session->result()));
    }
}

TEST_CASE("KV policies: storage grows by half at least") {
  FakeModel model;
  SlotStore store(model.make_kv(10), false);
  store.reserve(11);
  CHECK(store.reserved() == 15);
  store.reserve(100);
  CHECK(store.reserved() == 100);
  store.reserve(101);
  CHECK(store.reserved() == 150);
}

}  // namespace
}  // namespace triescope::test

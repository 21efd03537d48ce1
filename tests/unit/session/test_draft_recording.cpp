// What a draft model ran is recorded beside the target's: its forwards, KV slots, memory and best
// tokens, each row saying whose it is.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_draft_recording {
namespace {

using capture::Whose;

FakeOptions target_options() {
  FakeOptions options;
  options.vocab_size = 14;
  options.eos_token_ids = {};
  return options;
}

TEST_CASE(
    "draft recording: a draft model's forwards, slots, memory and candidates are recorded as its own") {
  Rig rig(target_options());
  FakeOptions draft = target_options();
  draft.seed = 33;
  rig.draft_with(draft);
  auto& session =
      rig.start("draft_model", {{"num_assistant_tokens", 3}, {"candidates", 4}}, {5, 6, 7}, 12);
  session.run();
  const MemoryRecorder& rows = rig.recorder;

  // Step 1: the draft model's prefill with the pending token, then two drafts one by one; the third
  // draft is never run by it.
  std::map<std::int32_t, std::vector<capture::InputRow>> forwards;
  for (const auto& row : rows.input_rows)
    if (row.whose == Whose::kDraft && row.step == 1) forwards[row.forward].push_back(row);
  REQUIRE(forwards.size() == 3);
  REQUIRE(forwards[0].size() == 4);
  for (std::int32_t i = 0; i < 4; ++i) {
    const auto& row = forwards[0][static_cast<std::size_t>(i)];
    CHECK(row.node == (i < 3 ? -2 - i : 1));
    CHECK(row.position == i);
    CHECK(row.slot == i);
    CHECK(row.row == i);
  }
  CHECK(forwards[1].size() == 1);
  CHECK(forwards[1][0].node == 2);
  CHECK(forwards[1][0].position == 4);
  CHECK(forwards[2][0].node == 3);
  CHECK(forwards[2][0].slot == 5);

  // The target's rows are what they were without: one forward a step, and no row of the draft's.
  std::map<std::int32_t, std::int32_t> target_rows;
  for (const auto& row : rows.input_rows)
    if (row.whose == Whose::kTarget) {
      CHECK(row.forward == 0);
      ++target_rows[row.step];
    }
  CHECK(target_rows[0] == 3);
  CHECK(target_rows[1] == 4);

  // A strip of the draft's cache made of its events alone holds what its memory rows say.
  std::map<std::int32_t, std::int32_t> held;
  std::size_t event = 0;
  std::int32_t memory_rows = 0;
  for (const auto& memory : rows.memory_rows) {
    if (memory.whose != Whose::kDraft) continue;
    ++memory_rows;
    for (; event < rows.slot_rows.size(); ++event) {
      const auto& row = rows.slot_rows[event];
      if (capture::step_of(row.tick) > memory.step) break;
      if (row.whose != Whose::kDraft) continue;
      CHECK(capture::phase_of(row.tick) == capture::Phase::kDraft);
      if (row.action == capture::SlotAction::kFree) {
        held.erase(row.slot);
      } else {
        held[row.slot] = row.node;
      }
    }
    CHECK(memory.live == static_cast<std::int32_t>(held.size()));
    CHECK(memory.garbage == 0);
    CHECK(memory.reserved == 3 + 32);
  }
  CHECK(memory_rows == session.result().steps);

  std::map<std::int32_t, std::vector<capture::CandidateRow>> best;
  for (const auto& row : rows.candidate_rows)
    if (row.whose == Whose::kDraft && capture::step_of(row.tick) == 1) {
      CHECK(capture::phase_of(row.tick) == capture::Phase::kDraft);
      best[row.node].push_back(row);
    }
  REQUIRE(best.size() == 3);  // the pending node and the two drafts that it ran
  for (const auto& [node, found] : best) {
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(found[i].rank == static_cast<std::int32_t>(i));
      CHECK(found[i].chosen == (i == 0));
      CHECK(rows.pieces.contains(found[i].token));
    }
    CHECK(found[0].token == session.tree()[session.tree()[NodeId(node)].first_child].token.value);
  }
  const auto model = nlohmann::json::parse(rows.run_info.model_json);
  CHECK(model.at("draft").at("kv_bytes_per_token") == 64);
}

TEST_CASE("draft recording: a capture on disk answers for the target and for the draft model") {
  const TempDir dir;
  const auto path = (dir.path() / "draft.tscap").string();
  {
    FakeModel model(target_options());
    FakeOptions small = target_options();
    small.seed = 33;
    FakeModel draft(small);
    FakeTokenizer tokenizer(14, {});
    const auto recorder = capture::open_recorder(path);
    RunConfig config;
    config.method = "draft_model";
    config.settings = {{"expansion", {2, 2}}};
    config.prompt_tokens = {5, 6, 7};
    config.max_new_tokens = 12;
    config.draft = {&draft, &tokenizer};
    Session session(model, tokenizer, config, *recorder);
    session.run();
  }
  const auto capture = capture::Capture::open(path);
  CHECK(capture->owners() == std::vector<Whose>{Whose::kTarget, Whose::kDraft});
  const auto end = capture->end_tick();
  CHECK(capture->memory(Whose::kDraft).size() == capture->memory().size());
  std::set<std::int32_t> seen;
  for (std::int32_t slot = 0; slot < capture->slot_count_at(end, Whose::kDraft); ++slot) {
    const auto view = capture->slot_at(slot, end, Whose::kDraft);
    if (view.state != capture::SlotState::kLive) continue;
    CHECK(seen.insert(view.node).second);  // a node lies in one slot
    if (view.node >= 0) CHECK(capture->slot_of(view.node, end, Whose::kDraft) == slot);
  }
  CHECK(static_cast<std::int32_t>(seen.size()) == capture->memory(Whose::kDraft).back().live);
  // The second level of the first step went through one forward of the draft model: two rows.
  const auto forwards = capture->forwards(Whose::kDraft);
  REQUIRE(forwards.size() >= 2);
  CHECK(capture->inputs(forwards[0], Whose::kDraft).size() == 4);
  CHECK(capture->inputs(forwards[1], Whose::kDraft).size() == 2);
}

}  // namespace
}  // namespace triescope::test::test_draft_recording

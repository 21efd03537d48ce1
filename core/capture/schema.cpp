#include "core/capture/schema.h"

namespace triescope::capture {
namespace {

constexpr Table kTables[] = {
    {"run",
     "id INTEGER PRIMARY KEY, created_utc TEXT, model_json TEXT, method TEXT, method_title TEXT, "
     "settings_json TEXT, seed INTEGER, "
     "versions_json TEXT, prompt_text TEXT, prompt_tokens BLOB, max_new_tokens INTEGER, "
     "kv_bytes_per_token INTEGER, "
     "sliding_window INTEGER, kv_policy TEXT, status INTEGER, message TEXT, recorder TEXT"},
    {"piece", "id INTEGER PRIMARY KEY, token INTEGER, bytes BLOB"},
    {"step",
     "id INTEGER PRIMARY KEY, step INTEGER, forward_rows INTEGER, drafted INTEGER, accepted "
     "INTEGER, emitted INTEGER, frontier INTEGER"},
    {"phase", "id INTEGER PRIMARY KEY, tick INTEGER, start_us INTEGER, duration_us INTEGER"},
    {"node",
     "id INTEGER PRIMARY KEY, node INTEGER, parent INTEGER, token INTEGER, depth INTEGER, logprob "
     "REAL, score REAL, q REAL, source INTEGER, "
     "tick INTEGER"},
    {"node_score", "id INTEGER PRIMARY KEY, node INTEGER, logprob REAL, score REAL, tick INTEGER"},
    {"input",
     "id INTEGER PRIMARY KEY, step INTEGER, row INTEGER, node INTEGER, position INTEGER, slot "
     "INTEGER, naive_position INTEGER"},
    {"candidate",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, rank INTEGER, token INTEGER, logprob "
     "REAL, chosen INTEGER"},
    {"verdict",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, verdict INTEGER, p REAL, q REAL, u REAL, "
     "rank INTEGER, score REAL, gap REAL, "
     "replacement INTEGER, reason TEXT"},
    {"frontier", "id INTEGER PRIMARY KEY, step INTEGER, rank INTEGER, node INTEGER, score REAL"},
    {"slot",
     "id INTEGER PRIMARY KEY, tick INTEGER, action INTEGER, slot INTEGER, node INTEGER, from_slot "
     "INTEGER"},
    {"memory",
     "id INTEGER PRIMARY KEY, step INTEGER, live INTEGER, garbage INTEGER, reserved INTEGER, "
     "greedy INTEGER, batch_beam INTEGER, "
     "moved_bytes INTEGER, device_allocated_bytes INTEGER, device_reserved_bytes INTEGER"},
    {"sequence",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, rank INTEGER, score REAL, finish TEXT, "
     "tokens BLOB"},
    {"log", "id INTEGER PRIMARY KEY, tick INTEGER, level INTEGER, text TEXT"},
    {"bookmark", "id INTEGER PRIMARY KEY, tick INTEGER, note TEXT"},
};

}  // namespace

std::span<const Table> tables() { return kTables; }

}  // namespace triescope::capture

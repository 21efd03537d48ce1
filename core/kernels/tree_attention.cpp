#include "core/kernels/tree_attention.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/bf16.h"
#include "core/base/error.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

// A task's scores stay in the second-level cache (512 KB to 2 MB on today's cores).
constexpr std::int64_t kScoreBytes = 512 << 10;
// Query heads of a task: K is transposed once for all of them. More would gain nothing.
constexpr std::int64_t kMaxQueries = 96;

std::int64_t list_length(const VisibleSlots& visible, std::int64_t row) {
  const auto r = static_cast<std::size_t>(row);
  // Not of(row): check() asks before it is known that the offsets are inside own.
  const std::int64_t own =
      visible.offsets.empty() ? row + 1 : visible.offsets[r + 1] - visible.offsets[r];
  return static_cast<std::int64_t>(visible.prefix.size()) + own;
}

void check(const AttentionShape& shape, const VisibleSlots& visible, std::int64_t rows) {
  const auto fail = [](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "tree attention: " + what);
  };
  if (shape.kv_heads < 1 || shape.heads < 1 || shape.heads % shape.kv_heads != 0 ||
      shape.head_dim < 1) {
    fail("expected query heads to be a multiple of key/value heads, found " +
         std::to_string(shape.heads) + " query heads, " + std::to_string(shape.kv_heads) +
         " key/value heads of " + std::to_string(shape.head_dim));
  }
  const auto n = static_cast<std::size_t>(rows);
  if (visible.offsets.empty()) {
    if (visible.own.size() < n) {
      fail("causal: expected a slot for each of " + std::to_string(rows) + " rows, found " +
           std::to_string(visible.own.size()));
    }
    return;
  }
  if (visible.offsets.size() != n + 1 ||
      visible.offsets[n] > static_cast<std::int64_t>(visible.own.size())) {
    fail("expected " + std::to_string(rows + 1) + " offsets into the own slots, found " +
         std::to_string(visible.offsets.size()) + " (or they point past the end)");
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (visible.offsets[i + 1] < visible.offsets[i] || list_length(visible, r) < 1) {
      fail("expected row " + std::to_string(r) + " to see at least one slot, found none");
    }
  }
}

// How many slots the own lists of rows [begin, end) share at their start.
std::int64_t common_start(const VisibleSlots& visible, std::int64_t begin, std::int64_t end) {
  const auto list = [&](std::int64_t r) { return visible.of(static_cast<std::size_t>(r)); };
  const auto first = list(begin);
  std::size_t common = first.size();
  for (std::int64_t r = begin + 1; r < end && common > 0; ++r) {
    const auto other = list(r);
    const auto at = std::mismatch(
        first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(common, other.size())),
        other.begin());
    common = static_cast<std::size_t>(at.first - first.begin());
  }
  return static_cast<std::int64_t>(common);
}

// The number of runs into which the rows are divided: as few as the space for scores allows (a run
// reads the shared slots once), but enough to keep all threads busy.
std::int64_t row_runs(std::int64_t rows, std::int64_t group, std::int64_t kv_heads,
                      std::int64_t longest, int threads) {
  const std::int64_t room = std::min(kMaxQueries, kScoreBytes / (4 * longest)) / group;
  const std::int64_t least =
      (rows + std::max<std::int64_t>(room, 1) - 1) / std::max<std::int64_t>(room, 1);
  std::int64_t best = least;
  // The busiest thread's load, in rows of work, with a run's own cost.
  double best_load = 1e9;
  const std::int64_t most = std::min(rows, least + 2 * threads);
  for (std::int64_t runs = least; runs <= most; ++runs) {
    const std::int64_t tasks = (runs * kv_heads + threads - 1) / threads;
    const double load =
        static_cast<double>(tasks) * (static_cast<double>(rows) / static_cast<double>(runs) + 1.5);
    if (load < best_load) {
      best_load = load;
      best = runs;
    }
  }
  return best;
}

// The task of K/V head 0 and rows [begin, end).
AttentionTask task_of(const float* q, std::int64_t q_stride, const KvView& kv,
                      const AttentionShape& shape, const VisibleSlots& visible, float* out,
                      std::int64_t out_stride, std::int64_t begin, std::int64_t end) {
  AttentionTask task{};
  task.q = q;
  task.q_stride = q_stride;
  task.out = out;
  task.out_stride = out_stride;
  task.keys = kv.keys;
  task.values = kv.values;
  task.precision = kv.precision;
  task.slot_stride = std::int64_t{shape.kv_heads} * shape.head_dim;
  task.group = shape.heads / shape.kv_heads;
  task.head_dim = shape.head_dim;
  task.window = shape.window;
  task.scale = shape.scale;
  task.softcap = shape.softcap;
  task.sinks = shape.sinks;
  task.row_begin = begin;
  task.row_end = end;
  task.shared_a = visible.prefix.data();
  task.shared_a_count = static_cast<std::int64_t>(visible.prefix.size());
  task.tails = visible.own.data();
  if (visible.offsets.empty()) {
    task.shared_b = visible.own.data();
    task.shared_b_count = begin + 1;
  } else {
    task.shared_b = visible.own.data() + visible.offsets[static_cast<std::size_t>(begin)];
    task.shared_b_count = common_start(visible, begin, end);
    task.tail_offsets = visible.offsets.data();
  }
  return task;
}

// The task of the same rows and another K/V head.
AttentionTask of_head(AttentionTask task, std::int64_t head) {
  const std::int64_t at = head * task.head_dim;
  task.q += at * task.group;
  task.out += at * task.group;
  if (task.sinks != nullptr) task.sinks += head * task.group;
  const std::size_t bytes = static_cast<std::size_t>(at) * element_bytes(task.precision);
  task.keys = static_cast<const char*>(task.keys) + bytes;
  task.values = static_cast<const char*>(task.values) + bytes;
  return task;
}

// Whether threads share the sweeps of a K/V head's task instead of taking whole tasks: where whole
// tasks would leave a fifth of the threads' time unused (one row of 3 K/V heads and two threads: a
// quarter), and a row sees so many slots that two more barriers do not matter (30 layers, one row:
// two Sapphire Rapids cores, 4096 slots 0.80 of the time, 1024 slots 1.0; two Zen 4 cores, 1024
// slots 0.89, 768 slots 0.93, 512 slots 0.97, 256 slots 1.05).
constexpr std::int64_t kLeastShared = 768, kSharedScoreBytes = 4 << 20;  // of a task
bool shares_sweeps(std::int64_t tasks, std::int64_t threads, std::int64_t queries,
                   std::int64_t longest, int window) {
  const std::int64_t rounds = (tasks + threads - 1) / threads;
  const std::int64_t seen = window > 0 ? std::min<std::int64_t>(longest, window) : longest;
  return seen >= kLeastShared && 5 * tasks < 4 * rounds * threads && queries <= kMaxQueries &&
         4 * queries * longest <= kSharedScoreBytes;
}

// The sweeps of a task's rows for all K/V heads, one after another. Calls sweep(task of a head, head,
// part, worker). All heads of a slot are read together, as they lie in memory, some slots
// at a time; a thread goes from one such part to the next, which is fetched meanwhile.
template <class Sweep>
void run_sweeps(const AttentionTask& task, std::int64_t heads, std::int64_t longest,
                ThreadPool& pool, const Sweep& sweep) {
  constexpr std::int64_t kEntries = 32, kValueEntries = 64, kColumns = 32;
  for (std::int64_t head = 0; head < heads; ++head)
    sweep(of_head(task, head), head, {.sweep = AttentionSweep::kQueries}, 0);
  const std::int64_t parts = (longest + kEntries - 1) / kEntries;
  pool.for_pieces(parts + heads, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t index = begin; index < end; ++index) {
      if (index >= parts) {
        const std::int64_t head = index - parts;
        sweep(of_head(task, head), head, {.sweep = AttentionSweep::kOtherScores}, worker);
        continue;
      }
      const AttentionPart part = {.sweep = AttentionSweep::kSharedScores,
                                  .begin = index * kEntries,
                                  .end = (index + 1) * kEntries};
      for (std::int64_t head = 0; head < heads; ++head)
        sweep(of_head(task, head), head, part, worker);
    }
  });
  const std::int64_t queries = (task.row_end - task.row_begin) * task.group;
  pool.for_tasks(heads * queries, [&](std::int64_t index, int worker) {
    const std::int64_t head = index % heads, query = index / heads;
    sweep(of_head(task, head), head,
          {.sweep = AttentionSweep::kSoftmax, .begin = query, .end = query + 1}, worker);
  });
  const std::int64_t panels = (task.head_dim + kColumns - 1) / kColumns;
  pool.for_ranges(heads * panels, [&](std::int64_t begin, std::int64_t end, int worker) {
    const auto each_head = [&](AttentionPart part) {
      for (std::int64_t head = begin / panels; head * panels < end; ++head) {
        const std::int64_t first = head * panels, last = first + panels;
        part.d_begin = static_cast<int>((std::max(begin, first) - first) * kColumns);
        part.d_end = static_cast<int>((std::min(end, last) - first) * kColumns);
        sweep(of_head(task, head), head, part, worker);
      }
    };
    for (std::int64_t entry = 0; entry < longest; entry += kValueEntries) {
      each_head(
          {.sweep = AttentionSweep::kSharedValues, .begin = entry, .end = entry + kValueEntries});
    }
    each_head({.sweep = AttentionSweep::kOtherValues});
  });
}

}  // namespace

void tree_attention(const float* q, std::int64_t q_stride, std::int64_t rows, const KvView& kv,
                    const AttentionShape& shape, const VisibleSlots& visible, float* out,
                    std::int64_t out_stride, ThreadPool& pool) {
  if (rows <= 0) return;
  check(shape, visible, rows);
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < rows; ++r) longest = std::max(longest, list_length(visible, r));
  const std::int64_t group = shape.heads / shape.kv_heads, heads = shape.kv_heads;
  std::int64_t runs = row_runs(rows, group, heads, longest, pool.size());
  const bool shared = shares_sweeps(runs * heads, pool.size(), rows * group, longest, shape.window);
  if (shared) runs = 1;
  const std::int64_t most_rows = (rows + runs - 1) / runs;
  const CpuKernels& kernels = cpu_kernels();
  const AttentionBytes bytes =
      kernels.attention_scratch_bytes(most_rows * group, shape.head_dim, longest);
  // Worker 0's scratch also holds the tasks' scratch, where they are shared.
  const auto of_tasks = static_cast<std::size_t>(shared ? heads * bytes.of_task : 0);
  const auto own = static_cast<std::size_t>(bytes.of_thread + (shared ? 0 : bytes.of_task));
  const auto scratch = [&](int worker) {
    auto* const begin =
        static_cast<std::byte*>(pool.scratch(worker, (worker == 0 ? of_tasks : 0) + own));
    return worker == 0 ? begin + of_tasks : begin;
  };
  try {
    for (int worker = 0; worker < pool.size(); ++worker) scratch(worker);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory,
                "tree attention: out of memory: " + std::to_string(of_tasks + own) +
                    " bytes a thread for the scores of " + std::to_string(longest) + " slots");
  }
  const auto task_of_rows = [&](std::int64_t begin, std::int64_t end) {
    return task_of(q, q_stride, kv, shape, visible, out, out_stride, begin, end);
  };

  if (!shared) {
    // The order is run by run over the K/V heads, the last rows first: in causal mode they have the
    // longest lists.
    pool.for_tasks(runs * heads, [&](std::int64_t index, int worker) {
      const std::int64_t head = index % heads, run = runs - 1 - index / heads;
      std::byte* const memory = scratch(worker);
      kernels.attention(of_head(task_of_rows(rows * run / runs, rows * (run + 1) / runs), head),
                        longest, {}, memory, memory + bytes.of_task);
    });
    return;
  }

  const AttentionTask task = task_of_rows(0, rows);
  auto* const kept = static_cast<std::byte*>(pool.scratch(0, of_tasks + own));
  run_sweeps(
      task, heads, longest, pool,
      [&](const AttentionTask& of_one, std::int64_t head, const AttentionPart& part, int worker) {
        kernels.attention(of_one, longest, part, kept + head * bytes.of_task, scratch(worker));
      });
}

void store_kv(const float* rows, std::int64_t stride, std::int64_t count, int dims,
              const std::int32_t* slots, Precision precision, void* out) {
  for (std::int64_t r = 0; r < count; ++r) {
    const float* from = rows + r * stride;
    const std::int64_t at = std::int64_t{slots[r]} * dims;
    if (precision == Precision::kF32) {
      std::memcpy(static_cast<float*>(out) + at, from,
                  static_cast<std::size_t>(dims) * sizeof(float));
    } else {
      auto* to = static_cast<std::uint16_t*>(out) + at;
      for (int i = 0; i < dims; ++i) to[i] = float_to_bf16(from[i]);
    }
  }
}

}  // namespace triescope::kernels

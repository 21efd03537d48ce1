// Tree attention of one K/V head and a run of rows (core/kernels/tree_attention.h has the equation
// and the invariant).
//
// There are three sweeps: scores of all visible slots, softmax of each list, sum of V. Either one
// thread does all of a task, or, over long lists, threads share each sweep: scores by slots, V by
// columns. Scores and V go over blocks of 32 list entries, through the register tile of the linear
// layers: K is transposed into a panel [head_dim][32], V is used as rows. For few queries both go
// straight into registers (attention_few.h). A score is one chain over the head's dimensions, and the sum of V is one chain over
// the list, wherever blocks and the shared part end.
#pragma once

#include "core/kernels/cpu/attention_few.h"
#include "core/kernels/cpu/math_impl.h"
#include "core/kernels/cpu/rows_impl.h"
#include "core/kernels/cpu/table.h"
#include "core/kernels/cpu/tile_impl.h"

namespace triescope::kernels {
namespace {

struct AttentionScratch {
  // Row lengths of list and head_dim, rounded up to whole panels (one more, as tails start
  // anywhere).
  std::int64_t ld_scores, ld_head;
  // These belong to a task:
  float* scores = nullptr;   // [queries][ld_scores]
  float* sums = nullptr;     // [queries][ld_head]
  float* weights = nullptr;  // [queries] sum of exponentials
  float* q = nullptr;        // [queries][head_dim]
  // These belong to a thread:
  float* panel = nullptr;    // [max(head_dim, 32)][max(32, ld_head)]: K transposed, or V
  float* widened = nullptr;  // [32][head_dim] bf16 rows as fp32

  static std::int64_t up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

  AttentionScratch(std::int64_t queries, int head_dim, std::int64_t longest)
      : ld_scores(up(longest, kPanel) + kPanel), ld_head(up(head_dim, kPanel)) {
    const std::int64_t sizes[] = {
        queries * ld_scores, queries * ld_head, queries,
        queries * head_dim,  kPanel * ld_head,  std::int64_t{kPanel} * head_dim};
    for (int i = 0; i < 6; ++i) at[i + 1] = at[i] + up(sizes[i], 16);
  }
  std::int64_t task_floats() const { return at[4]; }
  std::int64_t thread_floats() const { return at[6] - at[4]; }
  void place(void* of_task, void* of_thread) {
    float* const task = static_cast<float*>(of_task);
    scores = task;
    sums = task + at[1];
    weights = task + at[2];
    q = task + at[3];
    float* const thread = static_cast<float*>(of_thread);
    panel = thread;
    widened = thread + (at[5] - at[4]);
  }
  std::int64_t at[7] = {};
};

AttentionBytes attention_scratch_bytes(std::int64_t queries, int head_dim, std::int64_t longest) {
  const AttentionScratch s(queries, head_dim, longest);
  constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));
  return {s.task_floats() * kFloat, s.thread_floats() * kFloat};
}

template <class E, Tuning kTuning>
struct AttentionRun {
  const AttentionTask& t;
  AttentionScratch s;
  const E* keys = static_cast<const E*>(t.keys);
  const E* values = static_cast<const E*>(t.values);
  std::int64_t rows = t.row_end - t.row_begin;
  std::int64_t shared = t.shared_a_count + t.shared_b_count;

  std::int32_t shared_slot(std::int64_t j) const {
    return j < t.shared_a_count ? t.shared_a[j] : t.shared_b[j - t.shared_a_count];
  }
  const std::int32_t* tail(std::int64_t r) const {
    return t.tails +
           (t.tail_offsets == nullptr ? t.row_begin + 1 : t.tail_offsets[r] + t.shared_b_count);
  }
  std::int64_t tail_count(std::int64_t r) const {
    return t.tail_offsets == nullptr ? r - t.row_begin
                                     : t.tail_offsets[r + 1] - t.tail_offsets[r] - t.shared_b_count;
  }
  std::int64_t list_count(std::int64_t r) const { return shared + tail_count(r); }
  std::int64_t list_start(std::int64_t r) const {
    const std::int64_t n = list_count(r);
    return t.window > 0 && n > t.window ? n - t.window : 0;
  }

  // The end of columns that are asked for by whole panels.
  int within_head(int d_end) const { return d_end < t.head_dim ? d_end : t.head_dim; }
  // Fetches columns [d_begin, d_end) of K or V of one or several slots from memory into the
  // second-level cache. (Always inlined: compilers drop the call of a function that only fetches.)
  inline __attribute__((always_inline)) void fetch_slot(const E* base, std::int32_t slot,
                                                        int d_begin, int d_end) const {
    constexpr int kLine = 64 / static_cast<int>(sizeof(E));
    const E* row = base + slot * t.slot_stride;
    for (int d = d_begin; d < d_end; d += kLine) __builtin_prefetch(row + d, 0, 2);
  }
  inline __attribute__((always_inline)) void fetch(const E* base, Slots slots, int d_begin,
                                                   int d_end) const {
    if constexpr (!kTuning.fetch_kv) return;
    for (int i = 0; i < slots.count; ++i) fetch_slot(base, slots.first[i], d_begin, d_end);
  }

  // The rows of up to 32 slots as fp32.
  void fp32_rows(const E* base, Slots slots, const float** rows_out) const {
    for (int i = 0; i < slots.count; ++i) {
      const E* row = base + slots.first[i] * t.slot_stride;
      if constexpr (sizeof(E) == 4) {
        rows_out[i] = row;
      } else {
        float* to = s.widened + i * static_cast<std::int64_t>(t.head_dim);
        int d = 0;
        for (; d + Vec::kLanes <= t.head_dim; d += Vec::kLanes) Vec::load(row + d).store(to + d);
        for (; d < t.head_dim; ++d) {
          const std::uint32_t bits = std::uint32_t{row[d]} << 16;
          __builtin_memcpy(to + d, &bits, 4);
        }
        rows_out[i] = to;
      }
    }
  }

  // scores[r, i] of 32 slots for R queries, from the registers in which K is transposed (for more
  // queries a panel in the cache pays). x: the queries, [R][head_dim].
  template <int R>
  void score_few(const float* x, Slots slots, float* scores, Slots ahead) const {
    constexpr int kVecs = R <= Vec::kFewPairs ? 2 : 1, kRows = kVecs * Vec::kLanes;
    static_assert(kPanel % kRows == 0);
    FetchRows<E> fetch(keys, t.slot_stride, t.head_dim, ahead);
    if (slots.count == kPanel && in_order(slots)) {
      const E* const first = keys + slots.first[0] * t.slot_stride;
      for (int n = 0; n < kPanel; n += kRows) {
        score_rows<kTuning, R, kVecs, E>(
            x, t.head_dim, RowsInOrder<E, kRows>(first + n * t.slot_stride, t.slot_stride),
            scores + n, s.ld_scores, fetch);
      }
    } else {
      const E* k_rows[kPanel];
      for (int i = 0; i < kPanel; ++i)
        k_rows[i] = keys + slots.first[i < slots.count ? i : slots.count - 1] * t.slot_stride;
      for (int n = 0; n < kPanel; n += kRows) {
        score_rows<kTuning, R, kVecs, E>(x, t.head_dim, ListedRows<E>(k_rows + n), scores + n,
                                         s.ld_scores, fetch);
      }
    }
    if constexpr (kTuning.fetch_kv) fetch.rest();
  }

  // The same for any number of queries, from a panel in the cache. k_rows: the slots' K.
  void score_many(std::int64_t queries, const float* x, const float* const* k_rows, float* scores,
                  Slots ahead) const {
    // Local copies: vector stores may alias the members, which would be loaded again after each
    // store.
    float* const panel = s.panel;
    const int head_dim = t.head_dim;
    FetchRows<E> fetch(keys, t.slot_stride, head_dim, ahead);
    int d = 0;
    for (; d + 4 <= head_dim; d += 4) {
      for (int i = 0; i < kPanel; i += Vec::kLanes) {
        if constexpr (kTuning.fetch_kv) fetch.template next<Vec::kLanes / 4>();
        Vec columns[4];
        Vec::columns4(
            [&](int j) __attribute__((always_inline)) { return k_rows[i + j] + d; }, columns);
        float* const to = panel + d * kPanel + i;
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) columns[j].store(to + j * kPanel);
      }
    }
    if constexpr (kTuning.fetch_kv) fetch.rest();
    for (; d < head_dim; ++d) {
      for (int i = 0; i < kPanel; ++i) panel[d * kPanel + i] = k_rows[i][d];
    }
    tile_rows<kTuning, float>(queries, x, head_dim, panel, kPanel, head_dim, scores, s.ld_scores,
                              TileUse::kStore);
  }

  // scores[q, j0 + i] of at most 32 slots for queries [q0, q0 + queries). Columns beyond them
  // repeat the last slot's score. K of `ahead` is fetched meanwhile, evenly: fetches that come all
  // at once are often dropped.
  void score_block(Slots slots, std::int64_t j0, std::int64_t q0, std::int64_t queries,
                   Slots ahead) const {
    const float* const x = s.q + q0 * t.head_dim;
    float* const scores = s.scores + q0 * s.ld_scores + j0;
    if (queries <= Vec::kFewQueries) {
      with_number<Vec::kFewQueries>(static_cast<int>(queries),
                                    [&]<int R>() { score_few<R>(x, slots, scores, ahead); });
      return;
    }
    const float* k_rows[kPanel];
    fp32_rows(keys, slots, k_rows);
    for (int i = slots.count; i < kPanel; ++i) k_rows[i] = k_rows[slots.count - 1];
    score_many(queries, x, k_rows, scores, ahead);
  }

  // sums[q] += sum over i of p[q, j0 + i] * V[slots[i]], continuing each chain, for columns
  // [d_begin, d_end), whole panels. V of `ahead` is fetched meanwhile.
  void value_block(Slots slots, std::int64_t j0, std::int64_t q0, std::int64_t queries, int d_begin,
                   int d_end, Slots ahead) const {
    const int count = slots.count;
    const float* p = s.scores + q0 * s.ld_scores + j0;
    float* sums = s.sums + q0 * s.ld_head;
    const bool whole = t.head_dim % kPanel == 0;
    if (whole && queries <= Vec::kFewValues) {
      with_number<Vec::kFewValues>(static_cast<int>(queries), [&]<int R>() {
        constexpr int kVecs = R <= Vec::kWideValues ? kPanel / Vec::kLanes : 2;
        for (int d = d_begin; d < d_end; d += kVecs * Vec::kLanes) {
          add_values<kTuning, R, kVecs>(p, s.ld_scores, values + d, t.slot_stride, slots, sums + d,
                                        s.ld_head, ahead);
        }
      });
      return;
    }
    fetch(values, ahead, d_begin, within_head(d_end));
    if (whole && in_order(slots)) {  // a matrix already
      const E* v = values + slots.first[0] * t.slot_stride;
      for (int d = d_begin; d < d_end; d += kPanel) {
        tile_rows<kTuning, E>(queries, p, s.ld_scores, v + d, t.slot_stride, count, sums + d,
                              s.ld_head, TileUse::kContinue);
      }
      return;
    }
    const float* v_rows[kPanel];
    fp32_rows(values, slots, v_rows);
    for (int i = 0; i < count; ++i) {
      float* to = s.panel + i * s.ld_head;
      const int columns = within_head(d_end);
      int d = d_begin;
      for (; d + Vec::kLanes <= columns; d += Vec::kLanes) Vec::load(v_rows[i] + d).store(to + d);
      for (; d < columns; ++d) to[d] = v_rows[i][d];
      for (; d < d_end; ++d) to[d] = 0;
    }
    for (int d = d_begin; d < d_end; d += kPanel) {
      tile_rows<kTuning, float>(queries, p, s.ld_scores, s.panel + d, s.ld_head, count, sums + d,
                                s.ld_head, TileUse::kContinue);
    }
  }

  // The slots of entries [j, end) of the shared part, at most 32; written to `to` where they lie in
  // both of its lists.
  Slots shared_slots(std::int64_t j, std::int64_t end, std::int32_t* to) const {
    const std::int64_t left = end - j;
    const int count = static_cast<int>(left < kPanel ? left : kPanel);
    if (count <= 0) return {};
    if (j + count <= t.shared_a_count) return {t.shared_a + j, count};
    if (j >= t.shared_a_count) return {t.shared_b + (j - t.shared_a_count), count};
    for (int i = 0; i < count; ++i) to[i] = shared_slot(j + i);
    return {to, count};
  }
  // Calls f(slots, j0, later) over list entries [begin, end) of the shared part, in blocks of at
  // most 32 slots. later: what to fetch meanwhile, kAhead entries further.
  static constexpr std::int64_t kAhead = 2 * kPanel;
  template <class F>
  void each_shared_block(std::int64_t begin, std::int64_t end, F f) const {
    std::int32_t block[kPanel], later[kPanel];
    for (std::int64_t j = begin; j < end; j += kPanel) {
      f(shared_slots(j, end, block), j,
        kTuning.fetch_kv ? shared_slots(j + kAhead, shared, later) : Slots{});
    }
  }
  // Fetches columns [d_begin, d_end) of the blocks before which none is read.
  void fetch_first(const E* base, std::int64_t begin, std::int64_t end, int d_begin,
                   int d_end) const {
    std::int32_t block[kPanel];
    for (std::int64_t j = begin; j < begin + kAhead; j += kPanel)
      fetch(base, shared_slots(j, end, block), d_begin, d_end);
  }
  // Up to 32 entries of a row's tail from entry j on, counted from the tail's start.
  Slots tail_block(std::int64_t r, std::int64_t j) const {
    const std::int64_t left = tail_count(r) - j;
    return {tail(r) + j, static_cast<int>(left < kPanel ? left > 0 ? left : 0 : kPanel)};
  }
  // The entries that are read after that block: more of this tail, or the next row's. (Causal rows
  // share their tail, which is in the cache.)
  Slots after_tail_block(std::int64_t r, std::int64_t j) const {
    if (!kTuning.fetch_kv || t.tail_offsets == nullptr) return {};
    const Slots more = tail_block(r, j + kPanel);
    return more.count > 0 || r + 1 == t.row_end ? more : tail_block(r + 1, tail_start(r + 1));
  }
  // Like each_shared_block, over a row's tail from entry `begin` on.
  template <class F>
  void each_tail_block(std::int64_t r, std::int64_t begin, F f) const {
    for (std::int64_t j = begin; j < tail_count(r); j += kPanel)
      f(tail_block(r, j), shared + j, after_tail_block(r, j));
  }
  std::int64_t tail_start(std::int64_t r) const {
    const std::int64_t start = list_start(r) - shared;
    return start > 0 ? start : 0;
  }

  void load_queries() const {
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* from = t.q + (t.row_begin + r) * t.q_stride;
      float* to = s.q + r * t.group * t.head_dim;
      for (std::int64_t i = 0; i < std::int64_t{t.group} * t.head_dim; ++i) to[i] = from[i];
    }
  }

  void softmax(std::int64_t query, std::int64_t first) const {
    const std::int64_t r = t.row_begin + query / t.group, g = query % t.group;
    const std::int64_t start = list_start(r), n = list_count(r) - start;
    float* scores = s.scores + query * s.ld_scores;
    // Entries before the window get weight 0, so that rows of different windows can share a block
    // of V.
    for (std::int64_t j = first; j < start && j < shared; ++j) scores[j] = 0;
    row_scale(scores + start, t.scale, n);
    if (t.softcap > 0) row_softcap(scores + start, t.softcap, n);
    float best = row_max(scores + start, n);
    if (t.sinks != nullptr && t.sinks[g] > best) best = t.sinks[g];
    double sum = row_exp_sum(scores + start, n, best, scores + start);
    if (t.sinks != nullptr) sum += row_exp_sum(t.sinks + g, 1, best, nullptr);
    s.weights[query] = static_cast<float>(sum);
  }

  // Stores columns [d_begin, d_end).
  void store_row(std::int64_t r, int d_begin, int d_end) const {
    const int columns = within_head(d_end) - d_begin;
    for (int g = 0; g < t.group; ++g) {
      const std::int64_t query = (r - t.row_begin) * t.group + g;
      const float* from = s.sums + query * s.ld_head + d_begin;
      float* to = t.out + r * t.out_stride + std::int64_t{g} * t.head_dim + d_begin;
      const Vec weight = Vec::set(s.weights[query]);
      map_row(columns, [&](std::int64_t i, int count) {
        store_n(load_n(from + i, count) / weight, to + i, count);
      });
    }
  }

  // Where the earliest window begins.
  std::int64_t first() const {
    std::int64_t earliest = shared;
    for (std::int64_t r = t.row_begin; r < t.row_end; ++r)
      earliest = list_start(r) < earliest ? list_start(r) : earliest;
    return earliest;
  }

  // Scores of entries [begin, end) of the shared part. A block that is not full writes scores
  // beyond its entries, which the tails' scores overwrite.
  void shared_scores(std::int64_t begin, std::int64_t end) const {
    each_shared_block(begin, end, [&](Slots slots, std::int64_t j, Slots ahead) {
      score_block(slots, j, 0, rows * t.group, ahead);
    });
  }

  void tail_scores() const {
    if (t.tail_offsets == nullptr) {  // causal: one tail, of which row r sees r - row_begin entries
      each_tail_block(t.row_end - 1, 0, [&](Slots slots, std::int64_t j, Slots ahead) {
        score_block(slots, j, 0, rows * t.group, ahead);
      });
      return;
    }
    fetch(keys, tail_block(t.row_begin, tail_start(t.row_begin)), 0, t.head_dim);
    for (std::int64_t r = t.row_begin; r < t.row_end; ++r) {
      each_tail_block(r, tail_start(r), [&](Slots slots, std::int64_t j, Slots ahead) {
        score_block(slots, j, (r - t.row_begin) * t.group, t.group, ahead);
      });
    }
  }

  // Adds V of shared entries [begin, end) to the sums' columns [d_begin, d_end), whole panels, which
  // begin at 0 with entry `from`.
  void shared_values(std::int64_t begin, std::int64_t end, std::int64_t from, int d_begin,
                     int d_end) const {
    const std::int64_t queries = rows * t.group;
    if (begin == from) {
      for (std::int64_t q = 0; q < queries; ++q) {
        for (int d = d_begin; d < d_end; ++d) s.sums[q * s.ld_head + d] = 0;
      }
      fetch_first(values, begin, shared, d_begin, within_head(d_end));
    }
    each_shared_block(begin, end, [&](Slots slots, std::int64_t j, Slots ahead) {
      value_block(slots, j, 0, queries, d_begin, d_end, ahead);
    });
  }

  // Adds V of the tails and stores these columns of out.
  void other_values(int d_begin, int d_end) const {
    if (t.tail_offsets != nullptr)
      fetch(values, tail_block(t.row_begin, tail_start(t.row_begin)), d_begin, within_head(d_end));
    for (std::int64_t r = t.row_begin; r < t.row_end; ++r) {
      each_tail_block(r, tail_start(r), [&](Slots slots, std::int64_t j, Slots ahead) {
        value_block(slots, j, (r - t.row_begin) * t.group, t.group, d_begin, d_end, ahead);
      });
      store_row(r, d_begin, d_end);
    }
  }

  void run(const AttentionPart& part) const {
    const std::int64_t from = first();
    const std::int64_t whole = from + (shared - from) / kPanel * kPanel;  // end of whole blocks
    const std::int64_t begin = from + part.begin, end = from + part.end;
    switch (part.sweep) {
      case AttentionSweep::kAll:
        load_queries();
        fetch_first(keys, from, shared, 0, t.head_dim);
        shared_scores(from, shared);
        tail_scores();
        for (std::int64_t query = 0; query < rows * t.group; ++query) softmax(query, from);
        shared_values(from, shared, from, 0, static_cast<int>(s.ld_head));
        other_values(0, static_cast<int>(s.ld_head));
        return;
      case AttentionSweep::kQueries:
        load_queries();
        return;
      case AttentionSweep::kSharedScores:
        shared_scores(begin, end < whole ? end : whole);
        return;
      case AttentionSweep::kOtherScores:
        shared_scores(whole, shared);
        tail_scores();
        return;
      case AttentionSweep::kSoftmax:
        for (std::int64_t query = part.begin; query < part.end; ++query) softmax(query, from);
        return;
      case AttentionSweep::kSharedValues:
        shared_values(begin, end < shared ? end : shared, from, part.d_begin, part.d_end);
        return;
      case AttentionSweep::kOtherValues:
        other_values(part.d_begin, part.d_end);
        return;
    }
  }
};

template <Tuning kTuning>
void attention(const AttentionTask& task, std::int64_t longest, const AttentionPart& part,
               void* of_task, void* of_thread) {
  AttentionScratch s((task.row_end - task.row_begin) * task.group, task.head_dim, longest);
  s.place(of_task, of_thread);
  if (task.precision == Precision::kBF16) {
    AttentionRun<std::uint16_t, kTuning>{.t = task, .s = s}.run(part);
  } else {
    AttentionRun<float, kTuning>{.t = task, .s = s}.run(part);
  }
}

}  // namespace
}  // namespace triescope::kernels

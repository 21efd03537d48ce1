#include "core/tokenizer/bpe.h"

#include <algorithm>
#include <cstdio>
#include <queue>

#include "core/tokenizer/unicode.h"

namespace triescope::tokenizer {
namespace {

constexpr std::uint64_t kEmpty = ~0ull;

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}
std::size_t hash(std::uint64_t pair) {
  pair ^= pair >> 29;
  pair *= 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>(pair ^ (pair >> 32));
}

}  // namespace

Bpe::Bpe(const TokenizerSpec& spec)
    : byte_fallback_(spec.byte_fallback),
      ignore_merges_(spec.ignore_merges),
      fuse_unk_(spec.fuse_unk),
      unk_id_(spec.unk_id) {
  ids_.reserve(spec.vocab.size());
  for (std::size_t i = 0; i < spec.vocab.size(); ++i)
    if (!spec.vocab[i].empty()) ids_.emplace(spec.vocab[i], static_cast<std::int32_t>(i));
  std::size_t size = 16;
  while (size < spec.merges.size() * 2) size *= 2;
  merges_.assign(size, {kEmpty, 0, 0});
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const TokenizerSpec::Merge& merge = spec.merges[rank];
    const std::uint64_t pair = key(merge.left, merge.right);
    std::size_t at = hash(pair) & (size - 1);
    while (merges_[at].pair != kEmpty && merges_[at].pair != pair) at = (at + 1) & (size - 1);
    // The last of two equal merges counts, as in the map that tokenizers reads them into.
    merges_[at] = {pair, static_cast<std::int32_t>(rank), merge.result};
  }
  byte_ids_.assign(256, -1);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    byte_ids_[static_cast<std::size_t>(byte)] = id_of(name);
  }
}

std::int32_t Bpe::id_of(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

const Bpe::Merge* Bpe::find(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = key(left, right);
  const std::size_t mask = merges_.size() - 1;
  for (std::size_t at = hash(pair) & mask;; at = (at + 1) & mask) {
    if (merges_[at].pair == pair) return &merges_[at];
    if (merges_[at].pair == kEmpty) return nullptr;
  }
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& out) const {
  if (ignore_merges_) {
    if (const std::int32_t id = id_of(word); id >= 0) {
      out.push_back(id);
      return;
    }
  }
  struct Symbol {
    std::int32_t id, previous, next;
  };
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  const auto push = [&](std::int32_t id) {
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (at > 0) symbols.back().next = at;
    symbols.push_back({id, at - 1, -1});
  };
  bool last_unknown = false;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(word, at));
    const std::int32_t id = id_of(word.substr(at, length));
    if (id >= 0) {
      push(id);
      last_unknown = false;
    } else {
      bool bytes = byte_fallback_;
      for (std::size_t i = 0; bytes && i < length; ++i)
        bytes = byte_ids_[static_cast<unsigned char>(word[at + i])] >= 0;
      if (bytes) {
        for (std::size_t i = 0; i < length; ++i)
          push(byte_ids_[static_cast<unsigned char>(word[at + i])]);
        last_unknown = false;
      } else if (unk_id_ >= 0) {
        if (!(fuse_unk_ && last_unknown)) push(unk_id_);
        last_unknown = true;
      }
    }
    at += length;
  }
  if (symbols.empty()) return;

  // Lowest rank first, leftmost among equals. Entries that have gone stale are skipped when they
  // come up.
  struct Candidate {
    std::int32_t rank, at, left, right, result;
  };
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  const auto consider = [&](std::int32_t at) {
    if (at < 0 || symbols[static_cast<std::size_t>(at)].next < 0) return;
    const Symbol& left = symbols[static_cast<std::size_t>(at)];
    const Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    if (const Merge* merge = find(left.id, right.id))
      queue.push({merge->rank, at, left.id, right.id, merge->result});
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) consider(static_cast<std::int32_t>(i));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<std::size_t>(best.at)];
    if (left.id != best.left || left.next < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    if (right.id != best.right) continue;
    left.id = best.result;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = best.at;
    consider(left.previous);
    consider(best.at);
  }
  for (std::int32_t at = 0; at >= 0; at = symbols[static_cast<std::size_t>(at)].next)
    out.push_back(symbols[static_cast<std::size_t>(at)].id);
}

}  // namespace triescope::tokenizer

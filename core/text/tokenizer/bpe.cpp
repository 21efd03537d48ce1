#include "core/text/tokenizer/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/base/unicode.h"
#include "core/text/tokenizer/byte_tokens.h"

namespace triescope::tokenizer {
namespace {

constexpr std::uint64_t kEmpty = ~0ull;
constexpr std::int32_t kNoMerge = std::numeric_limits<std::int32_t>::max();
// With up to this many symbols, the best merge is found by looking at all of them.
constexpr std::size_t kScannedSymbols = 24;
constexpr char32_t kSpaceSign = 0x2581;
constexpr std::size_t kUsual = 128;  // ASCII without DEL, with the space sign in its place

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}
std::size_t hash(std::uint64_t pair) {
  pair ^= pair >> 29;
  pair *= 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>(pair ^ (pair >> 32));
}

std::size_t usual(char32_t code) { return code < 0x7F ? code : code == kSpaceSign ? 0x7F : kUsual; }

}  // namespace

Bpe::Bpe(const TokenizerSpec& spec)
    : byte_fallback_(spec.byte_fallback),
      ignore_merges_(spec.ignore_merges),
      fuse_unk_(spec.fuse_unk),
      unk_id_(spec.unk_id) {
  ids_.reserve(spec.vocab.size());
  for (std::size_t i = 0; i < spec.vocab.size(); ++i)
    if (!spec.vocab[i].empty()) ids_.emplace(spec.vocab[i], static_cast<std::int32_t>(i));
  for (const AddedToken& token : spec.added)
    if (!token.in_model) ids_.erase(token.content);
  for (std::size_t i = 0; i < spec.hidden.size(); ++i)
    if (spec.hidden[i]) ids_.erase(spec.vocab[i]);
  std::size_t size = 16;
  while (size < spec.merges.size() * 2) size *= 2;
  merges_.assign(size, {kEmpty, 0, 0});
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const TokenizerSpec::Merge& merge = spec.merges[rank];
    const std::uint64_t pair = key(merge.left, merge.right);
    std::size_t at = hash(pair) & (size - 1);
    while (merges_[at].pair != kEmpty && merges_[at].pair != pair) at = (at + 1) & (size - 1);
    // The last of two equal merges counts, as in the map into which tokenizers reads them.
    merges_[at] = {
        pair, spec.merge_ranks.empty() ? static_cast<std::int32_t>(rank) : spec.merge_ranks[rank],
        merge.result};
  }
  byte_ids_ = byte_token_ids(spec);
  ascii_ids_.assign(128, -1);
  for (std::size_t c = 0; c < 128; ++c) ascii_ids_[c] = id_of(std::string(1, static_cast<char>(c)));
  find_joints(spec);
}

void Bpe::find_joints(const TokenizerSpec& spec) {
  // Cutting gives the same result only where a word is always what its characters merge into, and
  // where no merge involves what stands for characters outside the vocabulary.
  if (ignore_merges_) return;
  const bool bytes =
      byte_fallback_ && std::find(byte_ids_.begin(), byte_ids_.end(), -1) == byte_ids_.end();
  unknowns_meet_ = !bytes && unk_id_ >= 0 && (fuse_unk_ || byte_fallback_);
  std::unordered_set<std::int32_t> untouched(byte_ids_.begin(), byte_ids_.end());
  untouched.insert(unk_id_);
  untouched.erase(-1);
  usual_joints_.assign(kUsual * kUsual, false);
  for (const TokenizerSpec::Merge& merge : spec.merges) {
    if (untouched.count(merge.left) != 0 || untouched.count(merge.right) != 0) return;
    const std::string& left = spec.vocab[static_cast<std::size_t>(merge.left)];
    const std::string& right = spec.vocab[static_cast<std::size_t>(merge.right)];
    const char32_t a = decode_utf8(left, utf8_before(left, left.size())), b = decode_utf8(right, 0);
    if (usual(a) < kUsual && usual(b) < kUsual)
      usual_joints_[usual(a) * kUsual + usual(b)] = true;
    else
      joints_.insert(static_cast<std::uint64_t>(a) << 32 | b);
  }
  pieces_ = true;
}

bool Bpe::lacks(char32_t code) const {
  if (code < 128) return ascii_ids_[code] < 0;
  std::string text;
  append_utf8(text, code);
  return id_of(text) < 0;
}

std::size_t Bpe::piece_end(std::string_view word, std::size_t at) const {
  if (!pieces_ || at >= word.size()) return word.size();
  char32_t left = decode_utf8(word, at);
  at += utf8_step(word, at);
  while (at < word.size()) {
    const auto byte = static_cast<unsigned char>(word[at]);
    const std::size_t length = byte < 0x80 ? 1 : utf8_step(word, at);
    const char32_t right = byte < 0x80 ? byte : decode_utf8(word, at);
    const std::size_t a = usual(left), b = usual(right);
    const bool joined = a < kUsual && b < kUsual
                            ? usual_joints_[a * kUsual + b]
                            : joints_.count(static_cast<std::uint64_t>(left) << 32 | right) != 0;
    if (!joined && !(unknowns_meet_ && lacks(left) && lacks(right))) return at;
    left = right;
    at += length;
  }
  return at;
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

// A symbol for each character, or for each byte of a character that the vocabulary lacks.
void Bpe::start(std::string_view word, std::vector<Symbol>& symbols) const {
  symbols.clear();
  const auto push = [&](std::int32_t id) {
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (at > 0) symbols.back().next = at;
    symbols.push_back({id, at - 1, -1, kNoMerge, 0});
  };
  // tokenizers holds an <unk> back until the next character of the vocabulary, or the end, so byte
  // tokens in between precede it.
  bool unknown = false;
  for (std::size_t at = 0; at < word.size();) {
    const auto first = static_cast<unsigned char>(word[at]);
    const std::size_t length = first < 0x80 ? 1 : utf8_step(word, at);
    const std::int32_t id = first < 0x80 ? ascii_ids_[first] : id_of(word.substr(at, length));
    const auto byte_id = [&](std::size_t i) {
      return byte_ids_[static_cast<unsigned char>(word[at + i])];
    };
    bool bytes = byte_fallback_;
    for (std::size_t i = 0; bytes && i < length; ++i) bytes = byte_id(i) >= 0;
    if (id >= 0) {
      if (unknown) push(unk_id_);
      unknown = false;
      push(id);
    } else if (bytes) {
      for (std::size_t i = 0; i < length; ++i) push(byte_id(i));
    } else if (unk_id_ >= 0) {
      if (unknown && !fuse_unk_) push(unk_id_);
      unknown = true;
    }
    at += length;
  }
  if (unknown) push(unk_id_);
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& out, Scratch& scratch) const {
  if (ignore_merges_) {
    if (const std::int32_t id = id_of(word); id >= 0) {
      out.push_back(id);
      return;
    }
  }
  std::vector<Symbol>& symbols = scratch.symbols;
  start(word, symbols);
  if (symbols.empty()) return;
  const auto look_up = [&](Symbol& left) {
    const Merge* merge =
        left.next < 0 ? nullptr : find(left.id, symbols[static_cast<std::size_t>(left.next)].id);
    left.rank = merge ? merge->rank : kNoMerge;
    if (merge) left.result = merge->result;
  };
  // Joins a symbol with the next one; the two pairs that it belongs to get new ranks.
  const auto join = [&](Symbol& left) {
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    left.id = left.result;
    right.rank = kNoMerge;
    left.next = right.next;
    if (left.next >= 0)
      symbols[static_cast<std::size_t>(left.next)].previous =
          static_cast<std::int32_t>(&left - symbols.data());
    look_up(left);
    if (left.previous >= 0) look_up(symbols[static_cast<std::size_t>(left.previous)]);
  };
  for (Symbol& symbol : symbols) look_up(symbol);

  // The lowest rank first, the leftmost among equals.
  if (symbols.size() <= kScannedSymbols) {
    while (true) {
      Symbol* best = &symbols[0];
      for (Symbol* symbol = best; symbol->next >= 0;) {
        symbol = &symbols[static_cast<std::size_t>(symbol->next)];
        if (symbol->rank < best->rank) best = symbol;
      }
      if (best->rank == kNoMerge) break;
      join(*best);
    }
  } else {
    // Entries are rank << 32 | place; an entry whose symbol has another rank by now is stale.
    std::vector<std::uint64_t>& queue = scratch.queue;
    queue.clear();
    const auto entry = [](std::int32_t rank, std::size_t at) {
      return static_cast<std::uint64_t>(rank) << 32 | at;
    };
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].rank != kNoMerge) queue.push_back(entry(symbols[i].rank, i));
    std::make_heap(queue.begin(), queue.end(), std::greater<>());
    const auto push = [&](std::int32_t at) {
      const std::int32_t rank = symbols[static_cast<std::size_t>(at)].rank;
      if (rank == kNoMerge) return;
      queue.push_back(entry(rank, static_cast<std::size_t>(at)));
      std::push_heap(queue.begin(), queue.end(), std::greater<>());
    };
    while (!queue.empty()) {
      const std::uint64_t best = queue.front();
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      queue.pop_back();
      const auto at = static_cast<std::int32_t>(best & 0xFFFFFFFFu);
      Symbol& symbol = symbols[static_cast<std::size_t>(at)];
      if (symbol.rank != static_cast<std::int32_t>(best >> 32)) continue;
      join(symbol);
      push(at);
      if (symbol.previous >= 0) push(symbol.previous);
    }
  }
  for (std::int32_t at = 0; at >= 0; at = symbols[static_cast<std::size_t>(at)].next)
    out.push_back(symbols[static_cast<std::size_t>(at)].id);
}

}  // namespace triescope::tokenizer

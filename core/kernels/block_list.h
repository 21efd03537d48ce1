// A list of block types by their ggml numbers, and the choice among them. There is one for the CPU
// (cpu/blocks.h) and one for CUDA (device_blocks.cuh). Kernels compute directly from the blocks of
// every type in the list.
#pragma once

#include <array>
#include <utility>

#include "core/files/dequantise.h"

namespace triescope::kernels {
namespace {

template <formats::GgmlType kNumber, class T>
struct Numbered {
  static constexpr formats::GgmlType kType = kNumber;
  using Block = T;
};

template <class... Entries>
struct BlockList {
  [[maybe_unused]] static constexpr std::array kTypes = {Entries::kType...};

  // Calls f(Block{}) with the block type of `type`; false: the list does not have it.
  template <class F>
  static bool with(formats::GgmlType type, F&& f) {
    return ((type == Entries::kType && (f(typename Entries::Block{}), true)) || ...);
  }

  // The same for every `kPieces`-th entry from `kPiece` on, for a list that is compiled in pieces.
  template <int kPiece, int kPieces, class F>
  static bool with_of_piece(formats::GgmlType type, F&& f) {
    return [&]<int... kAt>(std::integer_sequence<int, kAt...>) {
      return (call_if<Entries, kAt % kPieces == kPiece>(type, f) || ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(Entries))>());
  }

 private:
  template <class Entry, bool kHere, class F>
  static bool call_if(formats::GgmlType type, F& f) {
    if constexpr (kHere) {
      if (type != Entry::kType) return false;
      f(typename Entry::Block{});
      return true;
    }
    return false;
  }
};

}  // namespace
}  // namespace triescope::kernels

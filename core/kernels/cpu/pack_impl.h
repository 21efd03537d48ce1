// Packs rows of a file's blocks into a panel (blocks.h).
#pragma once

#include <cstring>

#include "core/kernels/cpu/blocks.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {
namespace {

// Packs all lanes of a panel block. rows: the blocks of 32 outputs.
template <class Block>
inline __attribute__((always_inline)) void repack_lanes(const unsigned char* rows,
                                                        std::int64_t stride, unsigned char* to) {
  for (int lane = 0; lane < kBlockLanes; lane += Vec::kLanes)
    Block::repack(FileBlocks<Vec>{rows + lane * stride, stride}, PanelLanes<Block, Vec>{to, lane});
}

// Packs lanes [lane, lane + count) of a panel block and no others.
template <class Block>
void copy_lanes(const unsigned char* from, int lane, int count, unsigned char* to) {
  const auto copy = [&](int rows, int bytes) {
    for (int row = 0; row < rows; ++row, from += kBlockLanes * bytes, to += kBlockLanes * bytes)
      std::memcpy(to + lane * bytes, from + lane * bytes, static_cast<std::size_t>(count * bytes));
  };
  copy(Block::kWords, 4);
  copy(Block::kBytes, 1);
  copy(Block::kHalves, 2);
}

template <class Block>
void pack_panel_of(const unsigned char* rows, int lane, int count, std::int64_t k,
                   unsigned char* panel) {
  static_assert(Block::kPanelBytes ==
                (Block::kWords * 4 + Block::kBytes + Block::kHalves * 2) * kBlockLanes);
  // A panel has as many streams as outputs, more than the hardware's prefetcher follows.
  constexpr int kFetchAhead = 128;
  const std::int64_t blocks = k / Block::kValues, stride = blocks * Block::kFileBytes;
  // A whole panel block is assembled in the cache and then written past it: it is not read again
  // soon, and the cache would first read the memory that it overwrites.
  alignas(64) unsigned char whole[Block::kPanelBytes];
  unsigned char some[kBlockLanes * Block::kFileBytes];  // for fewer than 32 blocks
  if (count < kBlockLanes) std::memset(some, 0, sizeof some);
  for (std::int64_t b = 0; b < blocks;
       ++b, rows += Block::kFileBytes, panel += Block::kPanelBytes) {
    // Fetches once for each line, with the first of its blocks.
    if (Block::kFileBytes >= 64 || b * Block::kFileBytes % 64 < Block::kFileBytes) {
      for (int i = 0; i < count; ++i) {
        for (int line = 0; line < Block::kFileBytes; line += 64)
          __builtin_prefetch(rows + i * stride + kFetchAhead + line);
      }
    }
    if (count == kBlockLanes) {
      repack_lanes<Block>(rows, stride, whole);
      if constexpr (Block::kPanelBytes % sizeof(Vec::Codes) == 0) {
        for (int at = 0; at < Block::kPanelBytes; at += static_cast<int>(sizeof(Vec::Codes))) {
          Vec::Codes c;
          std::memcpy(&c, whole + at, sizeof c);
          Vec::stream(panel + at, c);
        }
      } else {  // every other block begins in the middle of a vector
        std::memcpy(panel, whole, sizeof whole);
      }
    } else {
      for (int i = 0; i < count; ++i) {
        std::memcpy(some + (lane + i) * Block::kFileBytes, rows + i * stride,
                    std::size_t{Block::kFileBytes});
      }
      repack_lanes<Block>(some, Block::kFileBytes, whole);
      copy_lanes<Block>(whole, lane, count, panel);
    }
  }
  Vec::finish_streams();
}

void pack_panel(formats::GgmlType type, const unsigned char* rows, int lane, int count,
                std::int64_t k, void* panel) {
  BlockTypes::with(type, [&]<class Block>(Block) {
    pack_panel_of<Block>(rows, lane, count, k, static_cast<unsigned char*>(panel));
  });
}

}  // namespace
}  // namespace triescope::kernels

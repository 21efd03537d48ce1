// The block types of GGUF files as linear layers compute from them: a file a type in blocks/, or one
// for types that differ in bits and a minimum (nibble_block.h). Each has
//
//   kValues, kFileBytes   values and bytes of a block of the file (along k, of one output)
//   kPanelBytes           bytes of that block of 32 outputs, side by side: a panel block
//   kUnit                 values that one call of decode() gives: those of one scale
//   kFetchSpread          whether lines further on are fetched one by one between the values of a
//                         unit, or before them: found by measuring, a core of Sapphire Rapids, one
//                         row (Q8_0 spread 16.8 instead of 11.6 GB/s, Q4_1 13.7 instead of 11.7,
//                         Q4_K 12.0 instead of 11.2; nothing for Q2_K and Q3_K)
//   kPairRows             rows up to which two panels are multiplied side by side where a panel is
//                         two vectors and Tuning::pairs is set: their sums wait less for each
//                         other, and memory is read in two places; as long as registers last (two
//                         cores, from memory, one row: Q5_0, Q5_1, Q5_K and Q6_K 0.75 to 0.77 of
//                         the time, Q4_0 0.96, Q3_K 1.12 to 1.24; Q8_0, 2 to 6 rows: 0.84 to 0.92;
//                         the others with 2 to 4 rows 0.99 to 1.45)
//   kFewerPairs           whether two vectors side by side fit with fewer rows than others have, as
//                         what ScaledCodes keeps takes registers (same core, 12 rows from the
//                         cache: Q3_K and Q5_0 0.8 of the time one by one; Q4_1 1.02)
//   kWords, kBytes, kHalves   what a panel block holds of an output, in this order
//   repack(from, to)      the blocks of a vector of outputs (FileBlocks) into their lanes of a panel
//                         block (PanelLanes)
//   decode<V, NV, Decoding>(columns, fp16, unit, use)   calls use(k, w) for k = 0 .. kUnit - 1 in
//                         order: w holds NV vectors of weights, those of the columns, whose fp16
//                         numbers are in `fp16` (BlockHalves)
//
// A panel block holds a word, byte or fp16 of every output next to each other, so that a vector is
// 16 (8, 4) outputs at one k, as in the panels of plain weights. Every weight that is decoded has the
// bits of formats::dequantise, provided that the scale is finite; zeros have their sign where Decoding
// asks for it.
//
// Included by linear.cpp for the sizes and by each variant for the rest: all of it has internal
// linkage, because variants are compiled for other instruction sets.
#pragma once

#include "core/files/dequantise.h"
#include "core/kernels/block_list.h"
#include "core/kernels/cpu/blocks/iq4_nl.h"
#include "core/kernels/cpu/blocks/mxfp4.h"
#include "core/kernels/cpu/blocks/nibble_block.h"
#include "core/kernels/cpu/blocks/nvfp4.h"
#include "core/kernels/cpu/blocks/q2_k.h"
#include "core/kernels/cpu/blocks/q3_k.h"
#include "core/kernels/cpu/blocks/q4_k.h"
#include "core/kernels/cpu/blocks/q5_k.h"
#include "core/kernels/cpu/blocks/q6_k.h"
#include "core/kernels/cpu/blocks/q8_0.h"

namespace triescope::kernels {
namespace {

using BlockTypes =
    BlockList<Numbered<formats::GgmlType::kQ4_0, Q4_0>, Numbered<formats::GgmlType::kQ4_1, Q4_1>,
              Numbered<formats::GgmlType::kQ5_0, Q5_0>, Numbered<formats::GgmlType::kQ5_1, Q5_1>,
              Numbered<formats::GgmlType::kQ8_0, Q8_0>, Numbered<formats::GgmlType::kQ2_K, Q2_K>,
              Numbered<formats::GgmlType::kQ3_K, Q3_K>, Numbered<formats::GgmlType::kQ4_K, Q4_K>,
              Numbered<formats::GgmlType::kQ5_K, Q5_K>, Numbered<formats::GgmlType::kQ6_K, Q6_K>,
              Numbered<formats::GgmlType::kIQ4_NL, Iq4Nl>,
              Numbered<formats::GgmlType::kMXFP4, Mxfp4>,
              Numbered<formats::GgmlType::kNVFP4, Nvfp4>>;

}  // namespace
}  // namespace triescope::kernels

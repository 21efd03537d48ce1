// DraftHead: a trained head beside the target, ready to run: its description and its two halves, of
// which each kind has one or both, or the masks that the target's own forward reads. It is made from
// a published file, or by hand in tests. Not thread-safe; it borrows the target for which it was
// loaded, which must outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/files/draft_head/head_config.h"
#include "core/files/draft_head/head_file.h"
#include "core/model/heads/token_heads.h"
#include "core/model/mask_inputs.h"
#include "core/model/model.h"

namespace triescope {

struct DraftHead {
  formats::HeadConfig config;
  std::string path;
  std::string description;         // HeadFile::describe()
  std::vector<std::string> notes;  // HeadFile::notes()
  std::int64_t parameters = 0, file_bytes = 0;
  // The target's tokens that it can draft, where it has a vocabulary of its own; empty: all.
  std::vector<std::int32_t> vocabulary;
  std::unique_ptr<ThreadPool> pool;  // for the two halves, on the CPU kernels
  // EAGLE's, MTP's, Hydra's prefix layer (eagle_model.h), DFlash's (block_model.h); else null
  std::unique_ptr<Model> layers;
  std::unique_ptr<TokenHeads> tokens;  // Medusa's and Hydra's heads; else null
  std::unique_ptr<MaskInputs> masks;   // SPACE's; else null

  // The target's states that the head reads, numbered as in ForwardBatch::feature_layers.
  std::vector<std::int32_t> feature_layers() const;
  // The state of `layers` that drafts below a drafted token read.
  std::int32_t feedback_layer() const {
    return config.norm_output || config.kind == formats::HeadKind::kHydra ? kFinalNorm
                                                                          : config.layers;
  }
};

// The head runs where its target does. Where the target runs through libtorch (on a GPU, or
// libtorch's reference kernels on a CPU), it runs on the target's device in its dtype. Elsewhere it
// runs on the CPU kernels with `threads` threads (0 = all cores), in bf16 if the target does, else
// in fp32. The notes say what runs more slowly than it could. `before_reading` sees the file once
// it is known to fit the target; what it throws ends the call. Errors: those of HeadFile::open;
// kOutOfMemory, kCuda.
// `reading`: HeadFile::open's.
std::unique_ptr<DraftHead> load_draft_head(
    const std::string& path, Model& target, int threads = 0,
    const std::function<void(const formats::HeadFile&)>& before_reading = {},
    const formats::HeadReading& reading = {});

}  // namespace triescope

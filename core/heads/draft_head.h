// DraftHead: a trained head beside the target, ready to run: what it is, and its two halves, of
// which a kind has one or both, or what the target's own forward reads of it (masks). Made from a published file, or by hand in tests. Not thread-safe;
// it borrows the target it was loaded for, which must outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/formats/draft_head/head_config.h"
#include "core/formats/draft_head/head_file.h"
#include "core/heads/token_heads.h"
#include "core/model/mask_inputs.h"
#include "core/model/model.h"

namespace triescope {

struct DraftHead {
  formats::HeadConfig config;
  std::string path;
  std::string description;         // HeadFile::describe()
  std::vector<std::string> notes;  // HeadFile::notes()
  std::int64_t parameters = 0, file_bytes = 0;
  std::unique_ptr<ThreadPool> pool;    // of what follows, on the CPU kernels
  std::unique_ptr<Model> layers;       // EAGLE's, Hydra's prefix layer (eagle_model.h); else null
  std::unique_ptr<TokenHeads> tokens;  // Medusa's and Hydra's heads; else null
  std::unique_ptr<MaskInputs> masks;   // SPACE's; else null

  // The states of the target that it reads, as ForwardBatch::feature_layers counts them.
  std::vector<std::int32_t> feature_layers() const;
  // Of `layers`: the state that drafts below a drafted token read.
  std::int32_t feedback_layer() const {
    return config.norm_output || config.kind == formats::HeadKind::kHydra ? kFinalNorm
                                                                          : config.layers;
  }
};

// The head runs where its target does: on the target's device and in its dtype where that runs
// through libtorch (a GPU, or libtorch's reference kernels on a CPU), else on the CPU kernels in
// `threads` threads (0 = all cores), in bf16 where the target does, else in fp32. What runs more
// slowly than it could is among the notes. `before_reading` sees the file once it is known to fit
// the target; what it throws ends the call. Errors: HeadFile::open's; kOutOfMemory, kCuda.
std::unique_ptr<DraftHead> load_draft_head(
    const std::string& path, Model& target, int threads = 0,
    const std::function<void(const formats::HeadFile&)>& before_reading = {});

}  // namespace triescope

#include "core/model/heads/draft_head_torch.h"

#include "core/model/heads/block_torch.h"
#include "core/model/heads/eagle_torch.h"
#include "core/model/heads/token_heads_torch.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

void load_torch_halves(const formats::HeadFile& file, const Model& target, DraftHead& head) {
  const at::TensorOptions& options = target.torch_shared()->tensor_options();
  on_device(options.device(), [&] {
    TorchHeadLoader loader(file, options);
    if (file.kind() == formats::HeadKind::kMedusa) head.tokens = make_medusa_torch(loader, target);
    if (file.kind() == formats::HeadKind::kHydra) head.tokens = make_hydra_torch(loader, target);
    if (file.kind() == formats::HeadKind::kDFlash)
      head.layers = make_block_torch(loader, target);
    else if (file.config().has_layers())
      head.layers = make_eagle_torch(loader, target);
  });
}

}  // namespace triescope

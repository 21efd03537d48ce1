#include "core/model/heads/draft_head.h"

#include "core/files/draft_head/head_file.h"
#include "core/files/weights.h"
#include "core/model/heads/block_model.h"
#include "core/model/heads/draft_head_torch.h"
#include "core/model/heads/eagle_model.h"
#include "core/model/heads/head_tensors.h"
#include "core/model/heads/mask_tensors.h"

namespace triescope {

using formats::HeadFile;
using formats::HeadKind;

std::vector<std::int32_t> DraftHead::feature_layers() const {
  if (config.feature_layers.empty()) return {kFinalNorm};
  return {config.feature_layers.begin(), config.feature_layers.end()};
}

namespace {

void load_cpu_halves(const HeadFile& file, Model& target, int threads, DraftHead& head) {
  head.pool = std::make_unique<ThreadPool>(threads);
  const auto precision =
      target.info().dtype == DType::kBF16 ? kernels::Precision::kBF16 : kernels::Precision::kF32;
  HeadLoader loader(file, precision, *head.pool);
  if (file.kind() == HeadKind::kMedusa) head.tokens = make_medusa_heads(loader, target);
  if (file.kind() == HeadKind::kHydra) head.tokens = make_hydra_heads(loader, target);
  if (file.kind() == HeadKind::kDFlash)
    head.layers = make_block_model(loader, target, precision);
  else if (file.config().has_layers())
    head.layers = make_eagle_model(loader, target, precision);
}

}  // namespace

std::unique_ptr<DraftHead> load_draft_head(
    const std::string& path, Model& target, int threads,
    const std::function<void(const HeadFile&)>& before_reading,
    const formats::HeadReading& reading) {
  const ModelInfo& info = target.info();
  // Values that a head takes from its target (rope, norm_eps) are in the target's own
  // configuration.
  formats::TargetShape shape =
      formats::target_shape(formats::WeightSource::open(info.path)->config());
  shape.name = info.name;
  const HeadFile file = HeadFile::open(path, shape, reading);
  if (before_reading) before_reading(file);
  auto head = std::make_unique<DraftHead>();
  head->config = file.config();
  head->path = path;
  head->description = file.describe();
  head->notes = file.notes();
  head->parameters = file.parameters();
  head->file_bytes = file.file_bytes();
  head->vocabulary = draft_vocabulary(file);
  if (file.kind() == HeadKind::kSpace) {
    head->masks = std::make_unique<MaskInputs>(read_mask_inputs(file));
  } else if (target.torch_shared() != nullptr) {
    load_torch_halves(file, target, *head);
  } else {
    load_cpu_halves(file, target, threads, *head);
  }
  if (head->layers && !head->layers->info().warning.empty())
    head->notes.push_back(head->layers->info().warning);
  return head;
}

}  // namespace triescope

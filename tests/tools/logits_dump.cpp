// logits_dump MODEL IDS OUT: the logits after each prefix of a text, in one step of the model
// (fp32, CPU). IDS: a file of token ids. OUT: fp32, [ids, vocabulary]. For
// tests/golden/model_accuracy.py.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/base/count_up.h"
#include "core/model/model.h"

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: logits_dump MODEL IDS OUT\n", stderr);
    return 2;
  }
  std::ifstream in(argv[2]);
  const std::vector<std::int32_t> ids(std::istream_iterator<std::int32_t>(in), {});
  const auto model = triescope::load_model(argv[1], {.device = "cpu"});
  const auto kv = model->make_kv(static_cast<int>(ids.size()));
  std::vector<std::int32_t> order = triescope::count_up(ids.size());
  triescope::ForwardBatch batch;
  batch.tokens = ids;
  batch.positions = batch.slots = batch.logit_rows = order;
  batch.text_length = static_cast<std::int32_t>(ids.size());
  const auto logits = model->forward(batch, *kv).logits;
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(logits.data()),
            static_cast<std::streamsize>(logits.size() * sizeof(float)));
  out.close();
  return out ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

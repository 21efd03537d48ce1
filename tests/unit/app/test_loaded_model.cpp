// Models with and without a tokenizer, and the draft model beside a target.
#include <doctest/doctest.h>

#include "app/session/loaded_model.h"
#include "app/session/memory_check.h"
#include "core/base/error.h"
#include "core/model/memory_need.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/skip.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_loaded_model {
namespace {

using test::refusal;
using test::TempDir;

struct Models {
  TempDir folder;
  const std::string plain = write_tiny_model(folder.path(), "plain");
  const std::string other = write_tiny_model(folder.path(), "other", {.layers = 1, .seed = 2});
  const std::string wide = write_tiny_model(folder.path(), "wide", {.vocabulary = 49});
  const std::string texts = write_tiny_model(folder.path(), "texts", {.tokenizer = true});
  LoadedModel target;
  LoadedDraft draft;

  void load(const std::string& path) { target.load(path, {.threads = 1}, {}, {}); }
  DraftWith drafts_with(const std::string& path, const std::string& method = "draft_model") {
    RunRequest request;
    request.method = method;
    request.draft_model = path;
    return draft_for(request, target, draft, {}, {});
  }
};

TEST_CASE_FIXTURE(Models, "loaded model: a model without a tokenizer gets one that shows ids") {
  load(plain);
  CHECK_FALSE(target.tokenizer->encodes_text());
  CHECK(target.tokenizer->vocab_size() == 48);
  CHECK(target.tokenizer->piece(47) == "<47>");
  load(texts);
  CHECK(target.tokenizer->encodes_text());
  CHECK(target.tokenizer->piece(1) == "B");
}

TEST_CASE_FIXTURE(
    Models, "loaded model: a tokenizer that is there and broken is refused, not replaced by ids") {
  test::GgufWriter broken = tiny_model({});
  broken.add("tokenizer.ggml.tokens", std::string("not a list"));
  test::write_file(folder.path() / "broken.gguf", broken.bytes());
  const std::string path = (folder.path() / "broken.gguf").string();
  CHECK(refusal(ErrorCode::kCorruption, [&] { open_tokenizer(path); }).find(path) == 0);
  refusal(ErrorCode::kNotFound, [&] { open_tokenizer("/no/such.gguf"); });
}

TEST_CASE_FIXTURE(Models, "loaded model: it is told by path, device, dtype and threads") {
  load(plain);
  CHECK(target.is(plain, {.threads = 1}));
  CHECK_FALSE(target.is(other, {.threads = 1}));
  CHECK_FALSE(target.is(plain, {.threads = 2}));
  CHECK_FALSE(target.is(plain, {.dtype = DType::kBF16, .threads = 1}));
  CHECK_FALSE(target.is(plain, {.device = "cuda", .threads = 1}));
  CHECK_FALSE(LoadedModel().is("", {}));
}

TEST_CASE_FIXTURE(Models, "loaded model: what cannot be opened leaves the loaded model there") {
  load(plain);
  bool freed = false;
  refusal(ErrorCode::kNotFound,
          [&] { target.load("/no/such.gguf", {}, {}, {}, [&] { freed = true; }); });
  CHECK_FALSE(freed);
  CHECK(target.is(plain, {.threads = 1}));
  target.load(other, {.threads = 1}, {}, {}, [&] {
    freed = true;
    CHECK(target.path == plain);  // the target is freed only after this
  });
  CHECK(freed);
  CHECK(target.path == other);
}

TEST_CASE_FIXTURE(
    Models, "loaded model: a model that cannot be read to its end leaves the loaded one there") {
  load(plain);
  bool freed = false;
  const ProgressSink fail = [](const std::string&, double, double) {
    throw Error(ErrorCode::kIoError, "the disk is gone");
  };
  refusal(ErrorCode::kIoError,
          [&] { target.load(other, {.threads = 1}, fail, {}, [&] { freed = true; }); });
  CHECK_FALSE(freed);
  REQUIRE(target.is(plain, {.threads = 1}));
  CHECK(target.model->info().layers == 2);
  CHECK(target.tokenizer->piece(47) == "<47>");
}

TEST_CASE_FIXTURE(
    Models, "loaded model: a model larger than the memory is refused before anything is read") {
  load(plain);
  if (free_memory("cpu") > 300'000'000'000) TRIESCOPE_SKIP("this machine could load it");
  // 382 GB of weights, in a file without content.
  const auto huge = folder.path() / "huge";
  std::filesystem::create_directory(huge);
  test::write_file(huge / "config.json", R"({"model_type": "llama", "hidden_size": 65536,
      "intermediate_size": 65536, "num_attention_heads": 512, "num_hidden_layers": 1,
      "vocab_size": 1000000, "tie_word_embeddings": true})");
  nlohmann::json header;
  std::uintmax_t end = 0;
  const auto add = [&](const std::string& name, std::vector<std::uintmax_t> shape) {
    std::uintmax_t size = 4;
    for (const std::uintmax_t n : shape) size *= n;
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {end, end + size}}};
    end += size;
  };
  add("model.embed_tokens.weight", {1000000, 65536});
  add("model.norm.weight", {65536});
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
    add("model.layers.0." + std::string(norm) + ".weight", {65536});
  for (const char* matrix : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                             "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
    add("model.layers.0." + std::string(matrix) + ".weight", {65536, 65536});
  const std::string text = header.dump();
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(text.size() & 255);
  bytes[1] = static_cast<char>(text.size() >> 8);
  test::write_file(huge / "model.safetensors", bytes + text);
  std::filesystem::resize_file(huge / "model.safetensors", 8 + text.size() + end);
  bool freed = false;
  const std::string why = refusal(ErrorCode::kOutOfMemory, [&] {
    target.load(huge.string(), {.threads = 1}, {}, {}, [&] { freed = true; });
  });
  CHECK(why.find("(382 GB of weights") != std::string::npos);
  CHECK(why.find(" are free on cpu; ") != std::string::npos);
  CHECK_FALSE(freed);
  CHECK(target.is(plain, {.threads = 1}));
}

TEST_CASE_FIXTURE(Models,
                  "loaded model: a draft model is loaded where its method needs one, and once") {
  load(plain);
  CHECK(drafts_with(other, "greedy").model == nullptr);
  CHECK(drafts_with("").model == nullptr);
  CHECK_FALSE(draft.model);
  const DraftWith same = drafts_with(plain);
  CHECK(same.model == target.model.get());
  CHECK(same.tokenizer == target.tokenizer.get());
  CHECK_FALSE(draft.model);
  const DraftWith with = drafts_with(other);
  CHECK(with.model == draft.model.get());
  CHECK(with.model->info().layers == 1);
  CHECK(draft.options.threads == 1);  // as many as the target's
  CHECK(drafts_with(other).model == with.model);
}

TEST_CASE_FIXTURE(Models, "loaded model: a draft model goes to the device that is asked for it") {
  load(plain);
  RunRequest request;
  request.method = "draft_model";
  request.draft_model = plain;
  request.draft_device = "cpu";
  CHECK(draft_for(request, target, draft, {}, {}).model == target.model.get());
  // On another device the target's own file would be a second model; this device does not exist.
  request.draft_device = "cuda:99";
  CHECK(refusal(ErrorCode::kCuda, [&] {
          draft_for(request, target, draft, {}, {});
        }).starts_with("device cuda:99: "));
  CHECK(target.is(plain, {.threads = 1}));
  request.draft_device = "gpu";
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { check_request(request); }) ==
        "--draft-device: expected cpu, cuda or cuda:N, found 'gpu'");
}

TEST_CASE_FIXTURE(Models,
                  "loaded model: a draft head that does not fit: the one that is loaded stays") {
  const std::string heads = test::source_dir().string() + "/tests/fixtures/draft_heads/";
  load(heads + "target");
  int freed = 0;
  const auto use = [&](const std::string& name, LoadedDraft& loaded) {
    RunRequest request;
    request.method = "eagle3";
    request.draft_model = heads + name;
    return draft_for(request, target, loaded, {}, {}, [&] { ++freed; }).head;
  };
  const DraftHead* const first = use("eagle3", draft);
  CHECK(freed == 1);
  const std::int64_t held = head_need(first->parameters, first->file_bytes, {.device = "cuda:0"});
  target.options.device = "cuda:0";  // its free memory can be set by a test
  const auto with_free = [&](std::int64_t bytes, const auto& act) {
    ::setenv("TRIESCOPE_CUDA_STAND_IN_FREE", std::to_string(bytes).c_str(), 1);
    act();
    ::unsetenv("TRIESCOPE_CUDA_STAND_IN_FREE");
  };
  const std::string wide = heads + "eagle3-two-layers";
  std::string why;
  with_free(
      0, [&] { why = refusal(ErrorCode::kOutOfMemory, [&] { use("eagle3-two-layers", draft); }); });
  CHECK(why.starts_with(wide + ": the draft head needs "));
  CHECK(
      why.ends_with(" are free on cuda:0; close other programs, or take a smaller head or model"));
  CHECK(draft.head.get() == first);
  CHECK(freed == 1);
  // With room for one of them only, the old one goes, once.
  with_free(held, [&] {
    LoadedDraft none;
    refusal(ErrorCode::kOutOfMemory, [&] { use("eagle3-specforge", none); });
    CHECK(freed == 1);
    CHECK(use("eagle3-specforge", draft)->path == heads + "eagle3-specforge");
  });
  CHECK(freed == 2);
}

TEST_CASE_FIXTURE(
    Models,
    "loaded model: without a tokenizer, a draft model needs a vocabulary of the same size") {
  load(plain);
  CHECK(drafts_with(other).tokenizer == target.tokenizer.get());
  CHECK(drafts_with(texts).tokenizer == target.tokenizer.get());
  const std::string why = refusal(ErrorCode::kNotSupported, [&] { drafts_with(wide); });
  CHECK(why ==
        "draft model wide: expected the vocabulary of plain, 48 tokens (wide has no tokenizer to "
        "compare them by); found 49");
  load(texts);
  CHECK(drafts_with(other).tokenizer == target.tokenizer.get());
  refusal(ErrorCode::kNotSupported, [&] { drafts_with(wide); });
}

}  // namespace
}  // namespace triescope::app::test_loaded_model

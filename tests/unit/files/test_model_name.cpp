#include <doctest/doctest.h>

#include "core/files/model_name.h"

namespace triescope::formats::test_model_name {
namespace {

TEST_CASE("model name: a model's name is its file's where general.name is that of a training run") {
  const char* const run = "Smollm2 135M 8k Lc100K Mix1 Ep2";
  CHECK(gguf_model_name(run, "/m/SmolLM2-135M-Instruct.Q4_1.gguf") == "SmolLM2-135M-Instruct");
  CHECK(gguf_model_name(run, "SmolLM2-135M-Instruct-Q4_K_M.gguf") == "SmolLM2-135M-Instruct");
  CHECK(gguf_model_name(run, "SmolLM2-135M-Instruct-IQ4_NL.GGUF") == "SmolLM2-135M-Instruct");
  CHECK(gguf_model_name(run, "Big-70B-Q8_0-00001-of-00003.gguf") == "Big-70B");
  CHECK(gguf_model_name(run, "x/smollm2.bf16.gguf") == "smollm2");
}

TEST_CASE("model name: general.name is taken where the file says the same or nothing") {
  CHECK(gguf_model_name("Qwen3 0.6B", "Qwen3-0.6B-Q8_0.gguf") == "Qwen3 0.6B");
  CHECK(gguf_model_name("Phi 3 Mini", "model.gguf") == "Phi 3 Mini");
  CHECK(gguf_model_name("Phi 3 Mini", "ggml-model-Q4_0.gguf") == "Phi 3 Mini");
  CHECK(gguf_model_name("Phi 3 Mini", "/a/0001.gguf") == "Phi 3 Mini");
}

TEST_CASE("model name: without general.name it is the file's, whole where that says nothing") {
  CHECK(gguf_model_name("", "/m/tiny.gguf") == "tiny");
  CHECK(gguf_model_name("", "/m/model.Q4_0.gguf") == "model.Q4_0.gguf");
  CHECK(gguf_model_name(" ", "/m/tiny-f32.gguf") == "tiny");
}

TEST_CASE(
    "model name: a folder's name is its last part; in the Hugging Face cache it is the model's") {
  const std::string cache =
      "/home/a/.cache/huggingface/hub/models--HuggingFaceTB--SmolLM2-135M/snapshots/";
  for (const char* end :
       {"12fd25f77366fa6b3b4b768ec3050bf629380bac", "main", "12fd/", "12fd/.", "12fd//"}) {
    CAPTURE(end);
    CHECK(folder_model_name(cache + end) == "HuggingFaceTB/SmolLM2-135M");
  }
  CHECK(folder_model_name("/hub/models--gpt2/snapshots/607a") == "gpt2");
  CHECK(folder_model_name("/hub/models--a--b--c/snapshots/607a") == "a/b--c");
  CHECK(folder_model_name("/m/gpt2") == "gpt2");
  CHECK(folder_model_name("/m/gpt2/") == "gpt2");
  CHECK(folder_model_name("gpt2") == "gpt2");
  CHECK(folder_model_name("/m/snapshots/607a") == "607a");
  CHECK(folder_model_name("/m/models--/snapshots/607a") == "607a");
  CHECK(folder_model_name("/hub/models--a--b/607a") == "607a");
}

}  // namespace
}  // namespace triescope::formats::test_model_name

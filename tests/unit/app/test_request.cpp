#include <doctest/doctest.h>

#include "app/run/request.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

ModelInfo model_that_asks(GenerationSettings generation) {
  ModelInfo model;
  model.path = "/models/some";
  model.generation = std::move(generation);
  return model;
}

RunRequest request_of(const std::string& method, const nlohmann::json& settings) {
  RunRequest request;
  request.method = method;
  request.settings = settings;
  return request;
}

TEST_CASE("a request takes of a model's settings what its method has and it leaves open") {
  const ModelInfo model = model_that_asks(
      {{{"temperature", "0.6"}, {"top_p", "0.9"}, {"repetition_penalty", "1.05"}}, {}});
  RunRequest sample = request_of("sample", {{"top_p", "0.5"}});
  const std::string note = model_settings_note(sample, model, "do so");
  CHECK(note ==
        "the model's generation_config.json asks for repetition_penalty = 1.05, temperature = 0.6; "
        "do so");
  take_model_settings(sample, model);
  CHECK(sample.settings ==
        nlohmann::json{{"temperature", 0.6}, {"top_p", "0.5"}, {"repetition_penalty", 1.05}});
  CHECK(model_settings_note(sample, model, "do so").empty());

  // Greedy decoding is not told of temperatures, as generate() ignores them where it does not
  // sample.
  RunRequest greedy = request_of("greedy", nlohmann::json::object());
  take_model_settings(greedy, model);
  CHECK(greedy.settings == nlohmann::json{{"repetition_penalty", 1.05}});
}

TEST_CASE("a model's settings that cannot be followed are refused, and the request stays") {
  const auto refusal = [](GenerationSettings generation, ErrorCode code) {
    RunRequest request = request_of("sample", {{"top_k", 5}});
    std::string message;
    try {
      take_model_settings(request, model_that_asks(std::move(generation)));
    } catch (const Error& error) {
      CHECK(error.code() == code);
      message = error.what();
    }
    CHECK(request.settings == nlohmann::json{{"top_k", 5}});
    return message;
  };
  CHECK(refusal({{}, {"guidance_scale", "suppress_tokens"}}, ErrorCode::kNotSupported)
            .find("generation_config.json asks for guidance_scale, suppress_tokens, which is not "
                  "done") != std::string::npos);
  const std::string range = refusal({{{"temperature", "0"}}, {}}, ErrorCode::kInvalidArgument);
  CHECK(range.find("/models/some: generation_config.json asks for temperature = 0") == 0);
  CHECK(range.find("0.01") != std::string::npos);
  CHECK(model_settings_note(request_of("greedy", nlohmann::json::object()),
                            model_that_asks({{{"min_length", "3"}}, {"guidance_scale"}}),
                            "do so") ==
        "the model's generation_config.json asks for min_length = 3; do so; it also asks for "
        "guidance_scale, which is not done");
}

}  // namespace
}  // namespace triescope::app

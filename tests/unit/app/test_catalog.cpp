// Models by name: what a folder offers, how a name is resolved, and the message where it cannot be.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/session/catalog.h"
#include "core/methods/registry.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/skip.h"
#include "tests/unit/files/format_test_util.h"
#include "tests/unit/files/head_fixtures.h"

namespace triescope::app::test_catalog {
namespace {

// $TRIESCOPE_MODELS alone would not hide models installed beside the program, so the names here
// occur nowhere else.
struct Shelf {
  test::TempDir folder;
  test::EnvironmentVariable models{"TRIESCOPE_MODELS", folder.path()};

  Shelf() {
    for (const char* name : {"Zebra-One.gguf", "zebra-two.gguf", "Quagga.Q4_1.gguf", "notes.txt"})
      test::write_file(folder.path() / name, "");
    std::filesystem::create_directory(folder.path() / "Zebu");
    test::write_file(folder.path() / "Zebu" / "config.json", "{}");
    std::filesystem::create_directory(folder.path() / "Zorse.v2");
    test::write_file(folder.path() / "Zorse.v2" / "config.json", "{}");
    std::filesystem::create_directory(folder.path() / "zebroid");  // not a model
    for (const auto& [name, of] :
         {std::pair{"Okapi-Medusa", "medusa-v2"}, {"okapi-eagle", "eagle3"}})
      std::filesystem::copy(test::head_fixtures() / of, folder.path() / name);
  }
  std::string at(const char* name) const { return (folder.path() / name).string(); }
  std::vector<std::string> here(const std::vector<CatalogEntry>& entries) const {
    std::vector<std::string> names;
    for (const CatalogEntry& entry : entries)
      if (entry.path.starts_with(folder.path().string())) names.push_back(entry.name);
    return names;
  }
  static std::string refusal(const std::string& name, ErrorCode code) {
    return test::refusal(code, [&] { resolve_model(name); });
  }
};

TEST_CASE_FIXTURE(
    Shelf, "catalog: a models folder offers its GGUF files and model folders by short names") {
  CHECK(here(list_models()) ==
        std::vector<std::string>{"quagga.q4_1", "zebra-one", "zebu", "zorse.v2", "zebra-two"});
}

TEST_CASE_FIXTURE(
    Shelf, "catalog: a model is found by path, by name in either case, by a unique beginning") {
  CHECK(resolve_model(at("Zebra-One.gguf")) == at("Zebra-One.gguf"));
  CHECK(resolve_model("ZEBRA-one") == at("Zebra-One.gguf"));
  CHECK(resolve_model("zebu") == at("Zebu"));
  CHECK(resolve_model("quag") == at("Quagga.Q4_1.gguf"));
  CHECK(resolve_model("Quagga.Q4_1.gguf") == at("Quagga.Q4_1.gguf"));
  // A whole path means exactly that file.
  CHECK(refusal("/not/here/Quagga.Q4_1.gguf", ErrorCode::kNotFound).starts_with("model '/not"));
}

TEST_CASE_FIXTURE(Shelf, "catalog: a file of a model's folder is the folder") {
  for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json",
                           "model-00001-of-00002.safetensors", "tokenizer.json", "vocab.txt"}) {
    CAPTURE(name);
    const std::filesystem::path file = folder.path() / "Zebu" / name;
    if (file.extension() == ".safetensors") {
      test::write_file(file, test::safetensors_bytes("{}", ""));
    } else {
      test::write_file(file, "{}");
    }
    CHECK(resolve_model(at("Zebu") + "/" + name) == at("Zebu"));
    CHECK(resolve_draft(at("Zebu") + "/" + name) == at("Zebu"));
  }
  test::write_file(folder.path() / "Zebu" / "inside.gguf", "");
  test::write_file(folder.path() / "zebroid" / "tokenizer.json", "{}");
  for (const std::string& file : {at("Zebu") + "/inside.gguf", at("zebroid") + "/tokenizer.json"})
    CHECK(resolve_model(file) == file);
  // A head can be named by its folder or by its weights.
  const std::string weights = at("okapi-eagle") + "/pytorch_model.bin";
  CHECK(resolve_draft(weights) == weights);
  CHECK(resolve_draft(at("okapi-eagle") + "/config.json") == at("okapi-eagle"));
}

TEST_CASE_FIXTURE(
    Shelf, "catalog: a wrong name is a usage error with the nearest one, a wrong path bad input") {
  const auto ends = [](const std::string& text, const char* with) { return text.ends_with(with); };
  CHECK(ends(refusal("zebra-oen", ErrorCode::kInvalidArgument), "; did you mean zebra-one?"));
  CHECK(ends(refusal("zebra", ErrorCode::kInvalidArgument), "; several begin with it"));
  CHECK(ends(refusal("xylophone-music", ErrorCode::kInvalidArgument), "`triescope info --list`"));
  CHECK(refusal("/no/zebra-one", ErrorCode::kNotFound)
            .starts_with("model '/no/zebra-one' is neither"));
  CHECK(refusal("zebra.gguf", ErrorCode::kNotFound).find("zebra-one") != std::string::npos);
}

TEST_CASE_FIXTURE(
    Shelf, "catalog: draft heads in a models folder are offered as such, and not as models") {
  CHECK(here(list_draft_heads()) == std::vector<std::string>{"okapi-medusa", "okapi-eagle"});
  CHECK(here(list_draft_models()).empty());  // only the program's own
  CHECK(refusal("okapi-eagle", ErrorCode::kInvalidArgument).find("okapi") != std::string::npos);
}

TEST_CASE_FIXTURE(Shelf,
                  "catalog: what drafts is found by path, by a head's short name, by a model's") {
  CHECK(resolve_draft(at("okapi-eagle")) == at("okapi-eagle"));
  CHECK(resolve_draft("OKAPI-eagle") == at("okapi-eagle"));
  CHECK(resolve_draft("okapi-m") == at("Okapi-Medusa"));
  CHECK(resolve_draft("zebra-two") == at("zebra-two.gguf"));
  const auto refused = [](const std::string& name) {
    return test::refusal(ErrorCode::kInvalidArgument, [&] { resolve_draft(name); });
  };
  const std::string wrong = refused("okapi-meduse");
  CHECK(wrong.starts_with("draft 'okapi-meduse' is neither"));
  CHECK(wrong.ends_with("; did you mean okapi-medusa?"));
  CHECK(refused("okapi").ends_with("; several begin with it"));
  CHECK(refused("") == "draft: expected a path or a short name, found none");
  CHECK(test::refusal(ErrorCode::kNotFound, [] {
          resolve_draft("/no/such/head");
        }).starts_with("draft '/no/such/head' is neither"));
}

TEST_CASE_FIXTURE(
    Shelf, "catalog: where no draft is named, the head of a fitting kind and target drafts") {
  const std::string target = (test::head_fixtures() / "target").string();
  const auto drafts = [&](const char* method) {
    return default_draft(find_method(method), target);
  };
  CHECK(drafts("eagle3") == at("okapi-eagle"));
  CHECK(drafts("medusa") == at("Okapi-Medusa"));
  CHECK(drafts("hydra").empty());        // there is no such head
  CHECK(drafts("draft_model").empty());  // no draft model of this vocabulary
  CHECK(drafts("beam").empty());         // nothing drafts
}

TEST_CASE_FIXTURE(Shelf, "catalog: a model that holds SPACE's masks drafts for itself") {
  const std::string target = at("Zonkey");
  std::filesystem::copy(test::head_fixtures() / "target", target);
  CHECK(default_draft(find_method("space"), target).empty());
  std::ifstream in(target + "/config.json");
  nlohmann::json config = nlohmann::json::parse(in);
  config["space_mask_ids"] = {62, 63};
  test::write_file(std::filesystem::path(target) / "config.json", config.dump());
  CHECK(default_draft(find_method("space"), target) == target);
  const std::vector<std::string> models = here(list_models());
  CHECK(std::ranges::find(models, "zonkey") != models.end());  // and is no head beside it
  CHECK(here(list_draft_heads()) == std::vector<std::string>{"okapi-medusa", "okapi-eagle"});
}

TEST_CASE("catalog: a head for another target does not draft unless it is named") {
  const auto model = test::model_path();
  if (!model) TRIESCOPE_SKIP("SmolLM2-135M-Instruct is not installed");
  const Shelf shelf;
  for (const char* method : {"eagle3", "medusa"})
    CHECK_FALSE(default_draft(find_method(method), model->string())
                    .starts_with(shelf.folder.path().string()));
}

}  // namespace
}  // namespace triescope::app::test_catalog

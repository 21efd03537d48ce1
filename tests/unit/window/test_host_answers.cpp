// What a window knows of another machine: asked on a thread of its own, so no frame waits for it.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "app/window/workspace/host_answers.h"
#include "core/base/error.h"
#include "tests/unit/window/fake_host.h"

namespace triescope::app::test_host_answers {
namespace {

// A host that answers when the gate is open.
struct Desk {
  Desk() {
    host->far.host = "box";
    host->before_answer = [this] {
      opened.wait();
      ++answers_given;
      if (broken) throw Error(ErrorCode::kIoError, "the line broke");
    };
  }
  ~Desk() { open(); }
  void open() {
    if (!std::exchange(is_open, true)) gate.set_value();
  }
  // Waits until nothing is under way.
  void settle() {
    while (answers.waiting()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  bool is_open = false;
  std::atomic<bool> broken{false};
  std::atomic<int> answers_given{0}, woken{0};
  std::shared_ptr<test::FakeHost> host = std::make_shared<test::FakeHost>();
  HostAnswers answers{host, [this] { ++woken; }};
};

TEST_CASE_FIXTURE(Desk, "host answers: a frame does not wait for another machine") {
  CHECK(answers.models().empty());
  CHECK(answers.devices().empty());
  CHECK(answers.model_path("x").empty());
  CHECK(!answers.memory_of({}, 7, false));
  CHECK(answers.what_fits({}).models.empty());
  CHECK(answers.waiting());
  CHECK(answers_given == 0);
  open();
  settle();
  CHECK(woken == 5);
  CHECK(answers.models().at(0).path == "/there/m.gguf");
  CHECK(answers.devices().at(0).id == "far:0");
  CHECK(answers.model_path("x") == "/there/x");
  REQUIRE(answers.memory_of({}, 7, false));
  CHECK(answers.memory_of({}, 7, false)->kv == 7);
  CHECK(answers.what_fits({}).models.at(0).need == 1000);
  settle();
  CHECK(answers_given == 5);  // none was asked twice
}

TEST_CASE_FIXTURE(Desk, "host answers: a list that opens is asked for again, and stays meanwhile") {
  open();
  answers.models();
  settle();
  CHECK(answers.models(/*again=*/true).size() == 1);
  settle();
  CHECK(answers.models().size() == 1);
  CHECK(answers_given == 2);
  // Another model's path is nothing until it is known.
  answers.model_path("x");
  settle();
  CHECK(answers.model_path("x") == "/there/x");
  CHECK(answers.model_path("y").empty());
  settle();
  CHECK(answers.model_path("y") == "/there/y");
}

TEST_CASE_FIXTURE(Desk, "host answers: what could not be answered is asked again with a new line") {
  open();
  broken = true;
  answers.models();
  settle();
  CHECK(answers.models().empty());
  host->far.lost = "it broke";
  answers.see_line();
  broken = false;
  CHECK(answers.models().empty());
  host->far.lost = "";
  answers.see_line();
  answers.models();
  settle();
  CHECK(answers.models().size() == 1);
}

TEST_CASE_FIXTURE(Desk,
                  "host answers: another host's are its own, and this machine answers at once") {
  open();
  answers.models();
  settle();
  CHECK(answers.models().size() == 1);
  auto here = std::make_shared<test::FakeHost>();
  std::weak_ptr<test::FakeHost> old = host;
  host.reset();
  answers.use(here);
  CHECK(answers.model_path("x") == "/there/x");
  CHECK(answers.models().size() == 1);
  settle();
  CHECK(old.expired());
}

TEST_CASE_FIXTURE(Desk, "host answers: a text's tokens are those of the loaded model") {
  open();
  CHECK(!answers.tokens_of("a"));
  settle();
  REQUIRE(answers.tokens_of("a"));
  CHECK(answers.tokens_of("a")->empty());  // no model is loaded
}

}  // namespace
}  // namespace triescope::app::test_host_answers

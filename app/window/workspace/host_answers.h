// HostAnswers: what the machine that decodes has told of its models, devices and memory. Another
// machine is asked on a thread of its own, so that no frame waits for a round trip: until it
// answers, an answer is empty, or the one before it. This machine answers at once, except for what
// many files say. Window thread only.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/run_host.h"

namespace triescope::app {

class HostAnswers {
 public:
  // `wake` is called from another thread when an answer has come.
  HostAnswers(std::shared_ptr<RunHost> host, std::function<void()> wake);
  // Waits for a question that this machine is answering, never for another machine.
  ~HostAnswers();
  HostAnswers(const HostAnswers&) = delete;
  HostAnswers& operator=(const HostAnswers&) = delete;

  // Another host answers from now on, and no answer of the old one is kept. The other thread lets go
  // of the old host, because ending its session waits for its line.
  void use(std::shared_ptr<RunHost> host);

  // Asks again once a lost line stands again. To be called in every frame.
  void see_line();

  // May be called in every frame. `again`: for a list that opens; the old list stays until the new
  // one comes. What cannot be answered is empty.
  const std::vector<DeviceInfo>& devices();
  const std::vector<CatalogEntry>& models(bool again = false);
  const std::vector<CatalogEntry>& draft_heads(bool again = false);
  const std::vector<CatalogEntry>& draft_models(bool again = false);
  const WhatFits& what_fits(const RunRequest& request, bool again = false);
  const std::string& model_path(const std::string& model);
  const std::string& drafts_by_default(const RunRequest& request);
  // nullopt: not known, or the model cannot be read.
  const std::optional<RunMemory>& memory_of(const RunRequest& request, std::int64_t prompt_tokens,
                                            bool again);
  // The tokens of a text that follows another; nullopt: not known yet. Empty: the loaded model
  // takes no text, or the text ends within a character.
  const std::optional<std::vector<std::int32_t>>& tokens_of(const std::string& text);

  bool waiting() const;  // an answer is under way

 private:
  template <class Value>
  struct Reply {
    std::atomic<bool> done{false};
    Value value{};  // written before `done` is
  };
  template <class Value>
  struct Answer {
    std::optional<std::string> about;  // what was asked last
    Value value{};
    std::shared_ptr<Reply<Value>> coming;
  };
  enum class Keep : bool { kNo, kYes };  // whether an old answer stands for a new question

  // Asks `question` if `about` is new, or `again`; returns the newest answer.
  template <class Value, class Question>
  const Value& look(Answer<Value>& answer, const std::string& about, bool again, Keep keep,
                    bool at_once, Question question);
  bool is_here() const { return host_->line().host.empty(); }
  void run_later(std::function<void()> task);
  void loop();

  const std::function<void()> wake_;
  std::shared_ptr<RunHost> host_;
  bool lost_ = false;  // the line to it was broken when seen last
  Answer<std::vector<DeviceInfo>> devices_;
  Answer<std::vector<CatalogEntry>> models_, heads_, drafts_;
  Answer<WhatFits> fits_;
  Answer<std::string> path_, default_draft_;
  Answer<std::optional<RunMemory>> memory_;
  Answer<std::optional<std::vector<std::int32_t>>> tokens_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false, quit_ = false;
  std::thread thread_;  // declared last, because it uses the members above
};

}  // namespace triescope::app

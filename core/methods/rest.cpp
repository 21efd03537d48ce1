// REST: drafts are retrieved from a datastore of the user's own texts instead of the context.
// Source: He et al., "REST: Retrieval-Based Speculative Decoding", NAACL 2024.
#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/text_file.h"
#include "core/capture/metric_names.h"
#include "core/lookup/datastore.h"
#include "core/lookup/documents.h"
#include "core/methods/draft_budget.h"
#include "core/methods/draft_text.h"
#include "core/methods/drafts_one_text.h"
#include "core/methods/text_methods.h"

namespace triescope {
namespace {

constexpr std::size_t kMaxBytes = 64u << 20;
constexpr int kRestDrafts = 32;  // the paper has 64
constexpr std::size_t kLineBefore = 8,
                      kLineAfter = 8;  // tokens of the datastore around what is used

std::string read_datastore(const std::string& path) {
  std::string text;
  try {
    text = read_text_file(path, "a text file");
  } catch (const Error& error) {
    throw Error(error.code(), std::string("datastore: ") + error.what());
  }
  if (text.size() > kMaxBytes)
    throw Error(ErrorCode::kNotSupported,
                "datastore: expected at most " + std::to_string(kMaxBytes >> 20) +
                    " MiB of text, found " + std::to_string(text.size() >> 20) + " MiB in \"" +
                    path + "\"; build a datastore of it: triescope datastore build");
  return text;
}

// The text in which drafts are looked up: a file that is read and sorted here, or a datastore that was built.
class RestStore {
 public:
  explicit RestStore(const RunContext& run) : text_({}) {
    const nlohmann::json& given = run.settings.value("datastore");
    if (!given.is_string())
      throw Error(ErrorCode::kInvalidArgument,
                  "datastore: expected the path of a text file, found " + dump_json(given));
    const auto path = given.get<std::string>();
    if (path.empty() || !run.encode) return;
    if (Datastore::is_one(path))
      open(path, run);
    else
      read(path, run);
  }
  const SuffixArray& index() const { return built_ ? built_->index() : text_; }

 private:
  void open(const std::string& path, const RunContext& run) {
    try {
      built_ = std::make_unique<Datastore>(path);
    } catch (const Error& error) {
      throw Error(error.code(), std::string("datastore: ") + error.what());
    }
    if (run.vocabulary_hash && run.vocabulary_hash() != built_->info().vocabulary_hash)
      throw Error(ErrorCode::kInvalidArgument,
                  "datastore: \"" + path +
                      "\" was built with another model's tokenizer. Build it with this model: "
                      "triescope datastore build FILES --model MODEL -o FILE");
  }
  void read(const std::string& path, const RunContext& run) {
    const std::string text = read_datastore(path);
    std::vector<std::int32_t> tokens;
    for (std::string_view rest = text; !rest.empty();) {
      const auto document = run.encode(take_document(rest));
      tokens.insert(tokens.end(), document.begin(), document.end());
      tokens.push_back(kEndOfDocument);
    }
    text_ = SuffixArray(std::move(tokens), kEndOfDocument);
  }

  SuffixArray text_;
  std::unique_ptr<Datastore> built_;
};

class RestDrafter final : public Drafter {
 public:
  explicit RestDrafter(const RunContext& run)
      : budget_(run, "num_draft", kRestDrafts),
        max_depth_(run.settings.integer("max_depth")),
        longest_(run.settings.integer("longest_suffix")),
        shortest_(run.settings.integer("shortest_suffix")),
        datastore_(run) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    text_.update(context);
    auto answer = datastore_.index().continuations(
        text_.tokens(), shortest_, longest_, budget_.most(), std::min(max_depth_, context.room),
        context.run.eos_token_ids);
    budget_.limit(text_.tokens(), answer);
    const std::vector<NodeId> nodes = hang_answer(context, answer, drafts);
    if (context.run.record_rows && !nodes.empty()) note_line(context, answer, nodes, drafts);
    return drafts;
  }

 private:
  // Notes one line of the datastore: a place where the match goes on as the most frequent drafts do.
  void note_line(const DraftContext& context, const NgramTrie::Answer& answer,
                 std::span<const NodeId> nodes, Drafts& drafts) const {
    const auto matched = static_cast<std::size_t>(answer.matched_tokens);
    const auto end = text_.tokens().last(matched);
    std::vector<ListedToken> line;  // what is known of it: the match, then the drafts
    NodeId node = context.frontier.front();
    for (std::size_t i = matched; i-- > 0;) {
      line.insert(line.begin(), {end[i], node == TokenTree::root() ? NodeId() : node});
      if (node != TokenTree::root()) node = context.tree[node].parent;
    }
    std::int32_t above = -1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(answer.nodes.size()); ++i) {
      const NgramTrie::Continuation& found = answer.nodes[static_cast<std::size_t>(i)];
      if (found.parent != above) continue;
      line.push_back({found.token, nodes[static_cast<std::size_t>(i)]});
      above = i;
    }
    const std::int32_t place = answer.nodes[static_cast<std::size_t>(above)].place;
    if (place < 0) return;  // an order that is not sorted
    const SuffixArray& store = datastore_.index();
    const auto at = static_cast<std::size_t>(place);
    drafts.figures.push_back({.node = nodes.front().value,
                              .name = std::string(capture::kFoundAt),
                              .value = static_cast<double>(at)});
    const auto before = store.around(at, kLineBefore, 0);
    const auto all = store.around(at, 0, line.size() + kLineAfter);
    std::vector<ListedToken> whole;
    for (const std::int32_t token : before) whole.push_back({token});
    whole.insert(whole.end(), line.begin(), line.end());
    for (std::size_t i = line.size(); i < all.size(); ++i) whole.push_back({all[i]});
    note_list(drafts, "datastore", whole);
  }

  DraftBudget budget_;
  int max_depth_, longest_, shortest_;
  RestStore datastore_;
  DraftText text_;
};

}  // namespace

MethodInfo rest_method() {
  MethodInfo info;
  info.name = "rest";
  info.title = "REST";
  info.summary =
      "Drafts what followed the last tokens in a text file of the user's: a suffix array "
      "finds all places, the most frequent continuations become the draft tree.";
  info.paper = "REST: Retrieval-Based Speculative Decoding, He et al., NAACL 2024";
  info.drafter_name = "datastore";
  info.drafter_kind = capture::DrafterKind::kText;
  info.parameters = {
      empty_is("none",
               text("datastore", "Datastore", "",
                    "Path of a UTF-8 text file, at most 64 MiB, read when the run starts (a "
                    "line <|endoftext|> separates documents), or of a datastore that triescope "
                    "datastore build made, of any size. Empty: nothing is drafted.")),
      integer("longest_suffix", "Longest Suffix", 16, 1, 31,
              "The last tokens of the text are looked for from this many down to shortest_suffix."),
      integer("shortest_suffix", "Shortest Suffix", 2, 1, 31, "Shorter matches draft nothing."),
      zero_is(
          "auto",
          integer(
              "num_draft", "Drafts per Step", 0, 0, 1024,
              "At most this many draft nodes a step: the most frequent ones. The paper's are 64. "
              "0: as many as pay, by what came true before, at most 32; to begin with 32 on a GPU; "
              "on a CPU, where rows are dearer, 11, with 16-bit weights 7, with quantised ones 4.")),
      integer("max_depth", "Longest Draft", 10, 1, 30, "Drafts are at most this many tokens long."),
  };
  drafts_one_text<RestDrafter>(info);
  return info;
}

}  // namespace triescope

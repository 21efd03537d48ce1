#include "viz/query/rejudge_settings.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/capture/run_fields.h"

namespace triescope::viz {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

template <class T>
T number_of(const std::string& name, const std::string& value, T least, T most) {
  T number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, fault] = std::from_chars(value.data(), end, number);
  if (fault != std::errc() || rest != end || !(number >= least && number <= most))
    refuse(name + ": expected a number from " + std::to_string(least) + " to " +
           std::to_string(most) + "; found '" + value + "'");
  return number;
}
int count_of(const std::string& name, const std::string& value) {
  return number_of<int>(name, value, 1, 1024);
}

std::vector<RankPath> tree_of(const std::string& value) {
  std::vector<RankPath> paths;
  RankPath path;
  std::string digits;
  for (std::size_t i = 0; i <= value.size(); ++i) {
    const char c = i < value.size() ? value[i] : ';';
    if (c == ' ') continue;
    if (c != ',' && c != ';') {
      digits += c;
      continue;
    }
    if (digits.empty() && path.empty() && i == value.size()) break;  // a ';' at the end
    path.push_back(number_of<int>("tree", digits, 0, 255));
    digits.clear();
    if (c == ';') paths.push_back(std::move(path)), path.clear();
  }
  for (const RankPath& one : paths)
    if (one.size() > 1 &&
        std::ranges::find(paths, RankPath(one.begin(), one.end() - 1)) == paths.end())
      refuse("tree: expected every path below another one; found '" + tree_text(one) +
             "' without the one above it");
  if (paths.empty()) refuse("tree: expected paths of ranks as in '0;0,0;1'; found none");
  return paths;
}

// Parameters that bound a method's drafts.
struct Bound {
  const char* name;
  std::optional<int> RejudgeSettings::*bound;
};
constexpr Bound kBounds[] = {
    {"drafts", &RejudgeSettings::drafts},
    {"num_draft", &RejudgeSettings::drafts},
    {"prompt_lookup_num_tokens", &RejudgeSettings::drafts},
    {"num_assistant_tokens", &RejudgeSettings::depth},
    {"draft_tokens", &RejudgeSettings::drafts},
    {"depth", &RejudgeSettings::depth},
    {"draft_levels", &RejudgeSettings::depth},
    {"max_depth", &RejudgeSettings::depth},
    {"rank", &RejudgeSettings::rank},
};
bool is_for_every_method(std::string_view name) {
  return name == "drafts" || name == "depth" || name == "rank" || name == "tree" ||
         name == "verify";
}

}  // namespace

bool RejudgeSettings::same_rule(const RejudgeSettings& other) const {
  return verify == other.verify &&
         (verify != "typical" ||
          (typical_epsilon == other.typical_epsilon && typical_delta == other.typical_delta)) &&
         (verify != "top_k" || accept_top_k == other.accept_top_k);
}

RejudgeSettings recorded_settings(const capture::Capture& capture) {
  RejudgeSettings recorded;
  const capture::RunFields settings(capture.run().settings_json);
  recorded.verify = settings.text("verify", recorded.verify);
  recorded.typical_epsilon = settings.number("typical_epsilon", recorded.typical_epsilon);
  recorded.typical_delta = settings.number("typical_delta", recorded.typical_delta);
  recorded.accept_top_k =
      static_cast<int>(std::clamp<std::int64_t>(settings.integer("accept_top_k", 1), 0, 1 << 30));
  return recorded;
}

bool has_drawn_drafts(const capture::Capture& capture) {
  return std::ranges::any_of(capture.nodes(), [](const capture::NodeRow& node) {
    return capture::is_draft(node) && node.q < 1;
  });
}

std::vector<std::string> rejudge_rules(const capture::Capture& capture) {
  if (has_drawn_drafts(capture)) return {"sample", "chain", "block", "multi_round"};
  return {"greedy", "top_k", "typical", "sample", "multi_round"};
}

void set_rejudge(RejudgeSettings& settings, const capture::Capture& capture,
                 const std::string& name, const std::string& value) {
  const capture::RunFields own(capture.run().settings_json);
  std::vector<std::string> known = {"verify", "typical_epsilon", "typical_delta", "accept_top_k",
                                    "tree"};
  for (const Bound& bound : kBounds)
    if (is_for_every_method(bound.name) || own.has(bound.name)) known.emplace_back(bound.name);
  if (own.has("draft_top_k")) known.emplace_back("draft_top_k");
  if (std::ranges::find(known, name) == known.end()) {
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    refuse("'" + name + "': expected one of " + list +
           ", which change how the drafts of this run are judged" + did_you_mean(name, known));
  }
  if (name == "verify") {
    const auto rules = rejudge_rules(capture);
    if (std::ranges::find(rules, value) == rules.end()) {
      std::string list;
      for (const std::string& rule : rules) list += (list.empty() ? "" : ", ") + rule;
      refuse("verify: expected one of " + list + ", which go with " +
             (has_drawn_drafts(capture) ? "drafts drawn at random" : "chosen drafts") +
             "; found '" + value + "'" + did_you_mean(value, rules));
    }
    settings.verify = value;
  } else if (name == "typical_epsilon" || name == "typical_delta") {
    (name == "typical_epsilon" ? settings.typical_epsilon : settings.typical_delta) =
        number_of<double>(name, value, 0, 1);
  } else if (name == "accept_top_k") {
    settings.accept_top_k = number_of<int>(name, value, 1, 1000);
  } else if (name == "tree") {
    settings.tree = tree_of(value);
  } else if (name == "draft_top_k") {
    settings.rank = settings.width = count_of(name, value);
  } else {
    for (const Bound& bound : kBounds)
      if (name == bound.name) settings.*bound.bound = count_of(name, value);
  }
}

}  // namespace triescope::viz

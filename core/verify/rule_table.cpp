#include "core/verify/rule_table.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace triescope {
namespace {

struct Cell {
  VerifyRule rule = nullptr;
  const char* refused = "";  // why it is refused, and what to choose instead
};
struct Line {
  const char* verify;
  bool draws;  // drafters that can draw do so under this rule
  bool lossy;
  Cell chosen, drawn_chain, drawn_tree;
};

constexpr Cell refused(const char* why) { return {nullptr, why}; }

constexpr const char* kNotDrawn =
    "min(1, p/q) is for drafts drawn from q, one a node; these are chosen, not drawn, and with them it "
    "would favour what the drafter likes. Take verify=sample, which is exact for them";
constexpr const char* kSeveral =
    "min(1, p/q) settles one draft a node, and these are several. Take verify=sample or multi_round, "
    "which go on with the residual, or expansion=1,1,..";
constexpr const char* kBlockDrawn =
    "a block is judged by what its drafts were drawn from; these are chosen, not drawn. Take verify=sample, "
    "which is exact for them";
constexpr const char* kBlockChain =
    "a block is a chain, one draft a node, and these are a tree. Take verify=sample or multi_round, which "
    "go on with the residual, or a chain";
constexpr const char* kDrawn =
    "expected chosen drafts, found drafts drawn at random, for which verify=sample is exact";

// clang-format off
const std::array<Line, 8> kTable = {{
    //                draws  lossy  chosen                   drawn chain             drawn tree
    {"greedy",        false, false, {verify_greedy},         refused(kDrawn),        refused(kDrawn)},
    {"sample",        true,  false, {verify_deterministic},  {verify_chain},         {verify_multi_round}},
    {"chain",         true,  false, refused(kNotDrawn),      {verify_chain},         refused(kSeveral)},
    {"block",         true,  false, refused(kBlockDrawn),    {verify_block},         refused(kBlockChain)},
    {"published",     true,  true,  refused(kNotDrawn),      {verify_published},      refused(kSeveral)},
    {"multi_round",   true,  false, {verify_multi_round},    {verify_multi_round},   {verify_multi_round}},
    {"typical",       false, true,  {verify_typical},        refused(kDrawn),        refused(kDrawn)},
    {"top_k",         false, true,  {verify_top_k},          refused(kDrawn),        refused(kDrawn)},
}};
// clang-format on

const Line& line_of(const std::string& verify) {
  const auto at = std::ranges::find(kTable, verify, &Line::verify);
  if (at != kTable.end()) return *at;
  std::string known;
  for (const Line& line : kTable) known += (known.empty() ? "" : ", ") + std::string(line.verify);
  throw Error(ErrorCode::kInvalidArgument,
              "verify: expected one of " + known + ", found \"" + verify + "\"");
}

}  // namespace

VerifyRule rule_for(const std::string& verify, Drafted drafted) {
  const Line& line = line_of(verify);
  const Cell& cell = drafted == Drafted::kChosen       ? line.chosen
                     : drafted == Drafted::kDrawnChain ? line.drawn_chain
                                                       : line.drawn_tree;
  if (cell.rule == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "verify=" + verify + ": " + cell.refused);
  return cell.rule;
}

bool verify_draws(const std::string& verify) { return line_of(verify).draws; }
bool is_lossy(const std::string& verify) { return line_of(verify).lossy; }

bool is_lossless(const MethodInfo& method, const Settings& settings) {
  return method.lossless && !(settings.has("verify") && is_lossy(settings.text("verify")));
}

}  // namespace triescope

#include "core/methods/row_proposer.h"

#include <algorithm>
#include <string>

#include "core/methods/rank_tree.h"
#include "core/verify/rule_table.h"
#include "core/verify/text_acceptor.h"

namespace triescope {

RowProposer::RowProposer(const RunContext& run)
    : processors_(run),
      warpers_(run.settings),
      draws_(verify_draws(run.settings.text("verify"))),
      sampler_(sampler_of(run.settings)),
      candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))) {}

int RowProposer::best_tokens() const {
  return draws_ || processors_.any() ? 0 : static_cast<int>(std::max<std::size_t>(candidates_, 1));
}

GuessRow RowProposer::guess_of(const LogitsRow& row) const {
  GuessRow guess;
  guess.best = row.top_k(std::max<std::size_t>(candidates_, 1));
  guess.log_sum = row.log_sum_exp();
  if (draws_ || processors_.any()) guess.logits.assign(row.begin(), row.end());
  return guess;
}

NodeId RowProposer::propose(DraftContext& context, NodeId parent, const GuessRow& guess,
                            Drafts& drafts) const {
  std::int32_t token = guess.best.front().second;
  float q = 1;
  if (!guess.logits.empty()) {
    const LogitsFrom known([&](int) { return LogitsRow(guess.logits); });
    const NodeId rows[] = {parent};
    const StepView view{.tree = context.tree,
                        .run = context.run,
                        .rows = rows,
                        .frontier = context.frontier,
                        .computed = known};
    ModelRows model(view, processors_, warpers_);
    token = model.best(parent);
    if (draws_) {
      Proposal& proposal = drafts.proposals[parent];
      proposal.q = model.distribution(parent);
      token = ::triescope::draw(proposal.q, sampler_, context.rng).token;
      q = proposal.q.probability(token);
    }
  }
  const Hung hung =
      context.tree.hang(parent, TokenId(token), capture::Source::kDraft, kUnknownLogprob, q);
  if (draws_) drafts.proposals[parent].draws.push_back(hung.node);
  if (hung.is_new) drafts.sent.push_back(hung.node);
  if (candidates_ > 0) {
    std::vector<int> chosen;
    for (std::size_t rank = 0; rank < guess.best.size(); ++rank)
      if (guess.best[rank].second == token) chosen.push_back(static_cast<int>(rank));
    show_head_row(parent, guess.best, guess.log_sum, chosen, drafts.candidates);
  }
  return hung.node;
}

VerifyRule drawn_chain_rule(const Settings& settings) {
  const std::string verify = settings.text("verify");
  return rule_for(verify, verify_draws(verify) ? Drafted::kDrawnChain : Drafted::kChosen);
}

}  // namespace triescope

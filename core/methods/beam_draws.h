// The drafter of speculative beam sampling: on every level num_beams continuations are drawn, with
// replacement, from the guide's joint distribution q over (beam, token), q ~ exp(score + log q of the token).
// The acceptor gets q and the draws through BeamDraws (core/verify/beam_sample.h).
//
// No draft ends a text: q of an EOS is 0, and the target draws those itself.
#pragma once

#include <memory>

#include "core/method/method.h"
#include "core/methods/beam_guide.h"
#include "core/verify/beam_sample.h"

namespace triescope {

std::unique_ptr<Drafter> make_beam_draws(const RunContext& run, std::unique_ptr<BeamGuide> guide,
                                         std::shared_ptr<BeamDraws> draws);

}  // namespace triescope

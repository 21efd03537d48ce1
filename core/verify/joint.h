// Joint distributions over (parent, token), a row [vocab] for each parent: what beam sampling draws from. An
// empty row stands for zeros. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace triescope {

using JointRows = std::vector<std::vector<double>>;

double sum_of(const JointRows& rows);
// Makes probabilities that sum to 1 of logarithms of weights. False: none of them is finite.
bool normalise_logs(JointRows& rows);
void scale(JointRows& rows, double by);
// rows = max(rows - q, 0), not normalised; returns their sum.
double take_away(JointRows& rows, const JointRows& q);
// Draws from weights that need not sum to 1: the parent's index and the token at which their running sum passes
// `u` times the whole; u in (0, 1).
std::pair<std::size_t, std::int32_t> draw_joint(const JointRows& weights, double u);
// The chance that a draft from q passes after none, one, … of `count` were refused in a row: sum min(P_i, q) with
// P_0 = p and P_i+1 = norm(max(P_i - q, 0)). p and q sum to 1.
std::vector<double> chances_to_pass(const JointRows& p, const JointRows& q, std::size_t count);

}  // namespace triescope

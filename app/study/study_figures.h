// What a study's table shows beside the columns of its rows: repeats folded into one row, ratios
// over the plain run of the same prompt, means of groups with their intervals. Pure.
#pragma once

#include <string>
#include <vector>

#include "app/study/study_store.h"

namespace triescope::app {

// The columns that say which run it is, before its settings.
std::span<const char* const> study_identity();
// Whether the column is a figure, of which a group has a mean.
bool is_study_figure(const std::string& column);

// Half of the 95 % confidence interval of a mean (Student's t); NaN for fewer than two values.
double mean_half_width(const std::vector<double>& values);
// The median: the mean of the two in the middle where their number is even; NaN for none.
double median_of(std::vector<double> values);

// A text that is the same for the repeats of a run, and for nothing else.
std::string repeat_key(const StudyRow& row);
// One row for each run and its repeats: of every time T the median, and T_low and T_high, the ends
// over the repeats; `repeats`. Adds speedup and same_text, against the row of `baseline` (a name of
// a [[method]]; "" = none) with the same model, prompt, seed and limit, and accept_1, accept_2, …
// with reached_1, reached_2, …: the share of the places reached at that depth where a draft was
// accepted. A speedup is the median, with its ends, of the ratios of repeats that ran in the same
// turn, so that a slow minute is on both sides. Failed runs are left out.
std::vector<StudyRow> folded_rows(const std::vector<StudyRow>& runs, const std::string& baseline);

// A row for each combination of values of these columns: `runs` (folded ones), the mean of every
// figure F and half of its 95 % interval as F_ci. accept_D is over all places of the group, with
// accept_D_low and _high (Wilson).
std::vector<StudyRow> grouped_rows(const std::vector<StudyRow>& rows,
                                   const std::vector<std::string>& group_by);

}  // namespace triescope::app

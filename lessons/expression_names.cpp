#include "lessons/expression_names.h"

#include <string>
#include <vector>

#include "core/base/nearest_name.h"
#include "lessons/number_functions.h"
#include "lessons/trace.h"

namespace triescope::lessons {

void refuse_name(const ExpressionToken& token, const Names& names) {
  std::vector<std::string> known(names.variables.begin(), names.variables.end());
  known.insert(known.end(), names.keyed.begin(), names.keyed.end());
  for (const NumberFunction& one : number_functions()) known.emplace_back(one.name);
  known.insert(known.end(), {"true", "false"});
  if (names.of_run) {
    for (const Function& one : function_list()) known.emplace_back(one.name);
    for (const Series& one : series_list()) known.emplace_back(one.name);
    known.insert(known.end(), {"best", "beam"});
  }
  refuse_expression(token.column, "'" + token.text + "' is not " + names.kind +
                                      did_you_mean(token.text, known) + "; " + names.listed);
}

}  // namespace triescope::lessons

#include "app/lesson/lesson_words.h"

#include <cmath>

#include "core/base/counted.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::app {

std::string shown_value(const lessons::Value& value) {
  if (const std::string* const text = std::get_if<std::string>(&value)) {
    // A token is shown with its space, running text as it is.
    const bool token = text->find_first_of(" \n", 1) == std::string::npos;
    return token ? "'" + viz::token_text(*text) + "'" : viz::plain_text(*text);
  }
  if (const double* const number = std::get_if<double>(&value);
      number && *number != std::round(*number))
    return viz::number_text(*number);
  std::string text = lessons::value_text(value);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() - first < 5 || text.find_first_not_of("0123456789", first) != std::string::npos)
    return text;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string figures_text(const ExperimentResult& result, int draws) {
  // Large values are whole numbers: 1,991 and not 1.99e+03.
  const double value = result.chi.value < 100 ? result.chi.value : std::round(result.chi.value);
  std::string all = "χ² = " + (std::isfinite(value) ? shown_value(value) : "∞") + ", " +
                    counted(static_cast<std::size_t>(result.chi.degrees), "degree") +
                    " of freedom, p-value " +
                    (result.agrees() ? shown_value(result.chi.p) : "below 0.001");
  if (result.levels > 1)
    all += "; on average " +
           shown_value(static_cast<double>(result.accepted) / static_cast<double>(draws)) + " of " +
           std::to_string(result.levels) + " drafts kept";
  else if (result.drafted > 0)
    all += "; " + shown_value(static_cast<double>(result.accepted)) + " of " +
           shown_value(static_cast<double>(draws)) + " draws kept a draft";
  return all + ".";
}

}  // namespace triescope::app

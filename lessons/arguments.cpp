#include "lessons/arguments.h"

#include <nlohmann/json.hpp>

#include "core/base/json_io.h"

namespace triescope::lessons {

Value model_number(const Arguments& a, const char* field) {
  const nlohmann::json model = json_or_discarded(a.capture.run().model_json);
  if (!model.is_object() || !model.contains(field) || !model[field].is_number())
    refuse_argument(std::string("the run did not record its model's ") + field);
  return model[field].get<double>();
}

}  // namespace triescope::lessons

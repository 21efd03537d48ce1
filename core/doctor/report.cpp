#include "core/doctor/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_io.h"

namespace triescope::doctor {
namespace {

nlohmann::json number_or_null(std::int32_t number) {
  return number == -1 ? nlohmann::json() : nlohmann::json(number);
}

}  // namespace

std::string place_text(const Finding& finding) {
  std::string place;
  const auto add = [&](const char* what, std::int32_t number) {
    if (number == -1) return;
    place += (place.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(number);
  };
  add("step", finding.step);
  add("row", finding.row);
  add("node", finding.node);
  add("slot", finding.slot);
  if (finding.whose != capture::Whose::kTarget)
    place += std::string(place.empty() ? "" : ", ") + "the " + to_string(finding.whose) + "'s";
  return place;
}

std::string place_link(const Finding& finding) {
  std::string link;
  if (finding.step >= 0) link = "step/" + std::to_string(finding.step);
  if (finding.node != -1)
    link += std::string(link.empty() ? "" : "/") + "node/" + std::to_string(finding.node);
  return link;
}

std::string sentence_text(const Finding& finding) {
  std::string text = finding.text + ".";
  if (text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
  return text;
}

std::string times_text(const FindingGroup& group) {
  if (group.count == 1) return "";
  if (group.steps <= 1) return std::to_string(group.count) + " times in this step";
  return std::to_string(group.count) + " times in " + std::to_string(group.steps) +
         " steps, first at step " + std::to_string(group.first.step);
}

std::string report_text(const Diagnosis& diagnosis, const std::string& title,
                        const std::string& path) {
  std::string text = title + ": ";
  const std::size_t count = diagnosis.groups.size();
  text += count == 0 ? "nothing found\n"
                     : std::to_string(count) +
                           (count == 1 ? " finding" : " findings, gravest first") + "\n";
  for (const FindingGroup& group : diagnosis.groups) {
    const Finding& first = group.first;
    text += "\n" + std::string(to_string(first.code)) + ": " + first.kind + " (" +
            to_string(first.sure) + ")\n";
    const std::string place = place_text(first);
    text += "  " + (place.empty() ? sentence_text(first) : place + ": " + first.text + ".") + "\n";
    const std::string times = times_text(group);
    text += "  " + times + (times.empty() ? "" : ". ") + "Rule: " + rule_of(first.code) + "\n";
  }
  for (const std::string& family : diagnosis.not_checked) text += "not checked: " + family + "\n";
  const auto placed = std::ranges::find_if(
      diagnosis.groups, [](const FindingGroup& group) { return !place_link(group.first).empty(); });
  if (placed != diagnosis.groups.end() && !path.empty())
    text += "\nLook at it: triescope " + path + " --open " + place_link(placed->first) + "\n";
  if (count > 0)
    text += "\nWhat each code means, what usually causes it and how to mend it: docs/doctor.md\n";
  return text;
}

std::string report_json(const Diagnosis& diagnosis) {
  nlohmann::json findings = nlohmann::json::array();
  for (const FindingGroup& group : diagnosis.groups) {
    const Finding& first = group.first;
    findings.push_back({{"code", to_string(first.code)},
                        {"count", group.count},
                        {"steps", group.steps},
                        {"first",
                         {{"step", number_or_null(first.step)},
                          {"node", number_or_null(first.node)},
                          {"row", number_or_null(first.row)},
                          {"slot", number_or_null(first.slot)}}},
                        {"open", place_link(first)},
                        {"whose", to_string(first.whose)},
                        {"kind", first.kind},
                        {"text", first.text},
                        {"rule", rule_of(first.code)},
                        {"sure", to_string(first.sure)}});
  }
  return dump_json(nlohmann::json{{"findings", findings}, {"not_checked", diagnosis.not_checked}},
                   2) +
         "\n";
}

}  // namespace triescope::doctor

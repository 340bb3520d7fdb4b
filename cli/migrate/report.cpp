#include "cli/migrate/report.hpp"

#include <nlohmann/json.hpp>

namespace hindsight::cli::migrate {
namespace {

projections::Tone tone_of(Severity severity) {
  return severity == Severity::blocks    ? projections::Tone::bad
         : severity == Severity::differs ? projections::Tone::waiting
                                         : projections::Tone::faint;
}

std::string counted(std::size_t n, const char* one, const char* many) { return std::to_string(n) + " " + (n == 1 ? one : many); }

}  // namespace

projections::Table findings_table(const Findings& findings) {
  projections::Table table;
  table.columns = {{"SEVERITY"}, {"RULE", true}, {"OBJECT"}, {"FIELD"}, {"FOUND"}, {"WHAT HAPPENS"}, {"WHAT TO DO"}};
  for (const auto& f : findings.sorted())
    table.rows.push_back({{std::string(severity_name(f.rule->severity)), tone_of(f.rule->severity)},
                          std::string(f.rule->id),
                          f.object,
                          f.field.empty() ? "-" : f.field,
                          f.found.empty() ? "-" : f.found,
                          f.happens,
                          f.rule->remedy.empty() ? "-" : std::string(f.rule->remedy)});
  return table;
}

std::string summary_of(const Findings& findings) {
  std::string out = counted(findings.count(Severity::blocks), "blocks", "block") + ", " +
                    counted(findings.count(Severity::differs), "differs", "differ") + ", " +
                    counted(findings.count(Severity::note), "note", "notes");
  for (const auto& [rule, count] : findings.left_out()) out += "; not shown of " + std::string(rule) + ": " + std::to_string(count);
  return out;
}

projections::Json findings_document(const Findings& findings) {
  projections::Json out;
  for (const auto severity : {Severity::blocks, Severity::differs, Severity::note})
    out["summary"][std::string(severity_name(severity))] = findings.count(severity);
  out["leftOut"] = projections::Json::object();
  for (const auto& [rule, count] : findings.left_out()) out["leftOut"][std::string(rule)] = count;
  out["findings"] = projections::Json::array();
  for (const auto& f : findings.sorted()) {
    projections::Json one{{"severity", severity_name(f.rule->severity)}, {"rule", f.rule->id}, {"object", f.object}};
    if (!f.field.empty()) one["field"] = f.field;
    if (!f.found.empty()) one["found"] = f.found;
    one["happens"] = f.happens;
    if (!f.rule->remedy.empty()) one["remedy"] = f.rule->remedy;
    out["findings"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hindsight::cli::migrate

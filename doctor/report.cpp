#include "doctor/report.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "projections/table.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::doctor {
namespace {

using projections::Tone;

constexpr std::size_t status_columns = 9, name_columns = 15;

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

Tone tone_of(std::string_view status) {
  if (status == "ok") return Tone::good;
  if (status == "warning") return Tone::waiting;
  if (status == "error") return Tone::bad;
  return Tone::faint;
}

std::string in_tone(std::string_view word, bool colour) {
  return colour ? projections::painted(std::string(word), tone_of(word)) : std::string(word);
}

std::string padding(std::size_t width, std::size_t columns) { return std::string(columns > width ? columns - width : 1, ' '); }

struct Told {
  std::string_view check;
  const Finding* finding;
};

/// Worst first; of equal ones in the order of the checks.
std::vector<Told> by_severity(const Examination& examination) {
  std::vector<Told> out;
  for (const auto& one : examination.checks)
    for (const auto& finding : one.outcome.findings) out.push_back({one.check, &finding});
  std::stable_sort(out.begin(), out.end(), [](const Told& a, const Told& b) { return a.finding->severity > b.finding->severity; });
  return out;
}

std::size_t beyond(const Examination& examination) {
  std::size_t out = 0;
  for (const auto& one : examination.checks) out += one.outcome.more;
  return out;
}

}  // namespace

std::string line_of(const Examined& examined, bool colour) {
  const auto status = examined.status();
  return in_tone(status, colour) + padding(status.size(), status_columns) + std::string(examined.check) +
         padding(examined.check.size(), name_columns) + printable(examined.outcome.summary) + "\n";
}

std::string text_of_findings(const Examination& examination, std::size_t max, bool colour) {
  std::string out;
  const auto all = by_severity(examination);
  for (std::size_t i = 0; i < std::min(all.size(), max); ++i) {
    const Finding& one = *all[i].finding;
    out += "\n" + in_tone(word_of(one.severity), colour) + ": " + printable(one.object) + "\n";
    out += "  found: " + printable(one.found) + "\n";
    out += "  allowed: " + printable(one.allowed) + "\n";
    out += "  what to do: " + printable(one.advice) + (one.command.empty() ? "\n" : ":\n    " + printable(one.command) + "\n");
  }
  const std::size_t left_out = all.size() - std::min(all.size(), max) + beyond(examination);
  if (left_out > 0) out += "\n... and " + std::to_string(left_out) + " more\n";
  const auto count = [&](Severity severity, const char* one, const char* many) { return counted(examination.count(severity), one, many); };
  out += "\n" + count(Severity::error, "error", "errors") + ", " + count(Severity::warning, "warning", "warnings") + ", " +
         count(Severity::note, "note", "notes") + "\n";
  return out;
}

projections::Json document_of(const Examination& examination, std::size_t max) {
  using projections::Json;
  Json list = Json::array(), findings = Json::array();
  for (const auto& one : examination.checks)
    list.push_back({{"name", std::string(one.check)},
                    {"status", std::string(one.status())},
                    {"couldNotLook", one.outcome.standing == Standing::blind},
                    {"summary", one.outcome.summary}});
  const auto all = by_severity(examination);
  for (std::size_t i = 0; i < std::min(all.size(), max); ++i) {
    const Finding& one = *all[i].finding;
    findings.push_back({{"check", std::string(all[i].check)},
                        {"severity", std::string(word_of(one.severity))},
                        {"object", one.object},
                        {"found", one.found},
                        {"allowed", one.allowed},
                        {"advice", one.advice},
                        {"command", one.command}});
  }
  return {{"checks", std::move(list)},
          {"findings", std::move(findings)},
          {"leftOut", all.size() - std::min(all.size(), max) + beyond(examination)},
          {"errors", examination.count(Severity::error)},
          {"warnings", examination.count(Severity::warning)},
          {"notes", examination.count(Severity::note)}};
}

}  // namespace hindsight::doctor

#include "whatif/document.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "vocabulary/printable.hpp"

namespace hindsight::whatif {
namespace {

/// As all commands write hashes.
std::string hash_text(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

projections::Json to_json(const Comparison& comparison, const PlayReport& report, Position from, Position until) {
  projections::Json out = to_json(comparison);
  out["from"] = from;
  out["until"] = until;
  out["records"] = report.records;
  out["decisions"] = {{"made", report.decisions}, {"recordedThatTheWorldAnswers", report.recorded}, {"ofThoseMadeAgain", report.same}};
  out["modelled"] = report.modelled;
  out["contested"] = projections::Json::array();
  for (const auto& text : report.contested) out["contested"].push_back(printable(text));
  out["stateHash"] = hash_text(report.state_hash);
  return out;
}

projections::Json to_json(const Comparison& comparison, const std::vector<DomainReport>& reports, Position from, Position until) {
  projections::Json out = to_json(comparison, together(reports), from, until);
  if (reports.size() < 2) return out;
  out.erase("stateHash");
  out["domains"] = projections::Json::array();
  for (const auto& [domain, report] : reports)
    out["domains"].push_back({{"domain", printable(domain)},
                              {"records", report.records},
                              {"decisions", report.decisions},
                              {"modelled", report.modelled},
                              {"stateHash", hash_text(report.state_hash)}});
  return out;
}

}  // namespace hindsight::whatif

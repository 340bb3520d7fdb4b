#include "cli/audit_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "evidence/lines.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::cli {
namespace {

using replay::AuditReport;

Json up_to(const std::optional<replay::AuditedUpTo>& upto) {
  if (!upto) return Json();
  Json out{{"position", upto->position}, {"records", upto->records}, {"time", format_rfc3339(upto->time)}};
  if (!upto->key.empty()) out["key"] = upto->key;
  return out;
}

const char* from_text(events::ChainStart::From from) {
  switch (from) {
    case events::ChainStart::From::beginning:
      return "beginning";
    case events::ChainStart::From::cut:
      return "cut";
    case events::ChainStart::From::lost:
      return "firstKept";
    case events::ChainStart::From::checkpoint:
      return "checkpoint";
  }
  return "";
}

Json epochs(const AuditReport& r) {
  Json out = Json::array();
  for (const auto& e : r.epochs) {
    Json one{{"domain", valid_utf8(e.domain)},   {"epoch", e.epoch},         {"begun", e.begun},  {"writer", valid_utf8(e.writer)},
             {"release", valid_utf8(e.release)}, {"decisions", e.decisions}, {"fenced", e.fenced}};
    if (e.since.is_set()) one["since"] = format_rfc3339_micro(e.since);
    if (e.last_decision != 0) one["lastDecision"] = e.last_decision;
    out.push_back(std::move(one));
  }
  return out;
}

Json decisions(const AuditReport& r) {
  Json out = Json::array();
  for (const auto& [domain, v] : r.decisions)
    out.push_back({{"domain", valid_utf8(domain)},
                   {"clean", v.clean()},
                   {"from", v.from},
                   {"position", v.to},
                   {"hash", hex(v.state_hash)},
                   {"decisions", v.decisions},
                   {"mismatchedDecisions", v.mismatched_decisions},
                   {"decisionsByOtherRules", v.other_rules},
                   {"decisionsBegunBefore", v.begun_before},
                   {"setAside", v.passed_over}});
  return out;
}

Json texts(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const auto& text : list) out.push_back(valid_utf8(text));
  return out;
}

Json checkpoint(const evidence::Checkpoint& c) {
  Json out{{"position", c.position},
           {"begin", c.head.begin},
           {"records", c.head.records},
           {"hash", evidence::hex(c.head.hash)},
           {"time", c.time.micros},
           {"release", c.release},
           {"key", c.key},
           {"signature", evidence::base64(c.signature)}};
  return out;
}

}  // namespace

Json audit_document(const AuditReport& r, bool keys_named, const std::optional<evidence::Checkpoint>& added, double seconds) {
  Json failures = Json::array();
  for (const auto& f : r.failures) failures.push_back({{"position", f.position}, {"what", valid_utf8(f.what)}});
  Json out{{"sound", r.sound()},
           {"first", r.first},
           {"last", r.last},
           {"chain",
            {{"from", from_text(r.from)},
             {"begin", r.head.begin},
             {"behind", r.start.records},
             {"behindHash", evidence::hex(r.start.hash)},
             {"records", r.head.records},
             {"hash", evidence::hex(r.head.hash)}}},
           {"passedOver", r.passed_over},
           {"checkpoints",
            {{"compared", r.checkpoints.compared},
             {"signedByNamedKeys", r.checkpoints.good},
             {"signedByOtherKeys", r.checkpoints.other_keys},
             {"unsigned", r.checkpoints.unsigned_},
             {"ofForgottenRecords", r.checkpoints.before},
             {"notReached", r.checkpoints.not_reached}}},
           {"signedUpTo", up_to(r.signed_up_to)},
           {"storedUpTo", up_to(r.stored_up_to)},
           {"knownUpTo", r.known_up_to},
           {"epochsBegun", r.epochs_begun},
           {"epochs", epochs(r)},
           {"decisions", decisions(r)},
           {"failed", r.failed},
           {"failures", std::move(failures)},
           {"proved", texts(replay::proved(r))},
           {"notProved", texts(replay::not_proved(r, keys_named))}};
  if (added) out["stored"] = checkpoint(*added);
  out["seconds"] = seconds;
  return out;
}

}  // namespace hindsight::cli

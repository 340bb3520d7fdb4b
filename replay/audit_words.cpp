#include <algorithm>
#include <string>

#include "replay/audit.hpp"

namespace hindsight::replay {
namespace {

using From = events::ChainStart::From;

std::string figure(std::uint64_t n) { return std::to_string(n); }

std::string unchanged_text(Position from, Position to) {
  return from >= to ? "Record " + figure(to) + " is what it was" : "Records " + figure(from) + " to " + figure(to) + " are what they were";
}

std::string made(const AuditedUpTo& upto) { return "at " + format_rfc3339(upto.time); }

struct Decided {
  std::uint64_t again = 0, other_rules = 0, begun_before = 0, set_aside = 0;
  std::size_t clean_domains = 0;
};

Decided decided(const AuditReport& r) {
  Decided out;
  for (const auto& [domain, found] : r.decisions) {
    out.again += found.decisions - found.mismatched_decisions - found.other_rules;
    out.other_rules += found.other_rules;
    out.begun_before += found.begun_before;
    out.set_aside += found.passed_over;
    out.clean_domains += found.clean() ? 1 : 0;
  }
  return out;
}

std::string counted_text(std::uint64_t n, const std::string& one, const std::string& many) {
  return figure(n) + " " + (n == 1 ? one : many);
}

}  // namespace

std::vector<std::string> proved(const AuditReport& r) {
  std::vector<std::string> out;
  if (r.signed_up_to && r.signed_up_to->position > r.chain_from)
    out.push_back(unchanged_text(r.chain_from + 1, r.signed_up_to->position) + " when a checkpoint was signed " + made(*r.signed_up_to) +
                  ": nobody without key " + r.signed_up_to->key + " has changed, removed, added or moved one of them since.");
  if (r.known_up_to > r.start.records)
    out.push_back("The records up to number " + figure(r.known_up_to) + " in the chain are those of which the head was noted elsewhere.");
  if (r.stored_up_to && (!r.signed_up_to || r.stored_up_to->position > r.signed_up_to->position))
    out.push_back("The records up to " + figure(r.stored_up_to->position) + " lead to the checkpoint that was stored " +
                  made(*r.stored_up_to) + ", which is not signed by a key that was named: no accident has changed one of them since.");
  if (const auto d = decided(r); d.again > 0)
    out.push_back(counted_text(d.again, "decision follows", "decisions follow") + " from what was known when " +
                  (d.again == 1 ? "it was" : "they were") + " made, in " + counted_text(r.decisions.size(), "domain", "domains") + ".");
  if (r.epochs_begun > 0 && r.sound())
    out.push_back("Every decision was made by the writer whose epoch had begun last; there " +
                  std::string(r.epochs_begun == 1 ? "was " : "were ") + counted_text(r.epochs_begun, "epoch", "epochs") +
                  (r.passed_over > 0 ? ", and " +
                                           counted_text(r.passed_over, "record of a writer that had been replaced has",
                                                        "records of writers that had been replaced have") +
                                           " no effect."
                                     : "."));
  return out;
}

std::vector<std::string> not_proved(const AuditReport& r, bool keys_named) {
  std::vector<std::string> out;
  if (r.first > 1)
    out.push_back(r.from == From::lost
                      ? "Records before " + figure(r.first) + " are gone, and no chain was kept of them: the chain begins with record " +
                            figure(r.first) + "."
                      : "Records before " + figure(r.first) + " are gone: only what was kept of the chain names them.");
  if (r.from == From::checkpoint && r.chain_from >= r.first)
    out.push_back("Records " + figure(r.first) + " to " + figure(r.chain_from) +
                  " are not covered: the head of the chain before them was not kept, so it is computed from the checkpoint at position " +
                  figure(r.chain_from) + " on, which is believed.");
  const auto& c = r.checkpoints;
  const Position covered = r.signed_up_to ? std::max(r.signed_up_to->position, r.chain_from) : r.chain_from;
  if (!keys_named) {
    out.push_back(
        c.good + c.other_keys > 0
            ? "No public key was named, so no signature was checked: what holds, holds against accidents, and not against somebody "
              "who can write to the log."
            : "No checkpoint is signed: whoever can write to the log can change records and compute the checkpoints anew.");
  } else if (r.last > covered) {
    out.push_back(
        "Records " + figure(covered + 1) + " to " + figure(r.last) +
        " are not covered by a checkpoint that a named key has signed: somebody who can write to the log could have changed them.");
  }
  if (c.other_keys > 0 && keys_named)
    out.push_back(counted_text(c.other_keys, "checkpoint is", "checkpoints are") + " signed by keys that were not named.");
  if (c.compared == 0 && r.known_up_to <= r.start.records && r.last >= r.first)
    out.push_back("There is no checkpoint to compare with: only from the next one on a change can be found.");
  const auto d = decided(r);
  if (d.other_rules > 0)
    out.push_back(counted_text(d.other_rules, "decision", "decisions") +
                  " by rules of other releases would be made otherwise today, and cannot be judged by this one.");
  if (d.begun_before > 0)
    out.push_back(counted_text(d.begun_before, "decision", "decisions") + " cannot be made again: what " +
                  (d.begun_before == 1 ? "it" : "they") + " began with is before the first record that is kept.");
  if (d.set_aside > 0) out.push_back(counted_text(d.set_aside, "record was", "records were") + " set aside and decided nothing.");
  if (r.decisions.empty() && r.last >= r.first) out.push_back("No decision was made again.");
  if (r.passed_over > 0)
    out.push_back(counted_text(r.passed_over, "record that has", "records that have") + " no effect " +
                  (r.passed_over == 1 ? "is" : "are") + " no part of the chain.");
  out.emplace_back(
      "That nothing was left out when the records were written is proved by nobody: the chain begins when a record is in the log.");
  return out;
}

}  // namespace hindsight::replay

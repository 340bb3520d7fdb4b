#include "replay/audit_chain.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::replay {
namespace {

using evidence::Head;

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string records_text(Position from, Position to) {
  return from >= to ? "record " + number(to) : "records " + number(from) + " to " + number(to);
}

}  // namespace

void add_failure(AuditReport& report, Position position, std::string what) {
  ++report.failed;
  if (report.failures.size() < audit_failures_max) report.failures.push_back({position, std::move(what)});
}

ChainAudit::ChainAudit(const events::ChainStart& start, std::vector<Checkpoint> checkpoints, const AuditOptions& options,
                       AuditReport& report)
    : options_(options), report_(report), checkpoints_(std::move(checkpoints)), known_(options.known), good_(start.at.position) {
  std::ranges::sort(known_, {}, &KnownHead::records);
  for (; next_ < checkpoints_.size() && checkpoints_[next_].position <= start.at.position; ++next_) {
    if (checkpoints_[next_].position == start.at.position)
      (void)judge_signature(checkpoints_[next_]);  // the walk begins with what it says
    else
      ++report_.checkpoints.before;
  }
  for (; next_known_ < known_.size() && known_[next_known_].records < start.head.records; ++next_known_)
    fail_at(start.at.position + 1, "the head that was noted of record " + number(known_[next_known_].records) +
                                       " cannot be compared: the chain of what is kept begins behind record " + number(start.head.records));
  compare_known(start.head);
}

void ChainAudit::fail_at(Position position, std::string what) {
  report_.chain_sound = false;
  add_failure(report_, position, std::move(what));
}

void ChainAudit::meet(const events::ChainedRecord& met) {
  if (met.order != RecordOrder::passed_over) {
    if (adopted_) adopted_->add(met.content);
    compare_known(met.head);
  }
  for (; next_ < checkpoints_.size() && checkpoints_[next_].position <= met.record.offset; ++next_) compare(checkpoints_[next_], met.head);
}

void ChainAudit::compare_known(const Head& head) {
  for (; next_known_ < known_.size() && known_[next_known_].records == head.records; ++next_known_) {
    if (known_[next_known_].hash == head.hash) {
      report_.known_up_to = head.records;
      continue;
    }
    fail_at(good_ + 1, "the head that was noted of record " + number(head.records) + " is " + evidence::hex(known_[next_known_].hash) +
                           ", the records lead to " + evidence::hex(head.hash) + ": a record up to there was changed");
  }
}

bool ChainAudit::judge_signature(const Checkpoint& checkpoint) {
  if (!checkpoint.is_signed()) {
    ++report_.checkpoints.unsigned_;
    return false;
  }
  if (evidence::signer_of(checkpoint, options_.keys) != nullptr) {
    ++report_.checkpoints.good;
    return true;
  }
  const bool named = std::ranges::any_of(options_.keys, [&](const evidence::PublicKey& key) { return key.id() == checkpoint.key; });
  if (named)
    fail_at(checkpoint.position, "the signature of the checkpoint at position " + number(checkpoint.position) + " is not by key " +
                                     checkpoint.key + " over what it says: the checkpoint was changed");
  else
    ++report_.checkpoints.other_keys;
  return false;
}

void ChainAudit::compare(const Checkpoint& checkpoint, const Head& head) {
  ++report_.checkpoints.compared;
  const bool by_key = judge_signature(checkpoint);
  if (checkpoint.head == head)
    agree(checkpoint, by_key);
  else
    disagree(checkpoint, head, by_key);
}

/// All records up to it are those that it was made of.
void ChainAudit::agree(const Checkpoint& checkpoint, bool by_key) {
  if (doubt_)
    fail_at(doubt_->at, "the checkpoint at position " + number(doubt_->at) + " is not what the records lead to" + doubt_->detail +
                            ", and the next one, at " + number(checkpoint.position) +
                            ", is: the checkpoint was changed, and not the records");
  doubt_.reset();
  adopted_.reset();
  good_ = checkpoint.position;
  const AuditedUpTo upto{checkpoint.position, checkpoint.head.records, checkpoint.time, by_key ? checkpoint.key : std::string()};
  report_.stored_up_to = upto;
  if (by_key) report_.signed_up_to = upto;
}

void ChainAudit::disagree(const Checkpoint& checkpoint, const Head& head, bool by_key) {
  const bool follows = adopted_ && adopted_->head() == checkpoint.head;
  const std::string changed = " are not those that the checkpoint at position ";
  if (follows && !doubt_) {  // told already
    good_ = checkpoint.position;
    return;
  }
  if (follows) {
    fail_at(doubt_->good + 1, records_text(doubt_->good + 1, doubt_->at) + changed + number(doubt_->at) + " was made of" + doubt_->detail +
                                  ": one of them was changed, removed, added or moved; those behind it, up to " +
                                  number(checkpoint.position) + ", are those of the next checkpoint");
    doubt_.reset();
    good_ = checkpoint.position;
    return;
  }
  if (doubt_)
    fail_at(doubt_->good + 1, records_text(doubt_->good + 1, doubt_->at) + changed + number(doubt_->at) + " was made of" + doubt_->detail +
                                  ", or it was changed");
  std::string detail;
  if (const std::uint64_t found = adopted_ ? adopted_->head().records : head.records; found != checkpoint.head.records)
    detail = " (its chain has " + number(checkpoint.head.records) + " records there, the log has " + number(found) + ")";
  const Position good = std::exchange(good_, checkpoint.position);
  adopted_.emplace(checkpoint.head);
  doubt_ = Doubt{good, checkpoint.position, std::move(detail)};
  if (!by_key) return;
  fail_at(good + 1, records_text(good + 1, checkpoint.position) + changed + number(checkpoint.position) + ", which key " + checkpoint.key +
                        " has signed, was made of" + doubt_->detail + ": one of them was changed, removed, added or moved");
  doubt_.reset();
}

void ChainAudit::end(Position reached, const Head& head, bool whole) {
  if (doubt_)
    fail_at(doubt_->good + 1, records_text(doubt_->good + 1, doubt_->at) + " are not those that the checkpoint at position " +
                                  number(doubt_->at) + " was made of" + doubt_->detail + ", or it was changed");
  doubt_.reset();
  for (; next_ < checkpoints_.size(); ++next_) {
    const Checkpoint& checkpoint = checkpoints_[next_];
    if (!whole) {
      ++report_.checkpoints.not_reached;
      continue;
    }
    fail_at(reached + 1, "the checkpoint at position " + number(checkpoint.position) +
                             " covers records that are not there: the log ends with " + number(reached) +
                             ", so records were removed from its end, or the checkpoint is of another log");
  }
  for (; next_known_ < known_.size(); ++next_known_)
    fail_at(reached + 1, "the head that was noted of record " + number(known_[next_known_].records) +
                             " cannot be compared: the chain was computed up to record " + number(head.records));
}

}  // namespace hindsight::replay

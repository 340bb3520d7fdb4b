#include "replay/verify.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "admission/rules.hpp"
#include "admission/state/state_walk.hpp"
#include "events/json.hpp"
#include "events/proposals.hpp"
#include "events/settings.hpp"
#include "replay/judgement.hpp"
#include "replay/lookahead.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::replay {
namespace {

using admission::Domain;
using events::SnapshotMeta;

std::string hex(std::uint64_t v) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; v >>= 4) out[i] = digits[v & 15];
  return out;
}

}  // namespace

class Verification::Verifier {
 public:
  Verifier(const Log& log, events::ReadRecords read, std::string domain, VerifyOptions options)
      : log_(log), read_(std::move(read)), domain_(std::move(domain)), options_(std::move(options)) {}

  Result<void> begin() {
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    const auto snapshots = snapshots_of(log_, domain_);
    if (!snapshots) return tl::unexpected(snapshots.error());
    for (const auto& s : *snapshots) snapshots_.emplace(s.position, s);
    last_ = std::min(options_.to.value_or(*last), *last);
    auto set_aside = events::passed_over(log_, domain_);
    if (!set_aside) return tl::unexpected(set_aside.error());
    set_aside_ = std::move(*set_aside);
    driver_ = new_driver();
    driver_->entities().domain().pass_over(set_aside_);
    if (options_.from_snapshot) {
      start_from_snapshot(*options_.from_snapshot);
      if (report_.from == 0) {  // no snapshot is so old: from the beginning, where there is one
        const auto beginning = log_.beginning(domain_);
        if (!beginning) return tl::unexpected(beginning.error());
        report_.from = report_.to = *beginning;
      }
    } else if (auto ok = start_from_beginning(); !ok) {
      return tl::unexpected(ok.error());
    }
    begins_at_ = driver_->domain().sequence();
    to_check_ = snapshots_.upper_bound(report_.from);
    const auto& domain = driver_->domain();
    records_.emplace(read_, domain_, report_.from, domain.sequence(), domain.epoch(), domain.context().decided_base, set_aside_);
    return {};
  }

  void to(Position position) {
    const Position upto = std::min(position, last_);
    while (!report_.damage && report_.to < last_) {
      if (options_.progress && report_.records % 1024 == 0) options_.progress(report_.to - report_.from, last_ - report_.from);
      if (!next_) {
        decide_if_due(*records_);
        try_if_noted(*records_);
        next_ = records_->next();
      }
      if (!next_ || next_->offset > upto) return;
      const auto stored = *std::exchange(next_, std::nullopt);
      check_snapshots_before(stored.offset);
      if (!apply(stored)) return;
      report_.to = stored.offset;
    }
  }

  VerifyReport finish() {
    to(last_);
    if (!stopped_) {
      if (!records_->error()) check_snapshots_before(last_ + 1);
      if (records_->error() && report_.to < last_) report_.damage = records_->error();
      if (options_.progress) options_.progress(last_ - report_.from, last_ - report_.from);
    }
    report_.state_hash = driver_->state_hash();
    return std::move(report_);
  }

 private:
  /// Where the log has forgotten the domain's beginning: its oldest snapshot.
  Result<void> start_from_beginning() {
    const auto beginning = log_.beginning(domain_);
    if (beginning) {
      report_.from = report_.to = *beginning;
      return {};
    }
    if (beginning.error().kind != ErrorKind::not_found || snapshots_.empty()) return tl::unexpected(beginning.error());
    start_from_snapshot(snapshots_.begin()->first);
    return report_.from != 0 ? Result<void>() : tl::unexpected(beginning.error());
  }

  void start_from_snapshot(Position newest) {
    for (auto it = snapshots_.rbegin(); it != snapshots_.rend(); ++it) {
      if (it->first > std::min(newest, last_)) continue;
      auto fresh = new_driver();
      if (const auto loaded = load_state(log_, it->second, domain_, fresh->entities()); !loaded) {
        judge_unusable(it->first, loaded.error());
        continue;
      }
      driver_ = std::move(fresh);
      report_.from = report_.to = it->first;
      return;
    }
  }

  /// Decides now if the next decision on record was made at this state.
  void decide_if_due(Lookahead& records) {
    const auto coming = records.next_decision();
    if (!coming || computed_at_ == coming->offset || coming->base != driver_->domain().sequence()) return;
    computed_ = driver_->decide();
    computed_at_ = coming->offset;
  }

  /// Finds out what would be decided, if a note says so of this state. A look takes as long as thousands of records.
  void try_if_noted(Lookahead& records) {
    constexpr std::uint64_t all_of = 200, one_of = 64;
    const std::uint64_t sequence = driver_->domain().sequence();
    if (!records.has_note_on(sequence) || tried_.contains(sequence)) return;
    if (++noted_states_ > all_of && noted_states_ % one_of != 0) return;
    tried_.erase(tried_.begin(), tried_.lower_bound(sequence > kept_tries ? sequence - kept_tries : 0));
    const auto trial = events::try_out(
        driver_->entities(), [](Text json) { return events::read_settings(json); }, domain_);
    if (!trial) return;  // who decided it could not have either; the note stays unjudged
    Tried& tried = tried_[sequence];
    for (const auto& step : trial->steps)
      for (const Event& e : std::get<Decisions>(step->view().body).events) tried.meanings.insert(events::meaning_of(e));
    here_.forget();
    (void)here_.take(*trial, *driver_);
    here_at_ = trial->at_rest ? sequence : 0;
  }

  /// What another controller decided next is judged before it is applied: a note may say that it would not have been decided.
  void meet_foreign_decision(const RecordView& record) {
    if (here_at_ == 0 || here_at_ != driver_->domain().sequence()) return;
    const auto decision = events::foreign_decision(record, *driver_);
    if (decision && !here_.foresees(*decision)) tried_[here_at_].unforeseen = std::string(decision->workload.uid);
  }

  void judge_note(const events::StoredRecord& stored, const DecisionsNoted& note) {
    ++report_.notes;
    const auto tried = tried_.find(note.base);
    if (tried == tried_.end() || note.rules != admission::rules_version) return;
    ++report_.judged_notes;
    for (std::size_t i = 0; i < note.events.size(); ++i) {
      if (tried->second.meanings.contains(events::meaning_of(note.events[i]))) continue;
      return mismatched_note(stored, {note.base, note.rules, note.events.subspan(i, 1), {}}, i, "event", "nothing like it");
    }
    for (std::size_t i = 0; i < note.would_not.size(); ++i) {
      if (tried->second.unforeseen == note.would_not[i].uid) continue;
      return mismatched_note(stored, {note.base, note.rules, {}, {}, note.would_not.subspan(i, 1)}, i, "would_not",
                             "the same as the other controller decided, or no decision of it");
    }
  }

  void mismatched_note(const events::StoredRecord& stored, const DecisionsNoted& part, std::size_t index, const char* field,
                       const char* found) {
    ++report_.mismatched_decisions;
    if (report_.mismatches.size() >= mismatches_max) return;
    constexpr std::size_t told_max = 300;
    report_.mismatches.push_back(
        {stored.offset, part.base, stored.epoch, release_, {index, "note", field, events::to_line({{}, part}, told_max), found}});
  }

  bool apply(const events::StoredRecord& stored) {
    auto& domain = driver_->entities().domain();
    if (const Envelope envelope{stored.domain, stored.sequence, stored.epoch, stored.time, 0}; domain.passes_over(envelope)) {
      domain.pass(envelope);
      ++report_.records;
      ++report_.passed_over;
      return true;
    }
    const auto record = reader_.read(stored.bytes);
    if (!record) {
      return damaged_at(stored.offset, record.error());
    }
    const auto* started = std::get_if<EpochStarted>(&(*record)->body);
    if (started != nullptr && driver_->domain().counts((*record)->envelope)) release_ = started->release;
    const std::uint64_t stale = driver_->domain().stale_decisions();
    const auto* decisions = std::get_if<Decisions>(&(*record)->body);
    const auto found = decisions != nullptr && computed_at_ == stored.offset
                           ? judge(*driver_, *decisions, std::exchange(computed_, std::nullopt))
                           : Judgement{};
    if (here_at_ != 0 && driver_->domain().counts((*record)->envelope)) meet_foreign_decision(**record);
    if (auto ok = apply_record(*driver_, **record); !ok) {
      return damaged_at(stored.offset, ok.error());
    }
    driver_->forget_touched();
    ++report_.records;
    if (const auto* noted = std::get_if<DecisionsNoted>(&(*record)->body)) judge_note(stored, *noted);
    if (decisions == nullptr) return true;
    if (driver_->domain().stale_decisions() != stale)
      ++report_.stale_decisions;
    else
      note(stored, *decisions, found);
    return true;
  }

  /// Nothing behind it can be judged.
  bool damaged_at(Position offset, const Error& error) {
    report_.damage = at_record(log_, offset, error).value();
    stopped_ = true;
    return false;
  }

  void note(const events::StoredRecord& stored, const Decisions& recorded, const Judgement& found) {
    if (computed_at_ != stored.offset) {
      if (recorded.base < begins_at_)
        ++report_.begun_before;
      else
        report_.undecidable.push_back(stored.offset);
      return;
    }
    ++report_.decisions;
    if (!found.difference) return;
    if (found.repeats) {
      ++report_.repeated_decisions;
      return;
    }
    if (const std::uint32_t rules = driver_->domain().rules(); rules != admission::rules_version) {
      ++report_.other_rules;
      report_.rules.insert(rules);
      return;
    }
    ++report_.mismatched_decisions;
    if (report_.mismatches.size() >= mismatches_max) return;
    report_.mismatches.push_back({stored.offset, recorded.base, stored.epoch, release_, *found.difference});
  }

  /// Those whose state is the one between the last record that was applied and the next at `next`.
  void check_snapshots_before(Position next) {
    for (; to_check_ != snapshots_.end() && to_check_->first < next; ++to_check_) check_snapshot(to_check_->first, to_check_->second);
  }

  void check_snapshot(Position position, const SnapshotMeta& meta) {
    const std::uint64_t expected = driver_->state_hash();
    auto fresh = new_driver();
    const auto loaded = load_state(log_, meta, domain_, fresh->entities());
    // A state of another version has another hash as well, although the records lead to it.
    if (!loaded && loaded.error().kind == ErrorKind::unsupported) return judge_unusable(position, loaded.error());
    if (meta.state_hash != expected) {
      report_.snapshot_mismatches.push_back(
          {position, "names state hash " + hex(meta.state_hash) + ", the records lead to " + hex(expected)});
      return;
    }
    if (!loaded) return judge_unusable(position, loaded.error());
    ++report_.snapshots;
    if (const std::uint64_t found = fresh->state_hash(); found != expected) {
      report_.snapshot_mismatches.push_back({position, "holds a state with hash " + hex(found) + ", the records lead to " + hex(expected) +
                                                           difference_of(fresh->entities())});
    } else if (admission::whole_hash(fresh->entities()) != admission::whole_hash(driver_->entities())) {
      report_.snapshot_mismatches.push_back({position, "holds another state than the records lead to" + difference_of(fresh->entities())});
    }
  }

  /// What is otherwise in what was read.
  std::string difference_of(const admission::Entities& read) const {
    const auto difference = admission::first_difference(read, driver_->entities());
    if (!difference) return {};
    const auto shown = [](const std::string& value) { return value.empty() ? "nothing" : value; };
    return "; " + difference->field + ": holds " + shown(difference->one) + ", the records lead to " + shown(difference->other);
  }

  void judge_unusable(Position position, const Error& error) {
    if (error.kind == ErrorKind::not_found) return;  // it names no domain, and holds another one
    auto& list = error.kind == ErrorKind::unsupported ? report_.unread_snapshots : report_.snapshot_mismatches;
    list.push_back({position, error.message});
  }

  const Log& log_;
  const events::ReadRecords read_;
  const std::string domain_;
  const VerifyOptions options_;
  std::optional<Lookahead> records_;
  std::optional<events::StoredRecord> next_;  ///< Read, and not applied yet.
  bool stopped_ = false;                      ///< At a record that cannot be applied.
  std::set<std::uint64_t> set_aside_;         ///< Sequences of records that are passed over.
  std::map<Position, SnapshotMeta> snapshots_;
  std::map<Position, SnapshotMeta>::const_iterator to_check_;
  Position last_ = 0;
  std::unique_ptr<LoopDriver> driver_;
  std::uint64_t begins_at_ = 0;  ///< Sequence of the domain's last record in the state that it started from.
  events::RecordReader reader_;
  std::string release_;
  struct Tried {
    std::set<std::uint64_t> meanings;  ///< Of what would be decided.
    std::string unforeseen;            ///< Uid of the Workload about which another controller decided next, and otherwise; empty: none.
  };
  /// By sequence: what would be decided there. A note comes soon after its base.
  std::map<std::uint64_t, Tried> tried_;
  events::Proposals here_;     ///< What would be decided at the present state, if it was tried and came to rest.
  std::uint64_t here_at_ = 0;  ///< Its sequence.
  static constexpr std::uint64_t kept_tries = 100'000;
  std::uint64_t noted_states_ = 0;
  std::optional<Domain::Step> computed_;
  Position computed_at_ = 0;
  VerifyReport report_;
};

Verification::Verification(const Log& log, events::ReadRecords read, std::string domain, VerifyOptions options)
    : verifier_(std::make_unique<Verifier>(log, std::move(read), std::move(domain), std::move(options))) {}
Verification::Verification(Verification&&) noexcept = default;
Verification::~Verification() = default;

Result<void> Verification::begin() { return verifier_->begin(); }
void Verification::to(Position position) { verifier_->to(position); }
VerifyReport Verification::finish() { return verifier_->finish(); }

Result<VerifyReport> verify(const Log& log, const std::string& domain, const VerifyOptions& options) {
  Verification verification(log, events::reads_of(log), domain, options);
  if (auto ok = verification.begin(); !ok) return tl::unexpected(ok.error());
  return verification.finish();
}

}  // namespace hindsight::replay

#include "replay/decided_again.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "admission/model/event_size.hpp"
#include "events/json.hpp"
#include "replay/scan.hpp"

namespace hindsight::replay {
namespace {

/// As far as one looks for the decisions next to a record that is none.
constexpr Position neighbours_within = 4096;

std::string record_name(const Log& log, Position at) { return "log " + std::string(log.name()) + ", record " + std::to_string(at); }

/// "; the decision before it is record 12, the one behind it record 15"
std::string neighbours(const Log& log, const std::string& domain, Position at) {
  Position before = 0, behind = 0;
  const auto first = log.first();
  const Position from = std::max(first ? *first : at, at > neighbours_within ? at - neighbours_within : 1);
  const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
    if (!std::holds_alternative<Decisions>(record.body)) return true;
    if (stored.offset < at) before = stored.offset;
    if (stored.offset > at) behind = stored.offset;
    return behind == 0;
  };
  if (!scan(log, domain, from, at + neighbours_within, see)) return {};
  std::string out;
  if (before != 0) out += "; the decision before it is record " + std::to_string(before);
  if (behind != 0) out += (before != 0 ? ", the one behind it record " : "; the decision behind it is record ") + std::to_string(behind);
  return out;
}

class DecidingAgain {
 public:
  DecidingAgain(const Log& log, const std::string& domain, Position at, Progress progress, const std::function<bool()>& go_on)
      : log_(log), domain_(domain), at_(at), go_on_(go_on), past_(log, domain, {.use_snapshots = true, .progress = std::move(progress)}) {}

  Result<DecidedAgain> make(admission::DecisionTrace trace) {
    DecidedAgain out;
    out.trace = std::move(trace);
    if (auto ok = read(out); !ok) return tl::unexpected(ok.error());
    if (auto ok = go_to_base(out); !ok) return tl::unexpected(ok.error());
    out.rules = past_.driver().domain().rules();
    try {
      out.step = past_.driver().decide(&out.trace);
    } catch (const std::exception& bug) {
      return fail(ErrorKind::corrupt, record_name(log_, at_) + ": it cannot be decided again: " + bug.what());
    }
    return compare(std::move(out));
  }

 private:
  /// What is on record.
  Result<void> read(DecidedAgain& out) {
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    if (at_ == 0 || at_ > *last)
      return fail(ErrorKind::not_found, "found record " + std::to_string(at_) + ", which is not in the log " + std::string(log_.name()) +
                                            (*last == 0 ? "; it is empty" : "; allowed: 1 to " + std::to_string(*last)));
    events::RecordBatch batch;
    if (auto ok = log_.read(at_, {}, batch); !ok) return ok;
    if (batch.empty() || batch[0].offset != at_) return fail(ErrorKind::not_found, record_name(log_, at_) + " is not there");
    const auto stored = batch[0];
    if (stored.domain != domain_)
      return fail(ErrorKind::invalid, record_name(log_, at_) + " is of the domain " + std::string(stored.domain) + ", not of " + domain_);
    const auto set_aside = log_.quarantined();
    if (!set_aside) return tl::unexpected(set_aside.error());
    if (find_quarantined(*set_aside, stored) != nullptr)
      return fail(ErrorKind::invalid, record_name(log_, at_) + " was set aside: no reader obeys it");
    const auto record = reader_.read(stored.bytes);
    if (!record) return at_record(log_, at_, record.error());
    const auto* decisions = std::get_if<Decisions>(&(*record)->body);
    if (decisions == nullptr) return fail(ErrorKind::invalid, record_name(log_, at_) + " is no decision" + neighbours(log_, domain_, at_));
    envelope_ = (*record)->envelope;
    envelope_.domain = domain_;  // the record's bytes move
    out.position = at_;
    out.epoch = envelope_.epoch;
    out.time = envelope_.time;
    out.kind = decisions->step;
    out.events = decisions->events.size();
    for (const Event& e : decisions->events) out.bytes += admission::event_bytes(e);
    base_ = decisions->base;
    if (base_ == 0) return fail(ErrorKind::invalid, record_name(log_, at_) + " does not say what it was decided on");
    batch_ = std::move(batch);
    return {};
  }

  /// To the state that the decider knew: its base is a number of the domain's records, which is found neighbours_within the decision.
  Result<void> go_to_base(DecidedAgain& out) {
    const auto first = log_.first();
    if (!first) return tl::unexpected(first.error());
    auto found = find_stored(*first);
    if (!found) return tl::unexpected(found.error());
    if (*found == 0 || !is_there(*found)) {
      // Numbered by readers, or among records that do not count: the fold counts them.
      if (ended_) return tl::unexpected(*error_);
      if (auto counted = find_counted(); !counted)
        return tl::unexpected(counted.error());
      else
        found = counted;
      if (*found == 0 || !is_there(*found)) return not_kept();
    }
    out.base = past_.position();
    return scan(log_, domain_, out.base, out.base, [&](const events::StoredRecord&, const RecordView& record) {
      out.base_record = events::to_text(record);
      return true;
    });
  }

  [[nodiscard]] bool is_there(Position position) {
    const auto there = past_.go_to(position, [this] { return goes_on(); });
    if (!there) error_ = there.error();
    if (!there || !*there) return false;
    return past_.driver().domain().sequence() == base_;
  }

  /// Once it was told to end it does not go on again.
  [[nodiscard]] bool goes_on() {
    if (ended_ || !go_on_ || go_on_()) return !ended_;
    ended_ = true;
    error_ = Error{ErrorKind::unavailable, record_name(log_, at_) + ": it was not decided again, because nobody waits for that any more"};
    return false;
  }

  [[nodiscard]] Result<void> not_kept() const {
    if (error_ && error_->kind != ErrorKind::not_found) return tl::unexpected(*error_);
    const auto first = log_.first();
    return fail(ErrorKind::not_found, record_name(log_, at_) + ": the state that it was decided on, that behind record " +
                                          std::to_string(base_) + " of the domain " + domain_ + ", is not kept any more" +
                                          (first ? "; the log begins at record " + std::to_string(*first) : std::string()));
  }

  /// The record that says of itself that it has this number, the nearest before the decision; 0: there is none.
  [[nodiscard]] Result<Position> find_stored(Position first) const {
    events::RecordBatch batch;
    for (Position end = at_, size = 64; end > first; size *= 4) {
      const Position begin = end - first > size ? end - size : first;
      Position found = 0;
      for (Position p = begin; p < end;) {
        if (auto ok = log_.read(p, {}, batch); !ok) return tl::unexpected(ok.error());
        if (batch.empty()) break;
        for (const auto& stored : batch) {
          p = stored.offset + 1;
          if (stored.offset >= end) break;
          if (stored.domain != domain_) continue;
          if (stored.sequence == base_) found = stored.offset;
          if (stored.sequence == numbered_by_reader) return 0;
        }
      }
      if (found != 0) return found;
      end = begin;
    }
    return 0;
  }

  /// What is not kept is not found.
  [[nodiscard]] static Result<Position> nowhere(const Error& error) {
    return error.kind == ErrorKind::not_found ? Result<Position>(0) : tl::unexpected(error);
  }

  [[nodiscard]] Result<Position> find_counted() {
    Past counting(log_, domain_);
    Position found = 0;
    const auto note = [&](Position position) {
      if (found == 0 && counting.driver().domain().sequence() == base_) found = position;
    };
    counting.look_on({}, [&](Position position, const RecordView&) { note(position); });
    counting.look_on_passed_over([&](const events::StoredRecord& stored) { note(stored.offset); });
    const auto go_on = [this] { return goes_on(); };
    if (auto there = counting.go_to(at_ - 1, go_on); !there)
      return nowhere(there.error());
    else if (!*there)
      return tl::unexpected(*error_);
    if (found != 0 || counting.started_from() == 0) return found;
    // It lies before the snapshot that this began with.
    Past longer(log_, domain_, {.use_snapshots = false});
    const auto note_again = [&](Position position) {
      if (found == 0 && longer.driver().domain().sequence() == base_) found = position;
    };
    longer.look_on({}, [&](Position position, const RecordView&) { note_again(position); });
    longer.look_on_passed_over([&](const events::StoredRecord& stored) { note_again(stored.offset); });
    if (auto there = longer.go_to(at_ - 1, go_on); !there)
      return nowhere(there.error());
    else if (!*there)
      return tl::unexpected(*error_);
    return found;
  }

  /// With the record, and whether that counts, which the records between say.
  Result<DecidedAgain> compare(DecidedAgain out) {
    if (auto ok = past_.fold_to(at_ - 1); !ok) return tl::unexpected(ok.error());
    const auto& domain = past_.driver().domain();
    const auto record = reader_.read(batch_[0].bytes);
    if (!record) return at_record(log_, at_, record.error());
    const auto& decisions = std::get<Decisions>((*record)->body);
    if (!domain.counts(envelope_) || (decisions.base != 0 && decisions.base <= domain.context().decided_base))
      return fail(ErrorKind::invalid, record_name(log_, at_) +
                                          " is a decision that no reader counts: of a writer that had lost the domain, or written twice" +
                                          neighbours(log_, domain_, at_));
    out.judgement = judge(past_.driver(), decisions, out.step);
    return out;
  }

  const Log& log_;
  const std::string& domain_;
  const Position at_;
  const std::function<bool()>& go_on_;
  bool ended_ = false;
  Past past_;
  events::RecordReader reader_;
  events::RecordBatch batch_;
  Envelope envelope_;
  std::uint64_t base_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<DecidedAgain> decide_again(const Log& log, const std::string& domain, Position at, admission::DecisionTrace trace, Progress progress,
                                  const std::function<bool()>& go_on) {
  return DecidingAgain(log, domain, at, std::move(progress), go_on).make(std::move(trace));
}

}  // namespace hindsight::replay

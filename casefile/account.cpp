#include "casefile/account.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "admission/domain/domain.hpp"
#include "events/record.hpp"
#include "projections/explain_target.hpp"
#include "projections/format.hpp"
#include "projections/history.hpp"
#include "projections/mentions.hpp"
#include "projections/queue_place.hpp"
#include "projections/trail.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"

namespace hindsight::casefile {
namespace {

using projections::History;
using projections::Mentions;
using projections::Target;
using projections::Trail;
using projections::TrailFact;

std::string words_of(const TrailFact& fact) {
  const auto because = [&](std::string words) { return fact.reason.empty() ? words : words + ": " + fact.reason; };
  switch (fact.kind) {
    case TrailFact::Kind::reserved:
      return "was given quota";
    case TrailFact::Kind::admitted:
      return "was admitted";
    case TrailFact::Kind::tried:
      return because("was tried");
    case TrailFact::Kind::preempted:
      return because("was preempted by " + fact.other);
    case TrailFact::Kind::preempts:
      return because("preempted " + fact.other);
    case TrailFact::Kind::evicted:
      return because("was evicted");
    case TrailFact::Kind::released:
      return because("gave its quota back");
    case TrailFact::Kind::deactivated:
      return "was deactivated";
    case TrailFact::Kind::finished:
      return because("finished");
    case TrailFact::Kind::pending:
      break;  // what a reader of the object is told; the decision behind it is one of the others
  }
  return {};
}

/// A moment at which it is explained what was decided.
struct Occasion {
  Position position = 0;
  std::string words;
};

/// Without tries that came out as the one before.
std::vector<Occasion> occasions_of(const std::vector<TrailFact>& facts) {
  constexpr std::size_t words_max = 200;
  std::vector<Occasion> out;
  for (const auto& fact : facts) {
    const std::string words = words_of(fact);
    if (words.empty()) continue;
    if (out.empty() || out.back().position != fact.offset)
      out.push_back({fact.offset, words});
    else if (out.back().words.size() < words_max && out.back().words.find(words) == std::string::npos)
      out.back().words += ", " + words;
  }
  out.erase(std::unique(out.begin(), out.end(), [](const Occasion& a, const Occasion& b) { return a.words == b.words; }), out.end());
  return out;
}

/// Leaves the first and the last `most` / 2 of a list; how many went.
template <class T>
std::size_t leave_ends(std::vector<T>& list, std::size_t most) {
  if (list.size() <= most) return 0;
  const std::size_t out = list.size() - most;
  const auto from = list.begin() + static_cast<std::ptrdiff_t>(most / 2);
  list.erase(from, from + static_cast<std::ptrdiff_t>(out));
  return out;
}

class Gathering {
 public:
  Gathering(const events::Log& log, const Question& question, const GatherProgress& progress)
      : log_(log), question_(question), progress_(progress), trail_(question.target) {}

  Result<Account> run() {
    for (auto step : {&Gathering::begin, &Gathering::read, &Gathering::settle_end, &Gathering::fold, &Gathering::choose})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    return std::move(account_);
  }

 private:
  Result<void> begin() {
    account_.target = question_.target;
    account_.domain = question_.domain;
    account_.log = std::string(log_.name());
    const auto set_aside = log_.quarantined();
    if (!set_aside) return tl::unexpected(set_aside.error());
    set_aside_ = *set_aside;
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    account_.position = question_.at ? question_.at->position : *last;
    return {};
  }

  /// What the records say of it, and from where to where they do.
  Result<void> read() {
    Mentions mentions(question_.target);
    Trail trail(question_.target);
    std::set<Position> passed_over;
    const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
      const auto* o = std::get_if<Observation>(&record.body);
      const auto* q = o == nullptr ? nullptr : std::get_if<RecordQuarantined>(o);
      const bool concerns = mentions.concerns(record) || (q != nullptr && passed_over.contains(q->position));
      const bool counts = replay::find_quarantined(set_aside_, stored) == nullptr;
      last_time_ = stored.time;
      if (concerns) {
        if (account_.first == 0) {
          account_.first = stored.offset;
          begin_ = stored.time;
          trail_ = trail;  // what came before, for the fold that begins here
        }
        account_.last = stored.offset;
        named_time_ = stored.time;
        if (!counts) passed_over.insert(stored.offset);
      }
      if (!counts) return true;
      trail.add(stored.offset, record);
      if (concerns && o != nullptr) note(*o, stored.offset);
      return true;
    };
    if (auto ok = replay::scan(log_, question_.domain, 1, account_.position, see, progress_); !ok) return ok;
    if (account_.first == 0)
      return fail(ErrorKind::not_found,
                  question_.target.text() + " is nowhere in log " + account_.log + " up to " + std::to_string(account_.position));
    facts_ = trail.facts();
    lives_on_ = std::any_of(mentions.workloads().begin(), mentions.workloads().end(), [&](const std::string& uid) {
      const auto life = trail.life(uid, last_time_);
      return life && life->end.empty();
    });
    never_had_workload_ = mentions.workloads().empty();
    return {};
  }

  /// When its Workload went, and of which queues and classes it spoke.
  void note(const Observation& o, Position offset) {
    if (const auto* w = std::get_if<WorkloadObserved>(&o)) {
      if (w->owner_kind != "Workload") there_.emplace(w->meta.uid);  // an Option is nothing without its Parent
      if (!there_.empty()) account_.gone = 0;
      if (!w->queue_name.empty()) connected_.local_queues.insert(projections::full_name(w->meta.namespace_, w->queue_name));
      if (!w->priority_class.empty()) connected_.priority_classes.emplace(w->priority_class);
    }
    const auto* gone = std::get_if<ObjectDeleted>(&o);
    if (gone == nullptr) return;
    const auto it = there_.find(gone->uid);
    if (it == there_.end()) return;
    there_.erase(it);
    if (there_.empty()) account_.gone = offset;
  }

  /// Nothing was said of a moment: its end, if it has one.
  Result<void> settle_end() {
    account_.time = last_time_;
    const bool ended = !lives_on_ && !never_had_workload_;
    if (!question_.at && ended) {
      account_.position = account_.last;
      account_.time = named_time_;
    }
    account_.asked_by_time = question_.at && question_.at->time.is_set() && question_.at->time > last_time_;
    if (account_.asked_by_time) account_.time = question_.at->time;
    auto occasions = occasions_of(facts_);
    account_.decisions_left_out = leave_ends(occasions, Account::decisions_max);
    for (auto& o : occasions) moments_.push_back({o.position, {}, std::move(o.words), {}});
    return {};
  }

  Result<void> fold() {
    replay::Past past(log_, question_.domain, {.progress = progress_});
    if (auto ok = past.go_to(account_.first - 1); !ok) return ok;
    History story(question_.target);
    Mentions mentions(question_.target);
    Watch watch(begin_, account_.time);
    const auto before = [&](Position offset, const RecordView& record) {
      explain_up_to(offset - 1, past);
      story.before(record, past.driver());
      watch.before(record, past.driver());
    };
    const auto after = [&](Position offset, const RecordView& record) {
      trail_.add(offset, record);
      story.after(offset, record, past.driver());
      const bool concerns = mentions.concerns(record);
      const auto* o = concerns ? std::get_if<Observation>(&record.body) : nullptr;
      const auto* w = o == nullptr ? nullptr : std::get_if<WorkloadObserved>(o);
      watch.after(record, past.driver(), concerns, w == nullptr ? std::string_view() : w->meta.uid);
    };
    past.look_on(before, after);
    events::RecordReader reader;
    past.look_on_passed_over([&](const events::StoredRecord& stored) {
      const auto record = reader.read(stored.bytes);
      if (!record) return;
      reader.number(past.driver().domain().sequence());
      story.passed_over(stored.offset, **record);
    });
    if (auto ok = past.fold_to(account_.position); !ok) return ok;
    explain_up_to(account_.position, past);
    watch.finish(past.driver());
    past.look_on({}, {});
    past.look_on_passed_over({});
    if (account_.gone == 0) {
      past.driver().look_at(account_.time);
      account_.answer = answer_here(past, account_.position);
    }
    if (!account_.answer.why) fall_back();
    account_.life = trail_.life(uid_, account_.time);
    account_.history = projections::condensed(story.entries());
    account_.history_left_out = leave_ends(account_.history, Account::history_max);
    account_.plots = watch.plots();
    account_.queues_left_out = watch.queues_left_out();
    account_.pairs_left_out = watch.pairs_left_out();
    connected_.add_queues(past.driver(), watch.queues());
    account_.notices = past.notices();
    return {};
  }

  /// Answers what was asked about the state after `position`, which is that of `past`.
  void explain_up_to(Position position, replay::Past& past) {
    if (account_.gone != 0 && account_.answer.position == 0 && position >= account_.gone - 1)
      account_.answer = answer_here(past, account_.gone - 1);
    for (; next_moment_ < moments_.size() && moments_[next_moment_].position <= position; ++next_moment_) {
      Answer& answer = moments_[next_moment_];
      answer.time = past.driver().now();
      auto why = projections::explain_target(past.driver(), question_.target, trail_);
      if (!why) continue;
      answer.why = std::move(*why);
      account_.decisions.push_back(std::move(answer));
    }
  }

  Answer answer_here(replay::Past& past, Position position) {
    Answer out{position, past.driver().now(), {}, {}};
    auto why = projections::explain_target(past.driver(), question_.target, trail_, [&](const projections::WorkloadAt& there) {
      return projections::Stage::of_tree(past.driver(), there);
    });
    if (why) out.why = std::move(*why);
    const auto at = projections::find_workload(past.driver(), question_.target);
    if (at) uid_ = at->workload->uid.text();
    return out;
  }

  /// It was not there at the moment in question, and no record says when it went: what was said of it last.
  void fall_back() {
    if (account_.decisions.empty()) return;
    account_.answer = account_.decisions.back();
    account_.answer.occasion.clear();
  }

  Result<void> choose() {
    connected_.namespace_ = question_.target.namespace_;
    connected_.add_facts(facts_);
    if (account_.answer.why) connected_.add_holders(*account_.answer.why);
    Mentions mentions(question_.target);
    Chooser chooser(std::move(connected_), account_.first);
    const auto see = [&](const events::StoredRecord& stored, const RecordView& record) {
      chooser.see(stored.offset, record, mentions.concerns(record));
      return true;
    };
    if (auto ok = replay::scan(log_, question_.domain, 1, account_.position, see, progress_); !ok) return ok;
    account_.bearing = chooser.finish();
    return {};
  }

  const events::Log& log_;
  const Question& question_;
  const GatherProgress& progress_;
  Account account_;
  std::vector<events::QuarantinedRecord> set_aside_;
  Trail trail_;  ///< Up to the record that the fold has come to.
  std::vector<TrailFact> facts_;
  Time begin_, last_time_, named_time_;
  std::set<std::string, std::less<>> there_;  ///< Uids of Workloads that were not deleted, without Options.
  std::string uid_;                           ///< Of the Workload that the answer is about.
  bool lives_on_ = false, never_had_workload_ = false;
  std::vector<Answer> moments_;
  std::size_t next_moment_ = 0;
  Connected connected_;
};

}  // namespace

Result<Account> gather(const events::Log& log, const Question& question, const GatherProgress& progress) {
  return Gathering(log, question, progress).run();
}

}  // namespace hindsight::casefile

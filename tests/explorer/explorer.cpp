#include "tests/explorer/explorer.hpp"

#include <algorithm>

#include "admission/state/snapshot.hpp"
#include "events/json.hpp"
#include "events/record.hpp"
#include "tests/admission/decided_afresh.hpp"

namespace hindsight::explorer {

using admission::Domain;
using admission::LoopDriver;
using admission::Settings;

namespace {

constexpr std::string_view domain_name = "default";

std::string encoded(const Domain::Step& step) {
  static thread_local events::Encoder encoder;
  RecordView r;
  r.envelope.domain = domain_name;
  r.body = Body{Decisions{step.base, step.kind, step.events}};
  const auto bytes = encoder.encode(r);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string difference(const admission::StateView& a, const admission::StateView& b) {
  std::string out;
  if (a.domain().hash() != b.domain().hash()) out += " domain";
  for (const auto& [name, config] : a.domain().catalog()->queues) {
    const auto* mine = a.queue(name);
    const auto* other = b.queue(name);
    if (mine == nullptr || other == nullptr || mine->hash() != other->hash()) out += " ClusterQueue " + std::string(name.text());
  }
  for (std::uint32_t i = 0; i < std::max(a.domain().parent_count(), b.domain().parent_count()); ++i) {
    const auto* mine = a.parent(i);
    const auto* other = b.parent(i);
    const bool here = mine != nullptr && !mine->empty();
    const bool there = other != nullptr && !other->empty();
    if (here != there || (here && mine->hash() != other->hash())) out += " parent " + std::to_string(i);
  }
  return out;
}

bool same_step(const Domain::Step& a, const Domain::Step& b) {
  return a.base == b.base && a.kind == b.kind && a.events.size() == b.events.size() && encoded(a) == encoded(b);
}

std::string describe(const Domain::Step& step) {
  RecordView r;
  r.envelope.domain = domain_name;
  r.body = Body{Decisions{step.base, step.kind, step.events}};
  return events::to_json(r);
}

Result<Settings> read_settings(Text text) {
  constexpr std::string_view family = "family ";
  if (text.starts_with(family)) {
    auto with = read_settings(text.substr(family.size()));
    if (!with) return with;
    with->concurrent_admission = true;
    with->short_workload_names = !with->partial_admission;
    if (with->backoff_base_seconds == 1) with->preemption_right_timeout = Duration::seconds(10);
    return with;
  }
  Settings s;
  if (text == "fair") {
    s.fair_sharing = true;
  } else if (text == "impatient") {
    s.pods_ready_timeout = Duration::seconds(20);
    s.recovery_timeout = Duration::seconds(10);
    s.backoff_base_seconds = 1;
    s.backoff_limit_count = 3;
    s.retain_finished = Duration::seconds(30);
  } else if (text == "plain") {
    s.scheduling_equivalence_hashing = false;
    s.partial_admission = false;
    s.pods_ready_enabled = false;
    s.preserve_scan_progress = false;
  } else if (text == "sharing") {
    s.admission_fair_sharing = Settings::AdmissionFairSharing{Duration::seconds(60), Duration::seconds(7), {}};
    s.prioritize_preemptors = true;
  } else if (text != "default") {
    return hindsight::fail(ErrorKind::invalid,
                           "settings: found " + std::string(text) + "; allowed: default, fair, impatient, plain, sharing");
  }
  return s;
}

Explorer::Explorer(std::uint64_t seed, bool cycles_hurry, Kind kind)
    : cycles_hurry_(cycles_hurry),
      kind_(kind),
      long_(kind == Kind::families && seed % 5 < 2),
      random_(seed),
      order_(seed ^ 0x5DEECE66DULL),
      users_(kind == Kind::families ? std::make_unique<FamilyUsers>(server_, random_) : std::make_unique<Users>(server_, random_)),
      leader_(new_driver(false)),
      follower_(new_driver(true)) {
  server_.now = Time::from_seconds(1'700'000'000);
  if (seed % 4 == 1 && !families()) users_->resize_often();
  if (seed > seeds_with_kept_states && seed % 16 == 0) write_limit_ = 1 + static_cast<std::uint32_t>(seed / 16 % 2);
}

std::string first_field(const LoopDriver& a, const LoopDriver& b) {
  const auto d = admission::first_difference(a.entities(), b.entities());
  return d ? "; " + d->field + ": " + d->one + " against " + d->other : "";
}

// ---- drivers ----------------------------------------------------------------------------------------------------------------------

admission::DeliveryOrder Explorer::shuffled_order() {
  return [this](std::size_t waiting) { return order_.below(waiting); };
}

std::unique_ptr<LoopDriver> Explorer::new_driver(bool shuffled) {
  auto driver = std::make_unique<LoopDriver>(read_settings, shuffled ? shuffled_order() : admission::DeliveryOrder{});
  bound(driver->entities());
  return driver;
}

/// Who is another one in a copy that was read from a snapshot of this moment.
std::string Explorer::differs_in_copy() {
  auto copy = new_driver(false);
  if (auto ok = admission::SnapshotCodec::read(admission::SnapshotCodec::write(*leader_), *copy); !ok) return " " + ok.error().message;
  return difference(*copy, *leader_) + first_field(*copy, *leader_);
}

std::unique_ptr<LoopDriver> Explorer::folded(bool shuffled) {
  auto driver = new_driver(shuffled);
  for (const auto& r : history_.records())
    if (auto ok = driver->apply(r.view); !ok) fail("replay: " + ok.error().message);
  // What a snapshot does not hold of figures that are shown decides nothing, and differs in one that was restored.
  const bool whole = !families();
  if (driver->state_hash() != leader_->state_hash() ||
      (whole && admission::whole_hash(driver->entities()) != admission::whole_hash(leader_->entities())))
    fail("replay gives another state than live:" + difference(*driver, *leader_) + first_field(*driver, *leader_));
  return driver;
}

/// From a snapshot that was taken at any time, and the records since.
std::unique_ptr<LoopDriver> Explorer::restored() {
  auto driver = new_driver(random_.chance(50));
  if (snapshots_.empty()) return driver;
  const Snapshot& from = random_.pick(snapshots_);
  if (auto ok = admission::SnapshotCodec::read(from.bytes, *driver); !ok) fail("snapshot: " + ok.error().message);
  bound(driver->entities());
  driver->forget_touched();
  for (std::size_t i = from.records; i < history_.records().size(); ++i)
    if (auto ok = driver->apply(history_.records()[i].view); !ok) fail("replay from a snapshot: " + ok.error().message);
  if (driver->state_hash() != leader_->state_hash())
    fail("replay from a snapshot of record " + std::to_string(from.records) +
         " gives another state than live:" + difference(*driver, *leader_) + first_field(*driver, *leader_));
  return driver;
}

/// Those of the jobs being started that hold quota.
std::vector<std::string> Explorer::reserved_starts() const {
  std::vector<std::string> out;
  for (auto& uid : applier_.being_started()) {
    const auto index = leader_->domain().find_parent(uid);
    const auto* parent = index ? leader_->parent(*index) : nullptr;
    if (parent != nullptr && std::ranges::any_of(parent->workloads(), [](const auto& w) { return w.reserved() && !w.is_made_as_option(); }))
      out.push_back(uid);
  }
  return out;
}

void Explorer::record(const HistoryRecord& r) {
  at_rest_ = false;
  if (auto finding = queue_rules_.before(*leader_, r.view); !finding.empty()) fail(finding);
  if (families())
    if (auto finding = family_rules_.before(*leader_, r.view); !finding.empty()) fail(finding);
  const bool decides = std::holds_alternative<Decisions>(r.view.body);
  const auto starts = decides ? reserved_starts() : std::vector<std::string>();
  for (auto* driver : {leader_.get(), follower_.get()})
    if (auto ok = driver->apply(r.view); !ok) fail(ok.error().message);
  if (decides && !std::ranges::includes(reserved_starts(), starts)) fail("a decision took the quota of a job that is being started");
  if (leader_->state_hash() != follower_->state_hash())
    fail("another order of delivery gives another state:" + difference(*leader_, *follower_) + first_field(*leader_, *follower_));
  if (families())
    if (auto finding = family_rules_.after(*leader_, r.view); !finding.empty()) fail(finding);
  if (auto finding = invariants_.check(*leader_, r.view); !finding.empty()) fail(finding);
  if (auto finding = slice_rules_.after(*leader_, r.view); !finding.empty()) fail(finding);
  queue_rules_.after(*leader_, r.view);
  if (texts_every_ != 0 && history_.records().size() % texts_every_ == 0)
    texts_.add(std::string_view(state_text(leader_->entities(), admission::StateDepth::outcomes)));
  if (auto finding = pairs_.see(r.view); !finding.empty()) fail(finding);
  want(leader_->collect_intents());
  follower_->forget_touched();
  if (families() && random_.chance(2)) snapshots_.push_back({history_.records().size(), admission::SnapshotCodec::write(*leader_)});
}

void Explorer::want(std::vector<admission::Intent> intents) {
  if (families())
    if (auto finding = family_rules_.check_starts(*leader_, intents, server_); !finding.empty()) fail(finding);
  applier_.take(std::move(intents));
}

// ---- actions ------------------------------------------------------------------------------------------------------------------------

void Explorer::observe() {
  if (auto o = server_.watch(random_, true)) {
    decisions_in_a_row_ = 0;
    record(history_.append(std::move(*o), server_.now, epoch_));
  }
}

void Explorer::tick() {
  const Time due = leader_->domain().next_due();
  if (due > server_.now && random_.chance(50)) server_.now = due;
  decisions_in_a_row_ = 0;
  record(history_.append(OwnedObservation{nullptr, TimerFired{}}, server_.now, epoch_));
}

void Explorer::decide() {
  if (in_flight_ || at_rest_) return;
  auto mine = leader_->decide();
  // Who replays the log asks where something was decided, and a question that came to nothing left no record: the follower hears few of
  // those.
  if (mine || rests_ % 4 == 0) {
    auto other = follower_->decide();
    if (mine.has_value() != other.has_value() || (mine && !same_step(*mine, *other)))
      fail("another order of delivery, or fewer questions, decide otherwise: " + (mine ? describe(*mine) : "nothing") + " against " +
           (other ? describe(*other) : "nothing"));
  }
  if (!mine) {
    at_rest_ = true;
    if (!leader_->domain().synced()) return;
    if (leader_->domain().waits_for_writes()) {  // who could be admitted waits all the same, until a write is seen
      ++waits_for_writes_;
      return;
    }
    if (auto finding = queue_rules_.check_rest(*leader_); !finding.empty()) fail(finding);
    if (families()) {
      if (auto finding = family_rules_.check_rest(*leader_); !finding.empty()) fail(finding);
      if (!leader_->circling().empty()) fail("at rest something repeats: " + leader_->circling().front());
    }
    const auto settled = [this](const Symbol& root) { return queue_rules_.settled(root); };
    if (auto finding = slice_rules_.check_rest(*leader_, settled); !finding.empty()) fail(finding);
    // what time has brought about and no timer has told yet is no news of the copy's
    const Time due = leader_->domain().next_due();
    if (++rests_ % 16 == 0 && (!due.is_set() || due > leader_->domain().now()))
      if (auto finding = admission::testing::decided_afresh(*leader_, read_settings); !finding.empty())
        fail(finding + "; due " + format_rfc3339_micro(due) + " at " + format_rfc3339_micro(leader_->domain().now()) +
             ", differs:" + differs_in_copy());
    if (look_)
      if (auto finding = look_(*leader_); !finding.empty()) fail(finding);
    return;
  }
  decided_.push_back({mine->base, *mine});
  in_flight_ = std::move(mine);
  constexpr int decisions_in_a_row_max = 400;
  if (++decisions_in_a_row_ > decisions_in_a_row_max) fail("the domain does not come to rest: " + describe(*in_flight_));
}

void Explorer::append_decision() {
  if (!in_flight_) return;
  const auto step = std::move(*in_flight_);
  in_flight_.reset();
  record(history_.append(step, server_.now, epoch_));
  if (random_.chance(2)) record(history_.append(step, server_.now, epoch_));  // its writer believed it lost, and wrote it again
}

void Explorer::take_over(std::uint64_t epoch) {
  epoch_ = epoch;
  record(history_.start_epoch(server_.now, epoch));
  want(leader_->all_intents());
}

void Explorer::crash() {
  leader_ = families() && !snapshots_.empty() && random_.chance(60) ? restored() : folded(random_.chance(50));
  applier_.forget();
  const auto lost = std::move(in_flight_);
  in_flight_.reset();
  const auto old_epoch = epoch_;
  const auto fate = random_.below(3);
  if (lost && fate == 0) record(history_.append(*lost, server_.now, old_epoch));  // it had been written
  take_over(old_epoch + 1);
  if (lost && fate == 1) record(history_.append(*lost, server_.now, old_epoch));  // it is written too late: void
}

void Explorer::step_applier(bool faults) {
  applier_.step(server_, random_, faults);
  for (const auto& i : applier_.take_refusals()) {
    auto arena = std::make_shared<Arena>();
    WriteRefused o;
    o.kind = ObjectKind::workload;
    o.namespace_ = arena->copy(i.namespace_);
    o.name = arena->copy(i.name);
    o.uid = arena->copy(i.parent_uid);
    o.decision_sequence = i.decision_sequence;
    o.http_status = 409;
    o.message = "somebody else has the name";
    record(history_.append(OwnedObservation{std::move(arena), o}, server_.now, epoch_));
  }
}

void Explorer::refuse_a_write() {
  for (std::uint32_t i = 0; i < leader_->domain().parent_count(); ++i) {
    const auto* parent = leader_->parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (!w.reserved() || !w.waits_for(admission::Section::admission)) continue;
      auto arena = std::make_shared<Arena>();
      WriteRefused o;
      o.kind = ObjectKind::workload;
      o.namespace_ = w.namespace_.text();
      o.name = arena->copy(w.name);
      o.uid = arena->copy(w.uid);
      o.decision_sequence = w.last_decision;
      o.http_status = 422;
      o.message = "refused";
      applier_.refused(w.uid.text());
      record(history_.append(OwnedObservation{std::move(arena), o}, server_.now, epoch_));
      return;
    }
  }
}

/// What is kept only to decide faster must not decide: a driver that has just read the log decides the same.
void Explorer::compare_with_fresh_fold() {
  if (in_flight_ || at_rest_) return;
  const auto fresh = families() && !snapshots_.empty() && random_.chance(50) ? restored() : folded(random_.chance(50));
  const auto step = fresh->decide();
  decide();
  if (step.has_value() != in_flight_.has_value() || (step && !same_step(*step, *in_flight_)))
    fail("a fresh fold decides otherwise: " + (step ? describe(*step) : "nothing") + " against " +
         (in_flight_ ? describe(*in_flight_) : "nothing"));
}

void Explorer::one_action(bool faults) {
  server_.now = server_.now + Duration::millis(static_cast<std::int64_t>(random_.below(1500)));
  ++steps_;
  const auto dice = random_.below(200);
  if (dice < 34 && families() && random_.chance(40)) {
    observe();  // a family takes more objects and more writes to come to something
  } else if (dice < 34) {
    users_->act();
    pairs_.outside_event();
  } else if (dice < 96)
    observe();
  else if (dice < 136)
    step_applier(true);
  else if (dice < 160)
    decide();
  else if (dice < 180)
    append_decision();
  else if (dice < 188)
    (void)users_->let_run();
  else if (dice < 195)
    tick();
  else if (dice < 197)
    refuse_a_write();
  else if (dice < 198)
    compare_with_fresh_fold();
  else if (faults)
    crash();
}

// ---- the run ------------------------------------------------------------------------------------------------------------------------

/// Tells, decides or writes the next thing that is under way, without faults; false: nothing is.
bool Explorer::go_on_without_users() {
  ++steps_;
  server_.now = server_.now + Duration::millis(20);
  if (!server_.all_told()) {
    record(history_.append(std::move(*server_.watch(random_, false)), server_.now, epoch_));
    decisions_in_a_row_ = 0;
    return true;
  }
  decide();
  if (in_flight_) {
    append_decision();
    return true;
  }
  if (applier_.idle()) return false;
  step_applier(false);
  return true;
}

/// Everybody stops, and nothing that runs ends: all is told, decided and written, and who was to be woken is awake. Whoever still waits
/// then had better have a reason.
void Explorer::calm() {
  users_->resume_local_queues();
  pairs_.outside_event();
  constexpr int rounds_max = 4000;
  for (int i = 0; i < rounds_max; ++i) {
    if (go_on_without_users() || users_->end_stops()) continue;
    const Time due = leader_->domain().next_due();
    if (!due.is_set() || due > server_.now + Duration::seconds(2)) {
      if (families())
        if (auto finding = family_rules_.check_quiet(*leader_, server_); !finding.empty()) fail(finding);
      if (auto finding = slice_rules_.check_quiet(*leader_); !finding.empty()) fail(finding);
      return;
    }
    if (due > server_.now) server_.now = due;
    decisions_in_a_row_ = 0;
    record(history_.append(OwnedObservation{nullptr, TimerFired{}}, server_.now, epoch_));
  }
  fail("without news from outside the domain does not come to rest");
}

void Explorer::bring_to_rest() {
  users_->make_everything_possible();
  constexpr int rounds_max = 4000;
  pairs_.outside_event();
  for (int i = 0; i < rounds_max; ++i) {
    if (go_on_without_users()) continue;
    if (users_->let_run()) continue;
    if (users_->everything_finished()) return;
    const Time due = leader_->domain().next_due();
    if (due.is_set() && due > leader_->domain().now()) {
      if (due > server_.now) server_.now = due;
      record(history_.append(OwnedObservation{nullptr, TimerFired{}}, server_.now, epoch_));
      continue;
    }
    if (!users_->waiting_for_luck())
      fail("nothing is left to do, yet not everything has finished: " + users_->unfinished() + "; next due " + format_rfc3339_micro(due) +
           ", it is " + format_rfc3339_micro(leader_->domain().now()) + "; server " + format_rfc3339_micro(server_.now));
  }
  fail("the history does not come to an end: " + users_->unfinished() + "; to be written:" + applier_.waiting());
}

std::string Explorer::run() {
  try {
    take_over(1);
    users_->set_up();
    record(history_.append(OwnedObservation{nullptr, ConfigurationObserved{users_->pick_settings()}}, server_.now, epoch_));
    const auto told_first = random_.below(20);
    for (std::size_t i = 0; i < told_first; ++i) observe();
    record(history_.append(OwnedObservation{nullptr, MirrorSynced{}}, server_.now, epoch_));
    if (write_limit_ != 0) record(history_.append(OwnedObservation{nullptr, WriteLimitObserved{write_limit_}}, server_.now, epoch_));
    const auto actions = (100 + random_.below(200)) * (long_ ? 2 : 1);
    for (std::size_t i = 0; i < actions; ++i) one_action(true);
    append_decision();
    calm();
    bring_to_rest();
    (void)folded(true);
    if (families()) (void)restored();
  } catch (const Failure& f) {
    const auto n = history_.records().size();
    return f.what + " (after record " + std::to_string(n) + ": " + (n == 0 ? "" : events::to_text(history_.records().back().view)) + ")";
  }
  return {};
}

}  // namespace hindsight::explorer

#include "tests/explorer/fleet.hpp"

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/state/snapshot.hpp"
#include "events/json.hpp"
#include "tests/explorer/explorer.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::explorer {

using admission::LoopDriver;
using admission::SnapshotCodec;

namespace {

/// States are compared after every so many records, and at the end.
constexpr std::size_t hash_every = 8;

}  // namespace

Fleet::Fleet(std::uint64_t seed) : random_(seed), order_(seed ^ 0x2545F4914F6CDD1DULL), users_(server_, random_), auditor_(new_driver()) {
  server_.now = Time::from_seconds(1'700'000'000);
  connector_.name = "connector";
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].name = "node" + std::to_string(i);
  for (auto* p : everybody()) {
    p->driver = new_driver();
    lose_producer(*p);
  }
}

std::unique_ptr<LoopDriver> Fleet::new_driver() {
  return std::make_unique<LoopDriver>(read_settings, [this](std::size_t waiting) { return order_.below(waiting); });
}

// ---- the log ------------------------------------------------------------------------------------------------------------------------

HistoryRecord Fleet::blank(std::uint64_t epoch) const {
  HistoryRecord r;
  r.view.envelope = {"default", numbered_by_reader, epoch, server_.now, 0};
  return r;
}

HistoryRecord Fleet::observation(OwnedObservation o) const {
  HistoryRecord r = blank(0);
  r.arenas.push_back(std::move(o.arena));
  r.view.body = Body{std::move(o.observation)};
  return r;
}

void Fleet::send(Process& p, HistoryRecord r) { p.way->push_back(std::move(r)); }

void Fleet::arrive(std::size_t way) {
  if (ways_[way]->empty()) return;
  append(std::move(ways_[way]->front()));
  ways_[way]->pop_front();
}

/// What the log holds is what everybody must see.
void Fleet::append(HistoryRecord r) {
  log_.push_back(std::move(r));
  ++figures_.records;
  const RecordView& view = log_.back().view;
  const Envelope& e = view.envelope;
  const bool counts = auditor_->domain().counts(e);
  if (const auto* started = std::get_if<EpochStarted>(&view.body)) {
    if (counts && epochs_.emplace(e.epoch, std::string(started->writer)).second) ++figures_.epochs;
  } else if (std::holds_alternative<Decisions>(view.body)) {
    if (!counts) ++figures_.stale_decisions;
    if (counts && e.epoch != epochs_.rbegin()->first)
      fail("a decision of epoch " + std::to_string(e.epoch) + " counts, though epoch " + std::to_string(epochs_.rbegin()->first) +
           " has begun");
    // A decision says nothing of its writer; it came with the name of the epoch's claimant.
    if (counts && epochs_.at(e.epoch) != *log_.back().writer)
      fail("epoch " + std::to_string(e.epoch) + " is that of " + epochs_.at(e.epoch) + ", and " + *log_.back().writer + " decides in it");
  }
  if (auto ok = auditor_->apply(view); !ok) fail(ok.error().message);
  auditor_->forget_touched();
  if (log_.size() % hash_every == 0) hashes_.push_back(auditor_->state_hash());
  RecordView numbered = view;
  numbered.envelope.sequence = auditor_->domain().sequence();
  if (auto finding = invariants_.check(*auditor_, numbered); !finding.empty()) fail(finding);
}

// ---- processes ------------------------------------------------------------------------------------------------------------------------

/// False: there is nothing to read.
bool Fleet::read_one(Process& p) {
  if (p.read == log_.size()) return false;
  const RecordView& view = log_[p.read].view;
  const bool counts = p.driver->domain().counts(view.envelope);
  if (auto ok = p.driver->apply(view); !ok) fail(p.name + ": " + ok.error().message);
  ++p.read;
  if (p.read % hash_every == 0 && p.driver->state_hash() != hashes_[p.read / hash_every - 1])
    fail(p.name + " has another state after record " + std::to_string(p.read) + " than who read along from the start");
  if (&p == &connector_) {
    applier_.take(p.driver->collect_intents());
    return true;
  }
  p.driver->forget_touched();
  if (!counts) return true;
  if (const auto* started = std::get_if<EpochStarted>(&view.body)) {
    epoch_began(p, view.envelope, *started);
  } else if (const auto* d = std::get_if<Decisions>(&view.body)) {
    if (p.in_flight && view.envelope.epoch == p.own_epoch && d->base == *p.in_flight) p.in_flight.reset();
  }
  return true;
}

/// As actors::Sequencer.
void Fleet::epoch_began(Process& p, const Envelope& e, const EpochStarted& started) {
  const bool own = started.writer == p.writer;
  if (p.phase == Phase::claiming && e.epoch == p.own_epoch && own) {
    p.phase = Phase::leading;
    return;
  }
  const bool lost_race = p.phase == Phase::claiming && e.epoch == p.own_epoch && !own;
  if (lost_race) ++figures_.races_lost;
  if (p.phase != Phase::reading && (lost_race || e.epoch > p.own_epoch)) {
    p.phase = Phase::reading;
    p.in_flight.reset();
  }
}

void Fleet::claim(Process& p) {
  p.phase = Phase::claiming;
  p.own_epoch = std::max(p.driver->domain().epoch(), p.own_epoch) + 1;
  p.writer = p.name + "/" + std::to_string(++p.claims);
  p.in_flight.reset();
  HistoryRecord r = blank(p.own_epoch);
  r.writer = std::make_shared<const std::string>(p.writer);
  r.view.body = Body{EpochStarted{*r.writer, "test", admission::rules_version}};
  send(p, std::move(r));
}

void Fleet::decide(Process& p) {
  if (p.phase != Phase::leading || p.in_flight || !p.driver->domain().synced()) return;
  auto step = p.driver->decide();
  if (!step) return;
  p.in_flight = step->base;
  HistoryRecord r = blank(p.own_epoch);
  r.arenas = step->arenas;
  r.events = std::make_shared<const std::vector<Event>>(step->events);
  r.view.body = Body{Decisions{step->base, step->kind, *r.events}};
  r.writer = std::make_shared<const std::string>(p.writer);
  send(p, std::move(r));
}

/// An append of which nobody knows whether it worked: a new producer, and what the old one had under way may arrive at any time.
void Fleet::lose_producer(Process& p) {
  p.way = std::make_shared<Way>();
  ways_.push_back(p.way);
  if (p.phase != Phase::reading) claim(p);
}

void Fleet::take_snapshot(const Process& p) { snapshots_.push_back({p.read, SnapshotCodec::write(*p.driver)}); }

/// All memory is lost; it comes back from some snapshot, or from the first record.
void Fleet::crash(Process& p) {
  p.driver = new_driver();
  p.read = 0;
  p.phase = Phase::reading;
  p.own_epoch = 0;
  p.in_flight.reset();
  if (!snapshots_.empty() && random_.chance(70)) {
    const auto& s = random_.pick(snapshots_);
    if (auto ok = SnapshotCodec::read(s.bytes, *p.driver); !ok) fail("snapshot: " + ok.error().message);
    p.read = s.read;
    p.driver->forget_touched();
    ++figures_.restores;
  }
  lose_producer(p);
  if (&p != &connector_) return;
  // It lists everything before it carries anything out; what was under way to the API server is lost.
  applier_.forget();
  read_all(p);
  applier_.forget();
  applier_.take(p.driver->all_intents());
}

void Fleet::observe(bool faults) {
  if (auto o = server_.watch(random_, faults)) send(connector_, observation(std::move(*o)));
}

// ---- the run ------------------------------------------------------------------------------------------------------------------------

void Fleet::one_action() {
  server_.now = server_.now + Duration::millis(static_cast<std::int64_t>(random_.below(800)));
  ++steps_;
  const auto dice = random_.below(200);
  Process& node = any_node();
  if (dice < 16)
    users_.act();
  else if (dice < 38)
    observe(true);
  else if (dice < 52)
    applier_.step(server_, random_, true);
  else if (dice < 57)
    (void)users_.let_run();
  else if (dice < 97)
    for (auto way = random_.below(ways_.size()), n = random_.below(8); n > 0; --n) arrive(way);
  else if (dice < 108)
    for (auto n = random_.below(6); n > 0 && read_one(connector_); --n) {}
  else if (dice < 138)
    for (auto n = random_.below(16); n > 0 && read_one(node); --n) {}
  else if (dice < 174)
    decide(node);
  else if (dice < 186) {
    if (node.phase == Phase::reading) claim(node);
  } else if (dice < 189)
    send(node, observation({nullptr, TimerFired{}}));
  else if (dice < 192)
    take_snapshot(random_.chance(50) ? node : connector_);
  else if (dice < 197)
    lose_producer(random_.chance(70) ? node : connector_);
  else
    crash(random_.chance(70) ? node : connector_);
  std::erase_if(ways_, [](const auto& w) { return w.use_count() == 1 && w->empty(); });
}

void Fleet::read_all(Process& p) {
  while (read_one(p)) {}
}

/// Everybody lives and goes on; false: nothing is left to do.
bool Fleet::go_on() {
  ++steps_;
  server_.now = server_.now + Duration::millis(20);
  bool moved = false;
  for (std::size_t i = 0; i < ways_.size(); ++i)
    for (; !ways_[i]->empty(); moved = true) arrive(i);
  for (auto* p : everybody()) {
    moved = moved || p->read < log_.size();
    read_all(*p);
  }
  if (moved) return true;
  if (!server_.all_told()) {
    observe(false);
    return true;
  }
  if (std::ranges::none_of(nodes_, [](const Process& p) { return p.phase == Phase::leading; })) {
    claim(any_node());
    return true;
  }
  for (auto& p : nodes_) decide(p);
  if (std::ranges::any_of(nodes_, [](const Process& p) { return p.in_flight.has_value(); })) return true;
  if (applier_.idle()) return false;
  applier_.step(server_, random_, false);
  return true;
}

void Fleet::bring_to_rest() {
  users_.make_everything_possible();
  constexpr int rounds_max = 6000;
  for (int i = 0; i < rounds_max; ++i) {
    if (go_on()) continue;
    if (std::ranges::count_if(nodes_, [](const Process& p) { return p.phase == Phase::leading; }) != 1)
      fail("not one node leads, but several or none");
    if (users_.let_run()) continue;
    if (users_.everything_finished()) return;
    const Time due = auditor_->domain().next_due();
    if (due.is_set() && due > auditor_->domain().now()) {
      if (due > server_.now) server_.now = due;
      send(nodes_[0], observation({nullptr, TimerFired{}}));
      continue;
    }
    if (!users_.waiting_for_luck()) fail("nothing is left to do, yet not everything has finished: " + users_.unfinished());
  }
  fail("the history does not come to an end: " + users_.unfinished());
}

std::string Fleet::run() {
  try {
    users_.set_up();
    const char* settings[] = {"default", "impatient", "plain", "sharing"};
    send(connector_, observation({nullptr, ConfigurationObserved{settings[random_.below(4)]}}));
    while (!server_.all_told()) observe(false);
    send(connector_, observation({nullptr, MirrorSynced{}}));
    for (auto n = random_.chance(80) ? ways_[0]->size() : random_.below(ways_[0]->size()); n > 0; --n) arrive(0);
    const auto actions = 60 + random_.below(120);
    for (std::size_t i = 0; i < actions; ++i) one_action();
    bring_to_rest();
    for (auto* p : everybody())
      if (p->driver->state_hash() != auditor_->state_hash()) fail(p->name + " has another state in the end");
  } catch (const Failure& f) {
    const auto n = log_.size();
    return f.what + " (after record " + std::to_string(n) + ": " + (n == 0 ? "" : events::to_text(log_.back().view)) + ")";
  }
  return {};
}

}  // namespace hindsight::explorer

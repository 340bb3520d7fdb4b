#include "tests/routing/realm.hpp"

#include <algorithm>

#include "admission/queue/cluster_queue.hpp"
#include "admission/rules.hpp"
#include "events/json.hpp"
#include "routing/held_objects.hpp"
#include "tests/explorer/explorer.hpp"

namespace hindsight::routing::testing {

using explorer::HistoryRecord;
using explorer::OwnedObservation;

namespace {

/// What the queues of a state count as held, by queue, flavor and resource.
void add_usage(const admission::StateView& state, std::map<std::string, Amount>& out) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (!w.reserved() || !w.active || w.finished() || w.gone) continue;  // the API shows none that has gone (D16)
      for (const auto& p : admission::effective_usage(w))
        for (const auto& [resource, amount] : p.usage)
          for (const auto& [of, flavor] : p.flavors)
            if (of == resource)
              out[std::string(w.admission->cluster_queue.text()) + "/" + std::string(flavor.text()) + "/" + std::string(resource.text())] +=
                  amount;
    }
  }
}

/// A Workload that was deleted holds quota of the queue until its job has stopped (D16).
bool keeps_for_gone(const admission::StateView& state, const Symbol& queue) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i)
    if (const auto* parent = state.parent(i); parent != nullptr)
      for (const auto& w : parent->workloads())
        if (w.gone && w.reserved() && w.admission->cluster_queue == queue) return true;
  return false;
}

std::string words(const std::map<std::string, Amount>& usage) {
  std::string out;
  for (const auto& [cell, amount] : usage) out += " " + cell + "=" + std::to_string(amount);
  return out;
}

}  // namespace

Realm::Realm(std::uint64_t seed) : random_(seed), users_(server_, random_) { server_.now = Time::from_seconds(1'700'000'000); }

// ---- the domains --------------------------------------------------------------------------------------------------------------------

Realm::DomainRun& Realm::domain(Symbol name) {
  auto [it, fresh] = domains_.try_emplace(name);
  if (fresh) {
    it->second.driver = std::make_unique<admission::LoopDriver>(explorer::read_settings);
    HistoryRecord r;
    r.view.body = EpochStarted{"realm", "test", admission::rules_version};
    r.view.envelope.epoch = 1;
    append(name, std::move(r));
    ++figures_.domains;
  }
  return it->second;
}

void Realm::append(Symbol name, HistoryRecord r) {
  DomainRun& d = domains_.at(name);
  r.view.envelope.domain = name.text();
  r.view.envelope.sequence = d.driver->domain().sequence() + 1;
  if (!std::holds_alternative<Observation>(r.view.body)) r.view.envelope.epoch = 1;
  r.view.envelope.epoch = std::max(r.view.envelope.epoch, d.driver->domain().epoch());
  r.view.envelope.time = server_.now;
  d.at_rest = false;
  log_.push_back(r);
  ++figures_.records;
  if (auto ok = d.driver->apply(r.view); !ok) fail(ok.error().message);
  if (auto finding = d.invariants.check(*d.driver, r.view); !finding.empty()) fail(finding);
  tell_intents(name, d);
}

/// Half a move tells nothing, as in actors/.
void Realm::tell_intents(Symbol name, DomainRun& d) {
  if (!d.driver->domain().synced() || !dispatcher_ || !listed_) return;
  auto intents = d.driver->collect_intents();
  std::erase_if(intents, [&](const auto& i) { return !dispatcher_->may_want(name, i); });
  applier_.take(std::move(intents));
}

void Realm::send(Symbol name, const Observation& o) {
  DomainRun& d = domain(name);
  d.decisions_in_a_row = 0;
  if (const auto* gone = std::get_if<ObjectDeleted>(&o); gone != nullptr && !gone->departed_to.empty()) {
    applier_.forget(std::string(gone->uid));
    ++figures_.departures;
    if (const auto index = d.driver->domain().find_parent(gone->uid); index && gone->kind == ObjectKind::workload)
      if (const auto* parent = d.driver->parent(*index))
        for (const auto& w : parent->workloads())
          if (w.uid == gone->uid && w.reserved()) ++figures_.held_departures;
  }
  HistoryRecord r;
  const auto bytes = events::encode({.envelope = {}, .body = o});  // whose views end with the call
  auto copy = std::make_shared<std::shared_ptr<const events::Record>>(*events::decode(bytes));
  r.view.body = std::get<Observation>((*copy)->view().body);
  r.writer = std::shared_ptr<const std::string>(copy, nullptr);
  append(name, std::move(r));
}

void Realm::decide(Symbol name, DomainRun& d) {
  if (d.in_flight || d.at_rest) return;
  d.in_flight = d.driver->decide();
  d.at_rest = !d.in_flight.has_value();
  constexpr int decisions_in_a_row_max = 400;
  if (d.in_flight && ++d.decisions_in_a_row > decisions_in_a_row_max)
    fail(std::string(name.text()) + " does not come to rest: " + explorer::describe(*d.in_flight));
}

void Realm::append_decision(Symbol name, DomainRun& d) {
  if (!d.in_flight) return;
  const auto step = std::move(*d.in_flight);
  d.in_flight.reset();
  HistoryRecord r;
  r.arenas = step.arenas;
  r.events = std::make_shared<const std::vector<Event>>(step.events);
  r.view.body = Decisions{step.base, step.kind, *r.events};
  append(name, std::move(r));
}

void Realm::tick(Symbol name) { send(name, TimerFired{}); }

Symbol Realm::any_domain() {
  auto it = domains_.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random_.below(domains_.size())));
  return it->first;
}

// ---- the connector ------------------------------------------------------------------------------------------------------------------

/// The mirror has it, and the router if it is there.
void Realm::hear(const OwnedObservation& o) {
  if (const auto* gone = std::get_if<ObjectDeleted>(&o.observation))
    mirror_.erase({gone->kind, std::string(gone->namespace_), std::string(gone->name), std::string(gone->uid)});
  else if (const auto key = object_of(o.observation))
    mirror_.insert_or_assign(*key, o);
  if (dispatcher_) dispatcher_->observe(o.observation);
}

void Realm::watch() {
  const auto o = server_.watch(random_, false);
  if (!o) return;
  hear(*o);
  check_homes();
}

/// A connector without memory lists everything in an order of its own; what happened meanwhile it did not see.
void Realm::restart() {
  dispatcher_.reset();
  applier_.forget();
  listed_ = false;
  const auto missed = random_.below(12);
  for (std::size_t i = 0; i < missed; ++i) {
    if (random_.chance(40)) users_.act();
    if (const auto o = server_.watch(random_, false)) hear(*o);
  }
  dispatcher_ = std::make_unique<Dispatcher>("c", [this](Symbol name, const Observation& o) { send(name, o); });
  for (const auto& [name, d] : domains_) dispatcher_->know(name);
  std::vector<OwnedObservation> all;
  for (const auto& [key, o] : mirror_) all.push_back(o);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_.below(i)]);
  for (const auto& o : all) dispatcher_->observe(o.observation);
  dispatcher_->list();
  // Whoever was slow to fold may see the world go on before it says what it holds.
  const std::vector<Symbol> listed(dispatcher_->domains().begin(), dispatcher_->domains().end());
  for (const Symbol& name : listed) {
    if (random_.chance(20))
      if (const auto o = server_.watch(random_, false)) hear(*o);
    dispatcher_->complete(name, held_objects(*domain(name).driver));
  }
  listed_ = true;
  for (auto& [name, d] : domains_) {
    auto intents = d.driver->all_intents();
    std::erase_if(intents, [&, name = name](const auto& i) { return !dispatcher_->may_want(name, i); });
    applier_.take(std::move(intents));
  }
  ++figures_.restarts;
  check_homes();
}

// ---- what must hold -----------------------------------------------------------------------------------------------------------------

/// Everything is in the one domain that the router names, and nothing in a second one.
void Realm::check_homes() {
  std::map<ObjectKey, Symbol> found;
  for (const auto& [name, d] : domains_)
    for (const auto& object : held_objects(*d.driver)) {
      if (is_everywhere(object.kind)) continue;
      const auto [it, first] = found.emplace(object, name);
      if (!first)
        fail(object.name + " " + object.uid + " is in two domains, " + std::string(it->second.text()) + " and " + std::string(name.text()));
      if (dispatcher_->router().home(object) != name)
        fail(object.name + " " + object.uid + " is in " + std::string(name.text()) + " and belongs to \"" +
             std::string(dispatcher_->router().home(object).text()) + "\"");
    }
  for (const auto& [object, o] : mirror_)
    if (!is_everywhere(object.kind) && !found.contains(object)) fail(object.name + " " + object.uid + " is in no domain");
}

Realm::Usage Realm::usage_of_domains() {
  Usage out;
  for (const auto& [name, d] : domains_) add_usage(*d.driver, out);
  return out;
}

/// The same objects in one domain, which decides nothing: what it counts follows from what the API shows. Deciding it need not be the same
/// history, because domains are at their decisions at different moments; of what is admitted in the end nothing may get lost or be counted
/// twice.
Realm::Usage Realm::usage_of_one_domain() const {
  admission::LoopDriver one(explorer::read_settings);
  std::uint64_t sequence = 0;
  for (const auto& [object, o] : mirror_) {
    RecordView r;
    r.envelope = {"one", ++sequence, 1, server_.now, 0};
    r.body = o.observation;
    if (auto ok = one.apply(r); !ok) fail(ok.error().message);
  }
  Usage out;
  add_usage(one, out);
  return out;
}

void Realm::check_rest() {
  ++figures_.rests;
  check_homes();
  const auto many = usage_of_domains();
  const auto one = usage_of_one_domain();
  if (many != one) fail("the domains count" + words(many) + "; one domain counts" + words(one));
  for (const auto& [name, d] : domains_)
    for (const auto& [queue, config] : d.driver->domain().catalog()->queues) {
      Usage by_workloads;
      for (const auto& [cell, amount] : many)
        if (cell.starts_with(std::string(queue.text()) + "/") && amount != 0) by_workloads[cell] = amount;
      const auto* entity = d.driver->queue(queue);
      if (entity == nullptr) fail("no entity stands for queue " + std::string(queue.text()) + " in " + std::string(name.text()));
      if (entity->holds_quota() && keeps_for_gone(*d.driver, queue)) continue;
      if (entity->holds_quota() != std::ranges::any_of(mirror_, [&, queue = queue](const auto& entry) {
            const auto* w = std::get_if<WorkloadObserved>(&entry.second.observation);
            if (w == nullptr || !w->has_admission || !w->active || w->admission_cluster_queue != queue.text()) return false;
            return std::ranges::none_of(
                w->conditions, [](const auto& c) { return c.type == ConditionType::finished && c.status == ConditionStatus::true_; });
          }))
        fail("queue " + std::string(queue.text()) + " holds other Workloads than the API shows");
    }
}

// ---- the run ------------------------------------------------------------------------------------------------------------------------

void Realm::one_action() {
  server_.now = server_.now + Duration::millis(static_cast<std::int64_t>(random_.below(1500)));
  const auto dice = random_.below(200);
  if (dice < 36) {
    users_.act();
  } else if (dice < 100) {
    watch();
  } else if (dice < 136) {
    applier_.step(server_, random_, true);
  } else if (dice < 160) {
    const Symbol name = any_domain();
    decide(name, domain(name));
  } else if (dice < 182) {
    const Symbol name = any_domain();
    append_decision(name, domain(name));
  } else if (dice < 190) {
    (void)users_.let_run();
  } else if (dice < 195) {
    tick(any_domain());
  } else if (dice < 198) {
    come_to_rest();
  } else {
    restart();
  }
}

bool Realm::go_on_without_users() {
  server_.now = server_.now + Duration::millis(20);
  if (!server_.all_told()) {
    watch();
    return true;
  }
  bool any = false;
  std::vector<Symbol> names;
  for (const auto& [name, d] : domains_) names.push_back(name);
  for (const Symbol& name : names) {
    decide(name, domain(name));
    any |= domain(name).in_flight.has_value();
    append_decision(name, domain(name));
  }
  if (any) return true;
  if (applier_.idle()) return false;
  applier_.step(server_, random_, false);
  return true;
}

/// Nobody does anything more: all is told, decided and written.
void Realm::come_to_rest() {
  constexpr int rounds_max = 4000;
  for (int i = 0; i < rounds_max; ++i)
    if (!go_on_without_users()) return check_rest();
  fail("without news from outside the domains do not come to rest");
}

void Realm::bring_to_an_end() {
  users_.make_everything_possible();
  constexpr int rounds_max = 8000;
  for (int i = 0; i < rounds_max; ++i) {
    if (go_on_without_users() || users_.let_run()) continue;
    if (users_.everything_finished()) return check_rest();
    Symbol next;
    Time due;
    for (const auto& [name, d] : domains_) {
      const Time t = d.driver->domain().next_due();
      if (t.is_set() && t > d.driver->domain().now() && (!due.is_set() || t < due)) {
        due = t;
        next = name;
      }
    }
    if (due.is_set()) {
      if (due > server_.now) server_.now = due;
      tick(next);
    } else if (!users_.waiting_for_luck()) {
      fail("nothing is left to do, yet not everything has finished: " + users_.unfinished());
    }
  }
  fail("the history does not come to an end: " + users_.unfinished());
}

std::string Realm::run() {
  try {
    const char* settings[] = {"default", "fair", "impatient", "plain", "sharing"};
    users_.set_up();
    mirror_[ObjectKey{}] = {nullptr, ConfigurationObserved{settings[random_.below(5)]}};
    restart();
    const auto actions = 100 + random_.below(200);
    for (std::size_t i = 0; i < actions; ++i) one_action();
    come_to_rest();
    bring_to_an_end();
  } catch (const Failure& f) {
    return f.what + " (after record " + std::to_string(log_.size()) + ": " + (log_.empty() ? "" : events::to_text(log_.back().view)) + ")";
  }
  return {};
}

}  // namespace hindsight::routing::testing

// What the cluster adds to every pod, and which Workloads are observed anew when it changes. A user of a namespace may write LimitRanges as
// often as the API server lets him, and have any number of Workloads: so what a write costs is bounded, and what it changes is all that is
// told.

#include <algorithm>
#include <exception>

#include "connectors/bridge/bridge.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/observe.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::connectors {
namespace {

/// As much is read again at a time; then all that waits meanwhile has its turn.
constexpr std::size_t piece_workloads_max = 32;
constexpr std::size_t piece_bytes_max = std::size_t{1} << 20;

/// A namespace waits one call of `retry` for so many Workloads that were told anew, so that the log grows no faster however often somebody
/// changes his mind.
constexpr std::size_t told_for_each_retry = 100;

bool same(const LimitSummary::Limits& a, const LimitSummary::Limits& b) {
  return a.max == b.max && a.min == b.min && a.default_limit == b.default_limit && a.default_request == b.default_request;
}

bool same(const std::optional<LimitSummary::Limits>& a, const std::optional<LimitSummary::Limits>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

/// What LimitRanges together say of pods; one that says nothing is as good as none.
struct Defaults {
  LimitSummary limits;
  OwnedAmounts overhead;

  friend bool operator==(const Defaults& a, const Defaults& b) {
    return same(a.limits.container, b.limits.container) && same(a.limits.pod, b.limits.pod) && a.overhead == b.overhead;
  }
};

void add_amounts(StateHash& hash, List<ResourceAmount> amounts) {
  hash.add(static_cast<std::uint64_t>(amounts.size()));
  for (const auto& [resource, amount] : amounts) {
    hash.add(resource);
    hash.add(amount);
  }
}

/// Of all that LimitRanges and RuntimeClasses have a part in.
std::uint64_t outcome_of(const WorkloadObserved& w) {
  StateHash hash;
  for (const auto& pod_set : w.pod_sets) {
    add_amounts(hash, pod_set.requests);
    hash.add(pod_set.limits_error);
    hash.add(pod_set.limit_range_error);
    hash.add(static_cast<std::uint64_t>(pod_set.sized.size()));
    for (const auto& container : pod_set.sized)
      for (const auto& a : container.amounts) {
        hash.add(a.resource);
        hash.add(a.request);
        hash.add(a.limit);
        hash.add(a.low);
        hash.add(a.high);
        hash.add(a.step);
      }
  }
  for (const auto& p : w.plan) {
    hash.add(p.original);
    hash.add(p.amount);
  }
  return hash.value();
}

}  // namespace

/// A LimitRange or RuntimeClass changed: pending Workloads of the namespace, or of the class, ask for something else now (§3.7). What
/// holds quota is charged as it was admitted and is observed anew when that ends.
void Bridge::on_defaults(const WatchEvent& event) {
  const bool range = event.resource->kind == types::limit_range.kind;
  const auto complain = [&](const Error& e) { set_aside(*event.resource, event.object, QuarantineStage::read, e.message); };
  auto document = Document::parse(event.object);
  if (!document && event.type == WatchEvent::Type::deleted) document = Document::parse_beyond_limits(event.object);
  if (!document) return complain(document.error());
  Arena arena;
  Reading reading(arena, document->root(), object_title(event.resource->kind, document->root()));
  const auto meta = read_identity(reading.root());
  if (reading.failed()) return complain(reading.take_error());
  const auto now = [&] {
    Defaults out;
    if (const auto* limits = range ? defaults_.limits(meta.namespace_) : nullptr) out.limits = *limits;
    if (const auto* overhead = range ? nullptr : defaults_.overhead(meta.name)) out.overhead = *overhead;
    return out;
  };
  const Defaults before = now();
  const bool gone = event.type == WatchEvent::Type::deleted;
  if (gone && range) {
    defaults_.remove_limit_range(meta.namespace_, meta.name);
  } else if (gone) {
    defaults_.remove_runtime_class(meta.name);
  } else if (auto done = range ? defaults_.set_limit_range(document->root()) : defaults_.set_runtime_class(document->root()); !done) {
    return complain(done.error());
  }
  if (!(now() == before)) {  // else it was an annotation, or what another LimitRange says more strictly
    std::vector<std::string> namespaces{std::string(meta.namespace_)};
    if (!range) {
      namespaces.clear();
      for (const auto& [name, workloads] : pending_) namespaces.push_back(name);
    }
    const std::string mention = range ? std::string() : '"' + std::string(meta.name) + '"';
    for (const auto& name : namespaces) defaults_changed(name, mention);
    read_again();
  }
  if (!gone) return lift(*event.resource, meta);
  if (set_aside_.erase(std::string(meta.uid)) != 0) tell(ObjectDeleted{ObjectKind::unspecified, meta.namespace_, meta.name, meta.uid, {}});
}

/// Several changes while the namespace waits for its turn are one.
void Bridge::defaults_changed(const std::string& namespace_, std::string_view mention) {
  if (!pending_.contains(namespace_)) return;
  const auto [it, fresh] = passes_.try_emplace(namespace_);
  Pass& pass = it->second;
  if (fresh || !pass.due) {
    pass.due = true;
    pass.mention = mention;
    return;
  }
  if (pass.mention != mention) pass.mention.clear();
  pass.again = !pass.next.empty();
}

bool Bridge::is_to_read_again() const {
  return std::any_of(passes_.begin(), passes_.end(), [](const auto& entry) { return entry.second.is_ready(); });
}

/// Goes on with what is due, until that is done or the next piece is on its way. While kinds are listed nothing is read again: what all of
/// it adds up to is told once.
void Bridge::read_again() {
  if (reading_again_ || !kinds_to_sync_.empty() || !is_to_read_again()) return;
  if (!options_.later) {
    while (is_to_read_again()) read_some_again();
    return;
  }
  reading_again_ = true;
  options_.later([this, alive = alive_] {
    if (!*alive) return;
    reading_again_ = false;
    as_last_resort("Workloads that are read again", [this] {
      read_some_again();
      read_again();
      say_synced();
    });
  });
}

/// Namespaces take turns.
void Bridge::read_some_again() {
  const auto is_ready = [](const auto& entry) { return entry.second.is_ready(); };
  auto turn = std::find_if(passes_.upper_bound(last_pass_), passes_.end(), is_ready);
  if (turn == passes_.end()) turn = std::find_if(passes_.begin(), passes_.end(), is_ready);
  if (turn == passes_.end()) return;
  const std::string namespace_ = turn->first;
  last_pass_ = namespace_;
  std::size_t bytes = 0;
  for (std::size_t count = 0; count < piece_workloads_max && bytes < piece_bytes_max; ++count) {
    Pass& pass = turn->second;  // nothing that is done to a Workload takes a pass away
    const auto workloads = pending_.find(namespace_);
    if (workloads == pending_.end()) return end_pass(namespace_);
    const auto next = workloads->second.upper_bound(pass.next);
    if (next == workloads->second.end()) return end_pass(namespace_);
    const std::string uid = next->first;
    pass.next = uid;
    const auto text = mirror_.find_by_uid(uid);
    if (text == nullptr) continue;
    bytes += text->size();
    if (!pass.mention.empty() && text->find(pass.mention) == std::string::npos) continue;
    try {
      read_pending(namespace_, uid, pass, *text);
    } catch (const std::exception& e) {
      as_last_resort(uid, [&] { set_aside(types::workload, *text, QuarantineStage::read, e.what()); });
    }
  }
}

/// Told without a version, so that it is no repetition; and only where the outcome is another.
void Bridge::read_pending(const std::string& namespace_, const std::string& uid, Pass& pass, const std::string& text) {
  JobContext context;
  context.defaults = &defaults_;
  Arena arena;
  auto o = observe_text(types::workload, text, arena, context);
  auto& told = pending_[namespace_][uid];
  if (!o) {  // the defaults may make it too large
    told = 0;
    return set_aside(types::workload, text, QuarantineStage::read, o.error().message);
  }
  auto& workload = std::get<WorkloadObserved>(*o);
  const auto outcome = outcome_of(workload);
  if (std::exchange(told, outcome) == outcome) return;
  ++pass.told;
  workload.meta.resource_version = 0;
  tell(*o);
  tell_again(uid);
}

void Bridge::end_pass(const std::string& namespace_) {
  const auto it = passes_.find(namespace_);
  Pass& pass = it->second;
  pass.retries_to_wait = static_cast<std::uint32_t>(std::exchange(pass.told, 0) / told_for_each_retry);
  pass.next.clear();
  pass.due = std::exchange(pass.again, false);
  if (!pass.due && pass.retries_to_wait == 0) passes_.erase(it);
}

/// All lists are complete, and what they add up to has been told.
void Bridge::say_synced() {
  if (synced_ || !listed_ || is_to_read_again()) return;
  synced_ = true;
  tell_usage();
  tell(MirrorSynced{});
}

void Bridge::note_pending(const WorkloadObserved& w) {
  const bool finished = std::any_of(w.conditions.begin(), w.conditions.end(), [](const ConditionFacts& c) {
    return c.type == ConditionType::finished && c.status == ConditionStatus::true_;
  });
  if (w.has_admission || finished) return note_settled(w.meta.namespace_, w.meta.uid);
  pending_[std::string(w.meta.namespace_)].insert_or_assign(std::string(w.meta.uid), outcome_of(w));
}

void Bridge::note_settled(std::string_view namespace_, std::string_view uid) {
  const auto it = pending_.find(namespace_);
  if (it == pending_.end()) return;
  it->second.erase(std::string(uid));
  if (it->second.empty()) pending_.erase(it);
}

}  // namespace hindsight::connectors

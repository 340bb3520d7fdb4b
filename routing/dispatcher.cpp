#include "routing/dispatcher.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::routing {
namespace {

/// In this order objects arrive: what refers to something after it.
int rank(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::cohort:
      return 1;
    case ObjectKind::cluster_queue:
      return 2;
    case ObjectKind::local_queue:
      return 3;
    case ObjectKind::job:
      return 4;
    case ObjectKind::workload:
      return 5;
    case ObjectKind::pod:
      return 6;
    default:
      return 0;
  }
}

/// Of what pods that are not ours use of a node (object_of).
ObjectKey usage_of(const ObjectKey& node) { return {ObjectKind::node, "usage", node.name, {}}; }
bool is_node(const ObjectKey& object) { return object.kind == ObjectKind::node && object.namespace_.empty(); }

bool arrives_before(const ObjectKey& a, const ObjectKey& b) { return rank(a.kind) != rank(b.kind) ? rank(a.kind) < rank(b.kind) : a < b; }

}  // namespace

// ---- telling ------------------------------------------------------------------------------------------------------------------------

void Dispatcher::remember(const Observation& o) {
  const auto is_read = [&](const ObjectKey& key) {
    lifted_.reset();
    if (auto was = set_aside_.extract(key)) lifted_ = std::move(was.mapped());
  };
  if (const auto* gone = std::get_if<ObjectDeleted>(&o)) {
    const ObjectKey key{gone->kind, std::string(gone->namespace_), std::string(gone->name), std::string(gone->uid)};
    newest_.erase(key);
    is_read(key);
  } else if (const auto* q = std::get_if<ObjectQuarantined>(&o)) {
    const ObjectKey key{q->kind, std::string(q->namespace_), std::string(q->name), std::string(q->uid)};
    if (q->lifted) return is_read(key);
    set_aside_[key].bytes = events::encode({.envelope = {}, .body = o});
  } else if (const auto key = object_of(o)) {
    newest_.insert_or_assign(*key, events::encode({.envelope = {}, .body = o}));
    is_read(*key);
  }
}

void Dispatcher::tell(Symbol domain, const ObjectKey& object) {
  if (const auto it = newest_.find(object); it != newest_.end()) {
    const auto record = events::decode(it->second);  // we wrote it
    send_(domain, std::get<Observation>((*record)->view().body));
  }
  tell_quarantine(domain, object);
}

void Dispatcher::tell_quarantine(Symbol domain, const ObjectKey& object) {
  const auto it = set_aside_.find(object);
  if (it == set_aside_.end() || router_.place_of_quarantine(object) != domain) return;
  it->second.told = domain;
  const auto record = events::decode(it->second.bytes);
  send_(domain, std::get<Observation>((*record)->view().body));
}

/// What could not be read may have been told of to another domain than the one that the object turns out to belong to.
void Dispatcher::lift_elsewhere(const SetAside& was, const Route& route) {
  if (was.told.empty() || route.everywhere || was.told == route.domain) return;
  const auto record = events::decode(was.bytes);
  auto o = std::get<ObjectQuarantined>(std::get<Observation>((*record)->view().body));
  o.lifted = true;
  o.outline = {};
  send_(was.told, o);
}

void Dispatcher::share(const WriteLimitObserved& limit) {
  const auto among = static_cast<std::uint32_t>(std::max<std::size_t>(1, busy_.size()));
  const std::uint32_t each = limit.writes == 0 ? 0 : std::max(1U, limit.writes / among);
  for (const Symbol& domain : std::exchange(busy_, {}))
    if (write_limits_[domain].is_news(each)) send_(domain, WriteLimitObserved{each});
}

void Dispatcher::observe(const Observation& o) {
  if (const auto* limit = std::get_if<WriteLimitObserved>(&o)) return share(*limit);
  remember(o);
  if (observe_node(o)) return;
  auto route = router_.observe(o);
  if (!router_.settled()) return;
  if (lifted_) lift_elsewhere(*std::exchange(lifted_, std::nullopt), route);
  if (const auto* q = std::get_if<ObjectQuarantined>(&o); q != nullptr && !q->lifted)
    set_aside_[{q->kind, std::string(q->namespace_), std::string(q->name), std::string(q->uid)}].told = route.domain;
  auto& moves = route.moves;
  std::ranges::sort(moves, [](const Move& a, const Move& b) { return arrives_before(a.object, b.object); });
  const auto object = object_of(o);
  const bool moved = object && std::ranges::any_of(moves, [&](const Move& m) { return m.object == *object; });
  const bool for_one = !route.everywhere && !route.domain.empty() && !moved;
  if (for_one) busy_.insert(route.domain);

  std::set<Symbol, ByText> concerned;
  for (const auto& move : moves) concerned.insert({move.from, move.to});
  if (for_one && (!moves.empty() || !domains_.contains(route.domain))) concerned.insert(route.domain);
  const Arrivals nodes = arriving_nodes();
  for (const auto& [domain, arrivals] : nodes) concerned.insert(domain);
  for (const Symbol& domain : concerned) begin(domain);
  if (route.everywhere)
    for (const Symbol& domain : domains_) send_(domain, o);
  if (for_one && !object) send_(route.domain, o);  // of what has gone the end comes first
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) send_(move->from, move->object.deleted(move->to.text()));
  for (const auto& [domain, arrivals] : nodes)
    for (const auto& node : arrivals) tell_node(domain, node);
  for (const auto& move : moves) tell(move.to, move.object);
  if (for_one && object) send_(route.domain, o);
  for (const Symbol& domain : concerned) end(domain);
}

/// A domain that is new is told what is everywhere.
void Dispatcher::begin(Symbol domain) {
  send_(domain, MirrorSynced{true});
  if (!domains_.insert(domain).second) return;
  for (const auto& [object, bytes] : newest_) {
    if (object.kind >= ObjectKind::job) break;  // they are the most, and the last
    if (is_everywhere(object.kind)) tell(domain, object);
  }
}

void Dispatcher::end(Symbol domain) {
  if (incomplete_.contains(domain)) return;
  if (departing_()) {
    unsettled_.insert(domain);
  } else {
    unsettled_.erase(domain);
    send_(domain, MirrorSynced{});
  }
}

void Dispatcher::settled() {
  for (const Symbol& domain : std::exchange(unsettled_, {})) end(domain);
}

// ---- nodes --------------------------------------------------------------------------------------------------------------------------

/// False: it is about something else.
bool Dispatcher::observe_node(const Observation& o) {
  const auto* node = std::get_if<NodeObserved>(&o);
  const auto* usage = std::get_if<NodeUsageObserved>(&o);
  const auto* gone = std::get_if<ObjectDeleted>(&o);
  if (gone != nullptr && gone->kind != ObjectKind::node) gone = nullptr;
  if (node == nullptr && usage == nullptr && gone == nullptr) return false;
  const Text name = node != nullptr ? node->meta.name : usage != nullptr ? usage->node : gone->name;
  const ObjectKey key{ObjectKind::node, {}, std::string(name), {}};
  const bool was_used = gone != nullptr && newest_.erase(usage_of(key)) != 0;
  if (usage != nullptr && usage->usage.empty() && !newest_.contains(key)) newest_.erase(usage_of(key));
  if (!router_.settled()) return true;
  if (usage != nullptr) {
    for (const Symbol& domain : audiences_.of(name)) send_(domain, o);
    return true;
  }
  if (gone != nullptr) {
    // What was set aside of it was told of where nobody else may be.
    auto hear = audiences_.forget(name);
    if (const auto was = std::exchange(lifted_, std::nullopt); was && !was->told.empty()) hear.insert(was->told);
    for (const Symbol& domain : hear) {
      send_(domain, o);
      if (was_used) send_(domain, NodeUsageObserved{name, {}});
    }
    return true;
  }
  const auto knew = audiences_.of(name);
  if (const auto was = std::exchange(lifted_, std::nullopt); was && !knew.contains(was->told)) lift_elsewhere(*was, {});
  Arrivals arrivals;
  hear_of(*node, key, arrivals);
  for (const Symbol& domain : knew) send_(domain, o);
  for (const auto& [domain, nodes] : arrivals) {
    const bool fresh = !domains_.contains(domain);
    if (fresh) begin(domain);
    tell_node(domain, key);
    if (fresh) end(domain);
  }
  return true;
}

void Dispatcher::hear_of(const NodeObserved& node, const ObjectKey& key, Arrivals& arrivals) {
  const Symbol home = router_.home_of_node(node);
  const bool nobody = audiences_.of(key.name).empty();
  if ((nobody || home != router_.homeless()) && audiences_.add(key.name, home)) arrivals[home].push_back(key);
}

/// Those that trees select now and did not before.
Dispatcher::Arrivals Dispatcher::arriving_nodes() {
  Arrivals out;
  if (selections_ == router_.trees().selections()) return out;
  selections_ = router_.trees().selections();
  for (auto it = newest_.lower_bound({ObjectKind::node, {}, {}, {}}); it != newest_.end() && is_node(it->first); ++it) {
    const auto record = events::decode(it->second);  // we wrote it
    hear_of(std::get<NodeObserved>(std::get<Observation>((*record)->view().body)), it->first, out);
  }
  return out;
}

void Dispatcher::tell_node(Symbol domain, const ObjectKey& node) {
  tell(domain, node);
  tell(domain, usage_of(node));
}

// ---- after a start --------------------------------------------------------------------------------------------------------------------

void Dispatcher::list() {
  router_.settle();
  std::vector<std::pair<ObjectKey, Symbol>> placed;
  for (const auto& [object, bytes] : newest_)
    if (!is_everywhere(object.kind) && object.kind != ObjectKind::node) placed.emplace_back(object, router_.home(object));
  for (const auto& [object, was] : set_aside_)
    if (is_everywhere(object.kind) || object.kind == ObjectKind::node || !newest_.contains(object))
      placed.emplace_back(object, router_.place_of_quarantine(object));
  std::ranges::stable_sort(placed, [](const auto& a, const auto& b) { return rank(a.first.kind) < rank(b.first.kind); });

  auto all = std::exchange(domains_, {});  // as if they were new: each is told everything
  all.insert(router_.homeless());
  for (const auto& [object, home] : placed) all.insert(home);
  audiences_.clear();
  selections_ = router_.trees().selections() - 1;  // whatever was told of nodes, all are told again
  const Arrivals nodes = arriving_nodes();
  for (const auto& [domain, arrivals] : nodes) all.insert(domain);
  all.erase(Symbol());
  for (const Symbol& domain : all) begin(domain);
  incomplete_ = domains_;
  for (const auto& [domain, arrivals] : nodes)
    for (const auto& node : arrivals) tell_node(domain, node);
  for (const auto& [object, home] : placed) {
    if (is_everywhere(object.kind) || object.kind == ObjectKind::node)
      tell_quarantine(home, object);
    else if (!home.empty())
      tell(home, object);
  }
}

void Dispatcher::complete(Symbol domain, std::span<const ObjectKey> held) {
  std::vector<ObjectKey> ends;
  for (const auto& object : held) {
    const bool set_aside = set_aside_.contains(object);
    const bool known = newest_.contains(object) || set_aside;
    if (known && is_node(object)) {  // whoever was told of it goes on to be: its pods may run there
      if (newest_.contains(object) && audiences_.add(object.name, domain)) tell_node(domain, object);
      continue;
    }
    const Symbol home = set_aside ? router_.place_of_quarantine(object) : router_.home(object);
    if (!known || (!is_everywhere(object.kind) && home != domain)) ends.push_back(object);
  }
  std::ranges::sort(ends, [](const ObjectKey& a, const ObjectKey& b) { return arrives_before(b, a); });
  for (const auto& object : ends) send_(domain, object.deleted(newest_.contains(object) ? router_.home(object).text() : Text()));
  incomplete_.erase(domain);
  end(domain);
}

// ---- what comes back --------------------------------------------------------------------------------------------------------------------

bool Dispatcher::may_want(Symbol domain, const admission::Intent& intent) const {
  using namespace admission;
  struct Owner {
    const Router& router;
    Symbol domain;
    Symbol operator()(const WorkloadIntent& i) const { return router.home_of_uid(i.uid); }
    Symbol operator()(const WorkloadCreateIntent& i) const { return router.home_of_uid(i.job_uid); }
    Symbol operator()(const OptionCreateIntent& i) const { return router.home_of_uid(i.parent_uid); }
    Symbol operator()(const WorkloadReviseIntent& i) const { return router.home_of_uid(i.uid); }
    Symbol operator()(const JobIntent& i) const { return router.home_of_uid(i.uid); }
    Symbol operator()(const WorkloadAdoptIntent& i) const { return router.home_of_uid(i.job_uid); }
    Symbol operator()(const PodReleaseIntent& i) const { return router.home_of_uid(i.uid); }
    Symbol operator()(const PodFailIntent& i) const { return router.home_of_uid(i.uid); }
    Symbol operator()(const QuarantineIntent& i) const {
      const Symbol home = router.home_of_uid(i.uid);
      return home.empty() ? router.homeless() : home;
    }
    Symbol operator()(const QueueStatusIntent& i) const {  // one that was never readable has no home of its own
      return router.place_of_quarantine({i.local ? ObjectKind::local_queue : ObjectKind::cluster_queue, i.namespace_, i.name, {}});
    }
    Symbol operator()(const FinalizerIntent& i) const {
      if (i.kind == ObjectKind::cluster_queue) return router.home({i.kind, {}, i.name, {}});
      // Each domain knows its own queues only; that of the last user asks again when that has gone.
      return i.held || !router.trees().in_use(i.kind, i.name) ? domain : Symbol();
    }
  };
  return std::visit(Owner{router_, domain}, intent) == domain;
}

}  // namespace hindsight::routing

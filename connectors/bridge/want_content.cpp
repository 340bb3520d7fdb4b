// What an intent asks for, as one number: a wish that was refused, or that goes in circles, is known again by it.

#include <type_traits>
#include <variant>

#include "connectors/bridge/want_names.hpp"
#include "connectors/objects/plan.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::connectors {
namespace {

/// Adds parts of intents, and lists of them. Not when something was decided, nor by which decision: that is another wish only where what it
/// wishes for is another.
class ContentHash {
 public:
  ContentHash() = default;
  explicit ContentHash(bool beside_messages) : beside_messages_(beside_messages) {}
  template <class... T>
  void all(const T&... parts) {
    (one(parts), ...);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_.value(); }

 private:
  void one(const std::string& text) { hash_.add(std::string_view(text)); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void one(T number) { hash_.add(number); }
  template <class T>
  void one(const std::optional<T>& part) {
    hash_.add(part.has_value());
    if (part) one(*part);
  }
  template <class A, class B>
  void one(const std::pair<A, B>& pair) {
    all(pair.first, pair.second);
  }
  template <class T>
  void one(const std::vector<T>& list) {
    hash_.add(static_cast<std::uint64_t>(list.size()));
    for (const auto& part : list) one(part);
  }
  void one(const admission::WantedCondition& c) {
    all(c.type, c.status, c.reason);
    if (beside_messages_) all(c.last_transition.micros);
    const bool passed_over =
        beside_messages_ && c.type == ConditionType::quota_reserved && c.status == ConditionStatus::false_ && is_told_each_cycle(c.reason);
    if (!passed_over) all(c.message);
  }
  void one(const admission::WantedAssignment& a) { all(a.pod_set, a.count, a.flavors, a.usage); }
  void one(const admission::WantedCheck& k) { all(k.name, k.state, k.message, k.requeue_after_seconds, k.retry_count, k.pod_set_updates); }
  void one(const admission::WantedSize& s) { all(s.pod_set, s.container, s.resource, s.original, s.amount); }
  void one(const admission::WorkloadIntent::Eviction& e) { all(e.reason, e.cause, e.count); }
  void one(const admission::WantedOption& o) { all(o.name, o.flavors, o.phase, o.message); }
  void one(const admission::WantedGate& g) { all(g.name, g.open); }
  void one(const admission::OwnedToleration& t) { all(t.key, t.value, t.exists, t.effect, t.seconds); }
  void one(const admission::PodSetStart& s) { all(s.name, s.count, s.node_labels, s.tolerations, s.pod_set_updates); }
  void one(const admission::PodSetBefore& b) { all(b.name, b.count, b.node_selector, b.tolerations, b.asks_for_topology); }
  void one(const admission::QueueStatusIntent::Usage& u) { all(u.flavor, u.resources); }

  StateHash hash_;
  bool beside_messages_ = false;
};

struct Content {
  ContentHash& hash;

  void operator()(const admission::WorkloadIntent& i) const {
    hash.all(i.remove, i.release_finalizer, i.set_active, i.parent_markers, i.conditions, i.has_admission, i.cluster_queue, i.assignments,
             i.checks, i.checks_decided, i.has_requeue_state, i.requeue_count, i.reclaimable, i.accumulated_exec_seconds, i.evictions,
             i.unhealthy_nodes, i.plan, i.options, i.gates, i.resource_requests);
  }
  void operator()(const admission::WorkloadCreateIntent& i) const {
    hash.all(i.name, i.queue_name, i.priority, i.priority_class_kind, i.priority_class, i.max_exec_seconds, i.admission_gated_by,
             i.slice_name, i.replaces_uid, i.counts);
  }
  void operator()(const admission::WorkloadReviseIntent& i) const {
    hash.all(i.job_uid, i.pod_sets, i.counts, i.flavors, i.queue_name, i.priority, i.priority_class_kind, i.priority_class,
             i.max_exec_seconds, i.resource_bounds, i.admission_gated_by);
  }
  void operator()(const admission::JobIntent& i) const {
    hash.all(i.run, i.remove, i.workload, i.workload_uid, i.cluster_queue, i.local_queue, i.slice_name, i.pod_sets, i.before, i.sizes);
  }
  void operator()(const admission::QueueStatusIntent& i) const {
    hash.all(i.pending, i.reserving, i.admitted, i.active, i.active_reason, i.active_message, i.reservation, i.usage, i.weighted_share,
             i.consumed);
  }
  void operator()(const admission::FinalizerIntent& i) const { hash.all(i.held); }
  void operator()(const admission::WorkloadAdoptIntent& i) const { hash.all(i.job_uid); }
  void operator()(const admission::PodReleaseIntent& i) const { hash.all(i.elastic_gate, i.topology_gate, i.node_labels, i.tolerations); }
  void operator()(const admission::PodFailIntent&) const { hash.all(true); }
  void operator()(const admission::QuarantineIntent& i) const { hash.all(i.message); }
  void operator()(const admission::OptionCreateIntent& i) const { hash.all(i.name, i.flavors, i.active); }
};

}  // namespace

std::uint64_t hash_beside_messages(const admission::WorkloadIntent& intent) {
  ContentHash hash(true);
  Content{hash}(intent);
  return hash.value();
}

std::uint64_t content_hash(const admission::Intent& intent) {
  ContentHash hash;
  std::visit(Content{hash}, intent);
  return hash.value();
}

}  // namespace hindsight::connectors

// Property: whatever the object was, after the planned writes it is observed as the intent wants it, and the next plan is empty.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/wire_names.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

using admission::WorkloadIntent;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  bool coin() { return below(2) == 0; }
  std::string pick(std::initializer_list<const char*> of) { return *(of.begin() + below(static_cast<std::int64_t>(of.size()))); }
  Time time() { return Time{1767225600'000000 + below(100) * 1'000'000 + below(1'000'000)}; }

 private:
  std::mt19937_64 engine_;
};

WorkloadIntent random_intent(Random& random) {
  WorkloadIntent out;
  out.uid = "u";
  out.namespace_ = "ns";
  out.name = "w";
  for (const auto& [type, name] : condition_types) {
    if (random.below(3) != 0) continue;
    out.conditions.push_back(
        {type, random.pick({"t", "f"}) == "t" ? ConditionStatus::true_ : ConditionStatus::false_, random.pick({"A", "B"}),
         random.pick({"", "short", "\"quoted\" \u00e4"}) + std::string(random.below(8) == 0 ? 40000 : 0, 'x'), random.time()});
  }
  out.has_admission = random.coin();
  if (out.has_admission) {
    out.cluster_queue = random.pick({"cq-a", "cq-b"});
    for (const auto* pod_set : {"main", "extra"}) {
      if (!out.assignments.empty() && random.coin()) break;
      admission::WantedAssignment a{pod_set, static_cast<std::int32_t>(random.below(4)), {}, {}};
      for (const auto* resource : {"cpu", "memory", "pods"}) {
        if (random.coin()) a.flavors.emplace_back(resource, random.pick({"spot", "on-demand"}));
        if (random.coin()) a.usage.emplace_back(resource, random.below(10) * (std::string(resource) == "memory" ? 1 << 30 : 250));
      }
      out.assignments.push_back(a);
    }
  }
  for (const auto* check : {"a", "b", "c"}) {
    if (random.coin()) continue;
    admission::WantedCheck c{check, static_cast<CheckState>(random.below(4)), random.time(), random.pick({"", "m"}), {}, {}, ""};
    if (random.coin()) c.requeue_after_seconds = static_cast<std::int32_t>(random.below(9));
    if (random.coin()) c.retry_count = static_cast<std::int32_t>(random.below(3));
    if (random.coin()) c.pod_set_updates = R"([{"name":"main","labels":{"a":"b"}}])";
    out.checks.push_back(c);
  }
  out.has_requeue_state = random.coin();
  if (out.has_requeue_state) {
    out.requeue_count = static_cast<std::int32_t>(random.below(3));
    if (random.coin()) out.requeue_at = random.time();
  }
  if (random.coin()) out.reclaimable = {{"main", static_cast<std::int32_t>(random.below(3))}};
  if (random.coin()) out.accumulated_exec_seconds = static_cast<std::int32_t>(random.below(3));
  if (random.coin()) out.evictions = {{"Preempted", random.pick({"", "x"}), static_cast<std::int32_t>(1 + random.below(3))}};
  if (random.coin()) out.resource_requests = {{"main", {{"cpu", random.below(5) * 100}}}};
  if (random.below(5) == 0) out.set_active = random.coin();
  if (random.below(3) == 0) out.parent_markers = random.coin();
  for (const auto* name : {"w-option-a", "w-option-b", "w-option-c"}) {
    if (random.coin()) continue;
    out.options.push_back(
        {name, {random.pick({"a", "b"})}, static_cast<OptionPhase>(random.below(4)), random.pick({"", "why"}), random.time()});
  }
  if (random.coin()) out.gates = {{"kueue.x-k8s.io/concurrent-admission", random.coin(), random.time()}};
  out.release_finalizer = random.below(5) == 0;
  return out;
}

void expect_seen(const WorkloadIntent& want, const WorkloadObserved& seen) {
  using Condition = std::tuple<ConditionType, ConditionStatus, std::string, std::string, std::int64_t>;
  std::set<Condition> wanted_conditions;
  std::set<Condition> seen_conditions;
  for (const auto& c : want.conditions)
    wanted_conditions.emplace(c.type, c.status, c.reason, condition_message(c.message), c.last_transition.floor_seconds());
  for (const auto& c : seen.conditions) seen_conditions.emplace(c.type, c.status, c.reason, c.message, c.last_transition.floor_seconds());
  EXPECT_EQ(wanted_conditions, seen_conditions);

  EXPECT_EQ(want.has_admission, seen.has_admission);
  EXPECT_EQ(want.cluster_queue, seen.admission_cluster_queue);
  ASSERT_EQ(want.assignments.size(), seen.assignments.size());
  for (std::size_t i = 0; i < want.assignments.size(); ++i) {
    EXPECT_EQ(want.assignments[i].pod_set, seen.assignments[i].pod_set);
    EXPECT_EQ(want.assignments[i].count, seen.assignments[i].count);
    std::vector<std::pair<std::string, std::string>> flavors;
    for (const auto& f : seen.assignments[i].flavors) flavors.emplace_back(f.resource, f.flavor);
    EXPECT_EQ(want.assignments[i].flavors, flavors);
    std::vector<std::pair<std::string, Amount>> usage;
    for (const auto& u : seen.assignments[i].usage) usage.emplace_back(u.resource, u.amount);
    EXPECT_EQ(want.assignments[i].usage, usage);
  }
  ASSERT_EQ(want.checks.size(), seen.checks.size());
  for (std::size_t i = 0; i < want.checks.size(); ++i) {
    EXPECT_EQ(want.checks[i].name, seen.checks[i].name);
    EXPECT_EQ(want.checks[i].state, seen.checks[i].state);
    EXPECT_EQ(want.checks[i].message, seen.checks[i].message);
    EXPECT_EQ(want.checks[i].last_transition.floor_seconds(), seen.checks[i].last_transition.floor_seconds());
    EXPECT_EQ(want.checks[i].requeue_after_seconds, seen.checks[i].requeue_after_seconds);
    EXPECT_EQ(want.checks[i].retry_count, seen.checks[i].retry_count);
    EXPECT_EQ(want.checks[i].pod_set_updates.empty(), seen.checks[i].pod_set_updates.empty());
  }
  EXPECT_EQ(want.has_requeue_state, seen.has_requeue_state);
  EXPECT_EQ(want.requeue_count, seen.requeue_count);
  EXPECT_EQ(want.requeue_at.is_set(), seen.requeue_at.is_set());
  if (want.requeue_at.is_set()) {
    EXPECT_EQ(want.requeue_at.floor_seconds(), seen.requeue_at.floor_seconds());
  }
  ASSERT_EQ(want.reclaimable.size(), seen.reclaimable.size());
  for (std::size_t i = 0; i < want.reclaimable.size(); ++i) EXPECT_EQ(want.reclaimable[i].second, seen.reclaimable[i].count);
  EXPECT_EQ(want.accumulated_exec_seconds.value_or(0), seen.accumulated_exec_seconds.value_or(0));
  ASSERT_EQ(want.evictions.size(), seen.evictions.size());
  for (std::size_t i = 0; i < want.evictions.size(); ++i) {
    EXPECT_EQ(want.evictions[i].cause, seen.evictions[i].underlying_cause);
    EXPECT_EQ(want.evictions[i].count, seen.evictions[i].count);
  }
  EXPECT_EQ(!want.resource_requests.empty(), seen.has_resource_requests);
  if (want.set_active) {
    EXPECT_EQ(seen.active, *want.set_active);
  }
  if (want.parent_markers) {
    EXPECT_EQ(seen.parent_marked, *want.parent_markers);
  }
  using Option = std::tuple<std::string, std::string, OptionPhase, std::string, std::int64_t>;
  std::set<Option> wanted_options, seen_options;
  for (const auto& o : want.options) wanted_options.emplace(o.name, o.flavors.at(0), o.phase, o.message, o.last_transition.floor_seconds());
  for (const auto& o : seen.options) seen_options.emplace(o.name, joined(o.flavors), o.phase, o.message, o.last_transition.floor_seconds());
  EXPECT_EQ(wanted_options, seen_options);
  ASSERT_EQ(seen.preemption_gates.size(), 2U);
  EXPECT_TRUE(seen.preemption_gates[0].open) << "of others";
  if (!want.gates.empty()) {
    EXPECT_EQ(seen.preemption_gates[1].open, want.gates[0].open);
  }
  if (want.release_finalizer) {
    EXPECT_FALSE(seen.meta.in_use_finalizer);
  }
}

// CA-5, CA-20 (8691 §2.5, §2.6): with markers, options and gates of families
TEST(PlanRoundTrip, WritesWhatIsThenObserved) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Json object = Json::parse(R"({"metadata":{"name":"w","namespace":"ns","uid":"u","resourceVersion":"1","generation":1,
      "finalizers":["kueue.x-k8s.io/resource-in-use"]},"spec":{"podSets":[{"template":{"spec":{}}}],
      "preemptionGates":[{"name":"other"},{"name":"kueue.x-k8s.io/concurrent-admission"}]},
      "status":{"preemptionGates":[{"name":"other","position":"Open","lastTransitionTime":"2026-01-01T00:00:00Z"}],"conditions":[{"type":"Foreign","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    for (int step = 0; step < 4; ++step) {
      const auto intent = random_intent(random);
      const auto writes = settle(object, [&](const Json& o) { return plan_workload(intent, o); });
      ASSERT_GE(writes, 0);
      ASSERT_LE(writes, 3);
      Arena arena;
      expect_seen(intent, observed<WorkloadObserved>(types::workload, object.dump(), arena));
      ASSERT_EQ(object["status"]["conditions"][0]["type"], "Foreign");
      if (HasFailure()) return;
    }
  }
}

TEST(PlanRoundTrip, StartsAndStopsLeaveAnyJobAsItWas) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Json object = Json::parse(R"({"metadata":{"name":"j","namespace":"ns","uid":"u","resourceVersion":"1"},
      "spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"c"}]}}},"status":{}})");
    auto& pod_template = object["spec"]["template"];
    for (const auto* key : {"labels", "annotations"})
      for (const auto* name : {"a", "b", "job-name"})
        if (random.coin()) pod_template["metadata"][key][name] = random.pick({"1", "2", ""});
    for (const auto* name : {"zone", "arch"})
      if (random.coin()) pod_template["spec"]["nodeSelector"][name] = random.pick({"1", "2"});
    if (random.coin()) pod_template["spec"]["tolerations"] = Json::parse(R"([{"key":"k","operator":"Exists"}])");
    if (random.coin()) pod_template["spec"]["schedulingGates"] = Json::parse(R"([{"name":"g"}])");
    const auto parallelism = random.below(5);
    object["spec"]["parallelism"] = parallelism;
    if (random.coin()) object["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1";
    const Json original = object["spec"];

    admission::WorkloadCreateIntent create;
    create.job_uid = "u";
    create.job_kind = "Job";
    create.job_group = "batch";
    const Json workload = Json::parse(plan_create(create, object)->body);

    admission::JobIntent intent;
    intent.uid = "u";
    intent.kind = "Job";
    intent.group = "batch";
    intent.workload = "w";
    intent.cluster_queue = "cq";
    intent.local_queue = "lq";
    for (int round = 0; round < 3; ++round) {
      intent.run = true;
      intent.pod_sets = {{"main", static_cast<std::int32_t>(random.below(parallelism + 1)), {{"flavor", random.pick({"x", "y"})}}, {}, {}}};
      if (random.coin())
        intent.pod_sets[0].tolerations = {{"k", "", true, TaintEffect::unspecified}, {"l", "v", false, TaintEffect::no_execute, 90}};
      if (random.coin()) intent.pod_sets[0].pod_set_updates = {R"({"annotations":{"check":"done"}})"};
      const auto plan = [&](const Json& o) { return *plan_job(intent, o, workload); };
      ASSERT_EQ(settle(object, plan), 1);
      ASSERT_EQ(object["spec"]["suspend"], false);
      object["status"] = Json::parse(R"({"active":1,"startTime":"2026-01-01T00:00:00Z"})");
      intent.run = false;
      ASSERT_EQ(settle(object, plan), 1);
      object["status"] = Json::parse(R"({"active":0,"conditions":[{"type":"Suspended","status":"True"}]})");
      ASSERT_LE(settle(object, plan), 1);
      ASSERT_EQ(object["spec"], original);
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors

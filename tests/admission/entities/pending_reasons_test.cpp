// Why a Workload waits: what its condition says of that, and when that is looked at anew (base-api §6.3, base-admission §3.6, §8.2),
// through all entities.

#include <gtest/gtest.h>

#include <functional>

#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

class PendingReasons : public QueueWorld {
 protected:
  /// Comes to rest; what "w" gave as its reason after each step that changed it.
  Lines reasons(std::string_view name = "w") {
    Lines out;
    std::string last = w.pending(name);
    for (int i = 0; i < 100; ++i) {
      const auto step = w.driver().decide();
      if (!step) return out;
      w.observe_decision(*step);
      if (w.pending(name) == last) continue;
      out.push_back(last = w.pending(name));
    }
    ADD_FAILURE() << "the domain does not come to rest";
    return out;
  }
  /// Something is decided that has nothing to do with "w".
  void meanwhile() {
    const std::string name = "other-" + std::to_string(others_++);
    if (others_ == 1) {
      w.queue({.name = "elsewhere", .cpu = 1'000'000});
      w.local_queue("l-elsewhere", "elsewhere");
    }
    w.observe(w.workload(name, "l-elsewhere", 1'000));
    (void)w.settle();
    ASSERT_TRUE(w.state(name).reserved());
  }
  /// ClusterQueue "q", stopped or not, which selects these namespaces; "": all, "-": none.
  void cluster_queue(StopPolicy stop, std::string_view label, Amount cpu = 4'000) {
    auto o = flavored("q", {{"default", cpu}});
    o.stop_policy = stop;
    o.stop_policy_set = stop != StopPolicy::none;
    o.has_namespace_selector = label != "-";
    if (!label.empty() && label != "-") o.namespace_selector = has_label(label);
    w.observe(o);
  }
  /// "q" selects team's namespaces, "default" is one of them, "runs" takes the whole quota and "w" waits.
  void fill_queue_of_team() {
    w.flavor("default");
    w.namespace_("default", "team");
    w.check("k");
    cluster_queue(StopPolicy::none, "team");
    w.local_queue("l", "q");
    begin();
    w.observe(w.workload("runs", "l", 4'000));
    w.observe(w.workload("w", "l", 1'000));
    (void)w.settle();
  }
  void set_cpu(WorkloadObserved& o, Amount cpu) {
    auto requests = w.arena().make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = o.pod_sets[0];
    pods[0].requests = requests;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = static_cast<std::uint64_t>(cpu) + 7;
    o.pod_sets = pods;
    w.remember(o);
  }
  /// "w" asks for more than its own limits.
  void set_limits_error(WorkloadObserved& o, std::string_view error) {
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = o.pod_sets[0];
    pods[0].limits_error = error;
    o.pod_sets = pods;
    w.remember(o);
  }

 private:
  int others_ = 0;
};

// BA-68: where nothing keeps it out any more it waits to be tried
TEST_F(PendingReasons, WhatNothingKeepsOutIsPendingEvaluation) {
  w.namespace_("default");
  w.flavor("default");
  w.observe(MirrorSynced{});
  cluster_queue(StopPolicy::none, "");
  w.observe(w.workload("w", "l", 9'000));
  EXPECT_EQ(reasons(), Lines{"Misconfigured: LocalQueue l doesn't exist"});
  w.local_queue("l", "q");
  const auto found = reasons();
  ASSERT_EQ(found.size(), 2U) << ::testing::PrintToString(found);
  EXPECT_EQ(found[0], "PendingEvaluation: Workload is pending evaluation in the scheduling queue");
  EXPECT_TRUE(found[1].starts_with("ExceedsMaxQuota: ")) << found[1];
}

// BA-68: an equal one that failed is a reason only where there is none of the scheduler's own
TEST_F(PendingReasons, AnEqualWorkloadThatFailedIsAReasonInPlaceOfAnOlderOne) {
  set_up({{.name = "q", .cpu = 3'000}});
  for (const char* name : {"w", "gated"}) {
    auto o = w.workload(name, "l-q", 4'000);
    o.active = false;
    w.observe(o);
  }
  (void)w.settle();
  (void)pass(1);
  w.observe(w.workload("failed", "l-q", 4'000));
  (void)w.settle();
  ASSERT_EQ(w.pending("failed").substr(0, 15), "ExceedsMaxQuota");
  EXPECT_EQ(w.pending("w"), "Deactivated: The workload is deactivated");
  set_active("w", true);
  EXPECT_EQ(reasons(), Lines{"ExceedsMaxQuota: Bypassed scheduling evaluation because an equivalent workload recently failed"});
  EXPECT_TRUE(parked("q", "w"));
  change("gated", [&](WorkloadObserved& o) {
    o.active = true;
    o.admission_gated_by = "example.com/g";
    w.remember(o);
    ++o.meta.generation;
  });
  EXPECT_EQ(reasons("gated"), Lines{"AdmissionGated: Admission is gated by: example.com/g"}) << "the gate comes first";
}

// BA-211: whoever is parked because an equal one failed shows nothing of that: no condition where there was none, and the reason of its own
TEST_F(PendingReasons, WhoIsParkedByARecordKeepsItsConditions) {
  set_up({{.name = "q", .cpu = 4'000}});
  w.observe(w.workload("runs", "l-q", 4'000));
  w.observe(w.workload("w", "l-q", 3'000));
  (void)w.settle();
  ASSERT_EQ(w.pending("w").substr(0, 15), "WaitingForQuota");
  std::uint64_t parked_with = 0;
  for (const char* name : {"big-1", "big-2", "big-3"}) w.observe(w.workload(name, "l-q", 5'000));
  settle([&](const Domain::Step& step) {
    for (const Event& e : step.events)
      if (const auto* r = std::get_if<EntryRequeued>(&e)) parked_with += r->bulk_parked;
  });
  EXPECT_EQ(parked_with, 2U) << "the log tells of them";
  EXPECT_EQ(w.pending("big-1").substr(0, 15), "ExceedsMaxQuota");
  w.observe(w.workload("later", "l-q", 5'000));
  EXPECT_EQ(w.settle(), Lines{}) << "it was not tried";
  for (const char* name : {"big-2", "big-3", "later"}) {
    EXPECT_TRUE(parked("q", name)) << name;
    EXPECT_EQ(w.state(name).find(ConditionType::quota_reserved), nullptr) << name;
    EXPECT_EQ(w.state(name).find(ConditionType::admitted), nullptr) << name;
  }
  // now it asks for as much as those
  const std::string before = w.pending("w");
  change("w", [&](WorkloadObserved& o) {
    o.pod_sets = w.workload("as-those", "l-q", 5'000).pod_sets;
    ++o.meta.generation;
    w.remember(o);
  });
  EXPECT_EQ(w.settle(), Lines{}) << "it was not tried";
  EXPECT_TRUE(parked("q", "w"));
  EXPECT_EQ(w.pending("w"), before) << "outdated, and kept";
}

// BA-211: with UnadmittedWorkloadsExplicitStatus it shows that an equal one failed, and why it waits from the beginning
TEST_F(PendingReasons, WithExplicitStatusWhoIsParkedByARecordSaysSo) {
  constexpr const char* bypassed = "ExceedsMaxQuota: Bypassed scheduling evaluation because an equivalent workload recently failed";
  Settings settings;
  settings.unadmitted_explicit_status = true;
  w.configure(settings);
  set_up({{.name = "q", .cpu = 4'000}});
  w.observe(w.workload("w", "l-q", 5'000));
  const auto found = reasons();
  ASSERT_EQ(found.size(), 2U) << ::testing::PrintToString(found);
  EXPECT_EQ(found[0], "PendingEvaluation: Workload is pending evaluation in the scheduling queue");
  EXPECT_TRUE(found[1].starts_with("ExceedsMaxQuota: ")) << found[1];

  w.observe(w.workload("later", "l-q", 5'000));
  EXPECT_EQ(reasons("later"), Lines{bypassed}) << "it was not tried";
  EXPECT_TRUE(parked("q", "later"));

  // "w" has a reason of the scheduler's, and another shape than before.
  w.observe(w.workload("failed", "l-q", 6'000));
  (void)w.settle();
  change("w", [&](WorkloadObserved& o) {
    set_cpu(o, 6'000);
    ++o.meta.generation;
  });
  EXPECT_EQ(reasons(), Lines{bypassed}) << "what it said was of what it was";
}

// BA-205: who is deactivated while it waits is evicted, and that is all: it is not to be requeued, and nothing was taken from it
TEST_F(PendingReasons, APendingWorkloadThatIsDeactivated) {
  set_up({{.name = "q", .cpu = 1'000}});
  w.observe(w.workload("w", "l-q", 4'000));
  (void)w.settle();
  w.observe(w.seen_as("w"));
  set_active("w", false);
  EXPECT_EQ(reasons(), Lines{"Deactivated: The workload is deactivated"});
  EXPECT_EQ(condition("w", ConditionType::evicted), "True Deactivated");
  EXPECT_EQ(w.state("w").find(ConditionType::evicted)->message, "The workload is deactivated");
  EXPECT_EQ(condition("w", ConditionType::requeued), "");
  EXPECT_EQ(condition("w", ConditionType::admitted), "False NoReservation");
  ASSERT_EQ(w.state("w").evictions.size(), 1U) << "it counts, as in Kueue";
  EXPECT_EQ(w.state("w").evictions[0].reason.text(), "Deactivated");
  EXPECT_EQ(w.state("w").evictions[0].cause.text(), "");
  EXPECT_EQ(waiting("q"), Lines{});
  set_active("w", true);
  (void)w.settle();
  EXPECT_EQ(condition("w", ConditionType::requeued), "") << "there was nothing that kept it out";
  EXPECT_EQ(waiting("q"), Lines{"w"});
}

// By earlier rules it did not count, and the state of a log of that time stays as it was.
TEST_F(PendingReasons, ByEarlierRulesItDoesNotCount) {
  w.observe_epoch(rules_with_deactivations_counted - 1);
  set_up({{.name = "q", .cpu = 1'000}});
  w.observe(w.workload("w", "l-q", 4'000));
  (void)w.settle();
  w.observe(w.seen_as("w"));
  set_active("w", false);
  (void)w.settle();
  EXPECT_EQ(condition("w", ConditionType::evicted), "True Deactivated");
  EXPECT_TRUE(w.state("w").evictions.empty());
}

// ---- when it is looked at anew --------------------------------------------------------------------------------------------------------

/// "w" waits for quota, and since then the queue selects its namespace no longer: its reason is outdated.
class OutdatedReason : public PendingReasons {
 protected:
  void SetUp() override {
    fill_queue_of_team();
    meanwhile();
    cluster_queue(StopPolicy::none, "other");
    ASSERT_TRUE(outdated());
  }
  /// At rest, and after what was asked for has been carried out.
  bool outdated() {
    (void)w.settle();
    (void)pass(1);
    return w.pending("w").starts_with("WaitingForQuota: ");
  }
  static constexpr const char* mismatch = "Misconfigured: workload namespace doesn't match ClusterQueue selector";
};

// BA-208: the reason stays at all that it is not looked at for
TEST_F(OutdatedReason, StaysWhateverElseHappens) {
  cluster_queue(StopPolicy::none, "other", 9'000);
  EXPECT_TRUE(outdated()) << "quota";
  ResourceFlavorObserved f;
  f.meta.name = "default";
  auto taints = w.arena().make<Taint>(1);
  taints[0] = {"spot", "true", TaintEffect::no_schedule};
  f.node_taints = taints;
  w.observe(f);
  EXPECT_TRUE(outdated()) << "a flavor";
  w.observe(ObjectDeleted{ObjectKind::resource_flavor, {}, "default", "uid"});
  EXPECT_TRUE(outdated()) << "no flavor, which makes the queue inactive";
  w.flavor("default");
  finish("runs");
  EXPECT_TRUE(outdated()) << "another Workload";
  CohortObserved c;
  c.meta.name = "cohort";
  w.observe(c);
  EXPECT_TRUE(outdated()) << "a cohort";
  w.namespace_("default", "color");
  EXPECT_TRUE(outdated()) << "labels of the namespace";
  w.observe_epoch();
  EXPECT_TRUE(outdated()) << "another writer";
}

// BA-208: also when its own change has just been seen and nothing followed from it
TEST_F(PendingReasons, TheReasonOfWhoWasJustSeenStaysWhenItsNamespaceIsSelectedNoLonger) {
  fill_queue_of_team();
  const auto see_it = [this] {
    change("w", [](WorkloadObserved& o) { o.accumulated_exec_seconds = o.accumulated_exec_seconds.value_or(0) + 1; });
    (void)w.settle();
  };
  const auto waits_for_quota = [this] {
    (void)w.settle();
    return w.pending("w").starts_with("WaitingForQuota: ");
  };
  see_it();
  cluster_queue(StopPolicy::none, "other");
  EXPECT_TRUE(waits_for_quota()) << w.pending("w");
  cluster_queue(StopPolicy::none, "team");
  see_it();
  w.namespace_("default", "color");
  EXPECT_TRUE(waits_for_quota()) << w.pending("w");
  see_it();
  EXPECT_EQ(w.pending("w"), "Misconfigured: workload namespace doesn't match ClusterQueue selector");
}

/// Each of the things that it is looked at for, by number.
class ReasonLookedAt : public OutdatedReason, public ::testing::WithParamInterface<std::size_t> {
 protected:
  struct Case {
    const char* what;
    std::function<void()> happens;
    std::string reason;
  };
  void delete_local_queue() { w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "l", "uid"}); }
  template <class F>
  void change_cluster_queue(F&& f) {
    auto o = flavored("q", {{"default", 4'000}});
    o.namespace_selector = has_label("other");
    f(o);
    w.observe(o);
  }
  std::vector<Case> cases() {
    return {
        {"the Workload", [this] { change("w", [](WorkloadObserved& o) { o.accumulated_exec_seconds = 5; }); }, mismatch},
        {"stopPolicy of the LocalQueue, which was not set, is None", [this] { stop_local_queue("l", "q", StopPolicy::none); }, mismatch},
        {"the LocalQueue is stopped", [this] { stop_local_queue("l", "q", StopPolicy::hold); }, "Suspended: LocalQueue l is inactive"},
        {"the LocalQueue has gone", [this] { delete_local_queue(); }, "Misconfigured: LocalQueue l doesn't exist"},
        {"the LocalQueue is made",
         [this] {
           delete_local_queue();
           w.local_queue("l", "q");
         },
         mismatch},
        {"stopPolicy of the ClusterQueue, which was not set, is None",
         [this] { change_cluster_queue([](ClusterQueueObserved& o) { o.stop_policy_set = true; }); }, mismatch},
        {"the ClusterQueue is stopped", [this] { cluster_queue(StopPolicy::hold, "other"); }, "Suspended: ClusterQueue q is inactive"},
        {"the ClusterQueue has gone",
         [this] {
           w.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, "q", "uid"});
         },
         "Misconfigured: ClusterQueue q doesn't exist"},
        {"checks of the ClusterQueue",
         [this] {
           auto checks = w.arena().make<AdmissionCheckRule>(1);
           checks[0].name = "k";
           change_cluster_queue([&](ClusterQueueObserved& o) { o.admission_checks = checks; });
         },
         mismatch},
        {"a LimitRange",
         [this] {
           auto seen = w.seen_as("w");
           seen.meta.resource_version = 0;  // the same version in another light
           seen.pod_sets = workload_of("w", "l", {{"main", 1, 1'500}}).pod_sets;
           w.observe(seen);
         },
         mismatch},
    };
  }
};

// BA-208: and goes at each that it is looked at for
TEST_P(ReasonLookedAt, IsThatOfNow) {
  ASSERT_EQ(cases().size(), 10U);
  const Case c = cases().at(GetParam());
  c.happens();
  (void)w.settle();
  EXPECT_EQ(w.pending("w"), c.reason) << c.what;
}

INSTANTIATE_TEST_SUITE_P(Events, ReasonLookedAt, ::testing::Range<std::size_t>(0, 10));

}  // namespace
}  // namespace hindsight::admission::testing

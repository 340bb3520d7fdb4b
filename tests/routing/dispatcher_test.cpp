#include "routing/dispatcher.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "admission/domain/loop_driver.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "routing/held_objects.hpp"
#include "tests/routing/facts.hpp"

namespace hindsight::routing::testing {
namespace {

/// A dispatcher before real domains, which decide only when the test says so.
class DispatcherTest : public ::testing::Test {
 protected:
  void start() {
    dispatcher = std::make_unique<Dispatcher>(
        "c", [this](Symbol name, const Observation& o) { append(name, o); }, [this] { return departing; });
    for (const auto& [name, d] : domains) dispatcher->know(Symbol(name));
  }
  void list() {
    dispatcher->list();
    const auto all = dispatcher->domains();
    for (const Symbol& name : all) dispatcher->complete(name, held_objects(*domains.at(std::string(name.text()))));
  }
  /// Flavor, namespace, queue a in cohort left, queue b in cohort right, each behind a LocalQueue of its name.
  void set_up() {
    start();
    observe(facts.flavor("default"));
    observe(facts.namespace_());
    for (const auto& [queue, cohort] : {std::pair("a", "left"), std::pair("b", "right")}) {
      observe(facts.queue(queue, cohort));
      observe(facts.local_queue(queue, queue));
    }
    list();
  }
  void observe(const Observation& o) { dispatcher->observe(o); }
  void append(Symbol domain, Body body) {
    auto& driver = domains[std::string(domain.text())];
    if (!driver)
      driver = std::make_unique<admission::LoopDriver>([](Text) -> Result<admission::Settings> { return admission::Settings{}; });
    if (const auto* o = std::get_if<Observation>(&body)) {
      if (const auto* gone = std::get_if<ObjectDeleted>(o))
        told.push_back(std::string(domain.text()) + " -" + std::string(gone->name) + ">" + std::string(gone->departed_to));
      else if (const auto key = object_of(*o))
        told.push_back(std::string(domain.text()) + " +" + key->name);
      else if (const auto* synced = std::get_if<MirrorSynced>(o))
        told.push_back(std::string(domain.text()) + (synced->pending ? " (" : " )"));
    }
    const RecordView record{{domain.text(), driver->domain().sequence() + 1, 1, facts.now, 0}, std::move(body)};
    ASSERT_TRUE(driver->apply(record));
  }
  /// All domains decide until they are at rest; the Workloads that got quota.
  std::vector<std::string> decide() {
    std::vector<std::string> out;
    for (const auto& [name, driver] : domains)
      while (const auto step = driver->decide()) {
        for (const auto& e : step->events) {
          if (const auto* q = std::get_if<QuotaReserved>(&e)) out.emplace_back(q->workload.name);
          EXPECT_FALSE(std::holds_alternative<WorkloadEvicted>(e) || std::holds_alternative<WorkloadPreempted>(e) ||
                       std::holds_alternative<WorkloadFinished>(e) || std::holds_alternative<WorkloadRemoved>(e))
              << "moving disturbs nobody";
        }
        append(Symbol(name), Decisions{step->base, step->kind, step->events});
      }
    return out;
  }
  [[nodiscard]] std::size_t held_by(const std::string& domain) const {
    std::size_t n = 0;
    for (const auto& object : held_objects(*domains.at(domain))) n += object.kind == ObjectKind::workload ? 1 : 0;
    return n;
  }

  Facts facts;
  std::map<std::string, std::unique_ptr<admission::LoopDriver>> domains;
  std::vector<std::string> told;
  bool departing = false;  ///< A write of what moves is under way.
  std::unique_ptr<Dispatcher> dispatcher;
};

TEST_F(DispatcherTest, EachTreeHearsOfItsOwnAndOfWhatIsEverywhere) {
  set_up();
  EXPECT_EQ(domains.at("c/cohort/left")->domain().catalog()->queues.size(), 1U);
  EXPECT_EQ(domains.at("c/cohort/right")->domain().catalog()->flavors.size(), 1U);
  observe(facts.flavor("spot"));
  for (const auto& [name, driver] : domains) EXPECT_EQ(driver->domain().catalog()->flavors.size(), 2U) << name;
}

// D15: the domains of one cluster share what its API server takes.
TEST_F(DispatcherTest, ALimitOnWritesIsSharedAmongTheBusy) {
  set_up();
  const auto limit = [this](const char* domain) { return domains.at(domain)->domain().write_backlog().limit(); };
  const auto left = "c/cohort/left", right = "c/cohort/right";
  observe(WriteLimitObserved{8});
  EXPECT_EQ(limit(left), 0U) << "nothing has happened since the lists";
  observe(facts.workload("u", "a"));
  observe(facts.workload("t", "b"));
  observe(WriteLimitObserved{8});
  EXPECT_EQ(limit(left), 4U);
  EXPECT_EQ(limit(right), 4U);
  observe(facts.workload("w", "a"));
  observe(WriteLimitObserved{8});
  EXPECT_EQ(limit(left), 8U);
  EXPECT_EQ(limit(right), 4U) << "nothing has happened there: it keeps what it had";
  observe(facts.workload("x", "a"));
  const auto records = domains.at(left)->domain().sequence();
  observe(WriteLimitObserved{9});
  EXPECT_EQ(domains.at(left)->domain().sequence(), records) << "that is nearly the same";
  observe(facts.namespace_());
  observe(WriteLimitObserved{2});
  EXPECT_EQ(limit(left), 8U) << "what is everywhere makes nobody busy";
  for (int i = 0; i < 3; ++i) observe(facts.workload("v" + std::to_string(i), i % 2 == 0 ? "a" : "b"));
  observe(WriteLimitObserved{1});
  EXPECT_EQ(limit(left), 1U) << "one at least";
  EXPECT_EQ(limit(right), 1U);
}

TEST_F(DispatcherTest, AMoveIsOneStepForBothDomainsAndEndsBeforeItBegins) {
  set_up();
  observe(facts.workload("w", "a"));
  told.clear();
  observe(facts.queue("a", "right"));
  const std::vector<std::string> expected{"c/cohort/left (",
                                          "c/cohort/right (",
                                          "c/cohort/left -w>c/cohort/right",
                                          "c/cohort/left -a>c/cohort/right",
                                          "c/cohort/left -a>c/cohort/right",
                                          "c/cohort/right +a",
                                          "c/cohort/right +a",
                                          "c/cohort/right +w",
                                          "c/cohort/left )",
                                          "c/cohort/right )"};
  EXPECT_EQ(told, expected);
}

// A Workload that runs is charged where its queue went, with nothing written and nobody evicted, and the new tree does not lend out
// what it uses.
TEST_F(DispatcherTest, AQueueMovesWithItsRunningWorkloads) {
  set_up();
  const auto running = facts.workload("running", "a", {}, 3'000);
  observe(facts.admitted(running, "a"));
  EXPECT_EQ(held_by("c/cohort/left"), 1U);
  observe(facts.workload("greedy", "b", {}, 6'000));  // more than b has, less than a and b have together
  EXPECT_TRUE(decide().empty());
  observe(facts.queue("a", "right"));
  EXPECT_EQ(held_by("c/cohort/left"), 0U);
  EXPECT_EQ(held_by("c/cohort/right"), 2U);
  EXPECT_TRUE(decide().empty()) << "a brought its usage along: 3 of 8 are in use";
  EXPECT_TRUE(domains.at("c/cohort/right")->queue(Symbol("a"))->holds_quota());
  observe(facts.workload("modest", "b", {}, 5'000));
  EXPECT_EQ(decide(), std::vector<std::string>{"modest"}) << "what is left of both can be lent";
}

TEST_F(DispatcherTest, NobodyDecidesInTheMiddleOfAMove) {
  set_up();
  append(Symbol("c/cohort/left"), Observation(MirrorSynced{true}));
  append(Symbol("c/cohort/left"), Observation(facts.workload("w", "a")));
  EXPECT_FALSE(domains.at("c/cohort/left")->decide().has_value());
  append(Symbol("c/cohort/left"), Observation(MirrorSynced{}));
  EXPECT_TRUE(domains.at("c/cohort/left")->decide().has_value());
}

// A queue that leaves with its cohort has the same version when it comes back.
// The admission that the old domain decided is being written while the queue moves: the new domain decides when it knows of it.
TEST_F(DispatcherTest, WhatIsBeingWrittenDuringAMoveIsWaitedFor) {
  set_up();
  const auto w = facts.workload("w", "a", {}, 3'000);
  observe(w);
  departing = true;
  observe(facts.queue("a", "right"));
  observe(facts.workload("greedy", "b", {}, 6'000));
  EXPECT_TRUE(decide().empty()) << "neither w, which may have been admitted, nor who would take its quota";
  dispatcher->settled();
  EXPECT_TRUE(decide().empty()) << "another write is under way";
  observe(facts.admitted(w, "a"));
  departing = false;
  told.clear();
  dispatcher->settled();
  EXPECT_EQ(told, (std::vector<std::string>{"c/cohort/left )", "c/cohort/right )"}));
  EXPECT_TRUE(decide().empty()) << "w holds 3 of 8";
  EXPECT_TRUE(domains.at("c/cohort/right")->queue(Symbol("a"))->holds_quota());
  observe(facts.workload("modest", "b", {}, 5'000));
  EXPECT_EQ(decide(), std::vector<std::string>{"modest"});
  dispatcher->settled();
  EXPECT_EQ(told.back(), "c/cohort/right +modest") << "nobody waits any more";
}

TEST_F(DispatcherTest, WhatDepartedMayComeBackAsItWas) {
  set_up();
  observe(facts.cohort("left", "right"));
  EXPECT_TRUE(domains.at("c/cohort/left")->domain().catalog()->queues.empty());
  observe(facts.cohort("left"));
  EXPECT_EQ(domains.at("c/cohort/left")->domain().catalog()->queues.size(), 1U);
  EXPECT_EQ(domains.at("c/cohort/right")->domain().catalog()->queues.size(), 1U);
}

TEST_F(DispatcherTest, AfterARestartNothingIsInTwoDomains) {
  set_up();
  const auto running = facts.admitted(facts.workload("running", "a"), "a");
  observe(running);
  observe(facts.workload("deleted", "a"));
  start();  // it remembers nothing; meanwhile queue a moved, and a Workload was deleted
  observe(running);
  observe(facts.local_queue("a", "a"));
  observe(facts.queue("a", "right"));
  observe(facts.flavor("default"));
  list();
  EXPECT_EQ(held_by("c/cohort/left"), 0U);
  EXPECT_EQ(held_by("c/cohort/right"), 1U);
  EXPECT_TRUE(domains.at("c/cohort/right")->domain().catalog()->namespaces.empty()) << "it was not listed any more";
  EXPECT_TRUE(decide().empty());
}

TEST_F(DispatcherTest, OnlyTheOwnerOfAnObjectMayWantSomethingOfIt) {
  set_up();
  observe(facts.workload("w", "a"));
  admission::WorkloadIntent intent;
  intent.uid = "uid-w";
  EXPECT_TRUE(dispatcher->may_want(Symbol("c/cohort/left"), intent));
  EXPECT_FALSE(dispatcher->may_want(Symbol("c/cohort/right"), intent));
  EXPECT_FALSE(dispatcher->may_want(Symbol("c/cohort/left"), admission::QueueStatusIntent{.name = "b"}));
  EXPECT_TRUE(dispatcher->may_want(Symbol("c/unassigned"), admission::QueueStatusIntent{.name = "never-readable"}));
  EXPECT_FALSE(dispatcher->may_want(Symbol("c/unassigned"), admission::QueueStatusIntent{.name = "b"}));
}

TEST_F(DispatcherTest, AFlavorIsLetGoWhenNoDomainUsesIt) {
  set_up();
  const admission::FinalizerIntent release{ObjectKind::resource_flavor, "default", false};
  EXPECT_FALSE(dispatcher->may_want(Symbol("c/unassigned"), release)) << "two queues use it, in other domains";
  for (const char* queue : {"a", "b"}) observe(ObjectDeleted{ObjectKind::cluster_queue, "", queue, "", {}});
  EXPECT_TRUE(dispatcher->may_want(Symbol("c/cohort/right"), release));
}

// ---- nodes ------------------------------------------------------------------------------------------------------------------------------

class Nodes : public DispatcherTest {
 protected:
  /// Queue a has the nodes of zone east, queue b those of zone west.
  void set_up_zones() {
    start();
    observe(facts.namespace_());
    for (const char* zone : {"east", "west"}) observe(facts.flavor(zone, "racks", "zone", zone));
    observe(facts.queue("a", "left", "east"));
    observe(facts.queue("b", "right", "west"));
    observe(facts.node("listed", "zone", "west"));
    observe(facts.usage("listed", 100));
    list();
    told.clear();
  }
  /// Which nodes each domain knows, and what others use of them.
  std::vector<std::string> known() {
    std::vector<std::string> out;
    for (const auto& [name, driver] : domains)
      for (const auto& [node, config] : driver->domain().nodes()) {
        out.push_back(name + " " + std::string(node.text()));
        for (const auto& [resource, amount] : config->used.value()) out.back() += " " + std::to_string(amount);
      }
    return out;
  }
  using Lines = std::vector<std::string>;
};

// TAS-34: whatever flavors of a tree can select it; and no other tree hears of it.
TEST_F(Nodes, ANodeIsToldToTheTreeThatSelectsIt) {
  set_up_zones();
  EXPECT_EQ(known(), (Lines{"c/cohort/right listed 100"}));
  observe(facts.usage("n", 200));
  observe(facts.node("n", "zone", "east"));
  observe(facts.node("m", "zone", "north"));
  observe(facts.usage("m", 300));
  EXPECT_EQ(told, (Lines{"c/cohort/left +n", "c/cohort/left +n", "c/unassigned +m", "c/unassigned +m"}));
  EXPECT_EQ(known(), (Lines{"c/cohort/left n 200", "c/cohort/right listed 100", "c/unassigned m 300"}));
  told.clear();
  observe(ObjectDeleted{ObjectKind::node, "", "n", "node-n", {}});
  observe(facts.usage("n", 400));
  observe(ObjectDeleted{ObjectKind::node, "", "n", "node-n", {}});
  EXPECT_EQ(told, (Lines{"c/cohort/left -n>", "c/cohort/left +n"})) << "who does not know it is not told";
  EXPECT_TRUE(domains.at("c/cohort/left")->domain().node_usage().empty()) << "of a node that has gone nothing stays";
}

// Its pods run on, wherever it belongs now.
TEST_F(Nodes, WhoKnewANodeIsToldOn) {
  set_up_zones();
  observe(facts.node("listed", "zone", "east"));
  EXPECT_EQ(told, (Lines{"c/cohort/right +listed", "c/cohort/left +listed", "c/cohort/left +listed"}));
  observe(facts.usage("listed", 500));
  EXPECT_EQ(known(), (Lines{"c/cohort/left listed 500", "c/cohort/right listed 500"}));
  observe(ObjectDeleted{ObjectKind::node, "", "listed", "node-listed", {}});
  EXPECT_EQ(known(), Lines{});
}

TEST_F(Nodes, ATreeThatSelectsOthersHearsOfAllOfThemAtOnce) {
  set_up_zones();
  for (const char* name : {"n1", "n2"}) observe(facts.node(name, "zone", "north"));
  observe(facts.usage("n1", 100));
  told.clear();
  observe(facts.flavor("north", "racks", "zone", "north"));
  observe(facts.flavor("plain"));
  EXPECT_EQ(told, (Lines{"c/cohort/left +north", "c/cohort/right +north", "c/unassigned +north", "c/cohort/left +plain",
                         "c/cohort/right +plain", "c/unassigned +plain"}))
      << "no queue uses it";
  told.clear();
  observe(facts.queue("new", "left", "north"));
  EXPECT_EQ(told, (Lines{"c/cohort/left (", "c/cohort/left +n1", "c/cohort/left +n1", "c/cohort/left +n2", "c/cohort/left +new",
                         "c/cohort/left )"}));
  told.clear();
  observe(facts.queue("alone", {}, "plain"));
  EXPECT_EQ(told.front(), "c/queue/alone (");
  EXPECT_TRUE(domains.at("c/queue/alone")->domain().nodes().empty());
}

TEST_F(Nodes, AfterARestartWhoKnewANodeIsToldOnAndWhatHasGoneIsEnded) {
  set_up_zones();
  observe(facts.node("stays", "zone", "east"));
  observe(facts.node("goes", "zone", "east"));
  start();
  observe(facts.namespace_());
  for (const char* zone : {"east", "west"}) observe(facts.flavor(zone, "racks", "zone", zone));
  observe(facts.queue("a", "left", "east"));
  observe(facts.queue("b", "right", "west"));
  observe(facts.node("stays", "zone", "west"));
  observe(facts.usage("stays", 700));
  list();
  EXPECT_EQ(known(), (Lines{"c/cohort/left stays 700", "c/cohort/right stays 700"}));
}

TEST_F(Nodes, ANodeThatCouldNotBeReadIsLiftedWhereItWasTold) {
  set_up_zones();
  const auto node = facts.node("n", "zone", "east");
  ObjectQuarantined q;
  q.kind = ObjectKind::node;
  q.api_kind = "Node";
  q.name = node.meta.name;
  q.uid = node.meta.uid;
  q.resource_version = 1;
  q.reason = "a test";
  observe(q);
  const auto set_aside = [&] {
    std::size_t out = 0;
    for (const auto& [name, driver] : domains) out += driver->domain().quarantined().size();
    return out;
  };
  EXPECT_EQ(set_aside(), 1U);
  observe(node);
  EXPECT_EQ(set_aside(), 0U);
  EXPECT_EQ(known(), (Lines{"c/cohort/left n", "c/cohort/right listed 100"}));
}

// ---- objects that were set aside --------------------------------------------------------------------------------------------------------

class SetAside : public DispatcherTest {
 protected:
  ObjectQuarantined quarantine(ObjectKind kind, const ObjectMeta& meta, std::uint64_t version = 100) {
    ObjectQuarantined q;
    q.kind = kind;
    q.api_kind = kind == ObjectKind::job ? "Job" : kind == ObjectKind::workload ? "Workload" : "ResourceFlavor";
    q.namespace_ = meta.namespace_;
    q.name = meta.name;
    q.uid = meta.uid;
    q.resource_version = version;
    q.reason = "a test";
    return q;
  }
  /// Names of what each domain knows to be set aside.
  std::vector<std::string> known() {
    std::vector<std::string> out;
    for (const auto& [name, driver] : domains)
      for (const auto& [uid, q] : driver->domain().quarantined()) out.push_back(name + " " + q.name);
    return out;
  }
};

using Lines = std::vector<std::string>;

TEST_F(SetAside, TheDomainThatHasAnObjectIsToldOfIt) {
  set_up();
  const auto w = facts.workload("w", "b");
  observe(w);
  observe(quarantine(ObjectKind::workload, w.meta));
  EXPECT_EQ(known(), Lines{"c/cohort/right w"});
  auto back = w;
  back.meta.resource_version = 101;
  observe(back);
  EXPECT_EQ(known(), Lines{});
}

TEST_F(SetAside, AnObjectOfWhichNothingIsKnownIsToldOnceAndLiftedWhereItWasTold) {
  set_up();
  auto w = facts.workload("w", "b");
  observe(quarantine(ObjectKind::workload, w.meta));
  ASSERT_EQ(known().size(), 1U);
  EXPECT_NE(known().front(), "c/cohort/right w") << "nobody knows where it belongs";
  w.meta.resource_version = 101;
  observe(w);
  EXPECT_EQ(known(), Lines{});
  EXPECT_EQ(held_by("c/cohort/right"), 1U);
}

TEST_F(SetAside, AJobBelongsWhereItsOutlineSays) {
  set_up();
  const auto j = facts.job("j", "a");
  auto q = quarantine(ObjectKind::job, j.meta);
  auto outline = j;
  outline.pod_sets = {};
  q.outline = {&outline, 1};
  observe(q);
  EXPECT_EQ(known(), Lines{"c/cohort/left j"});
}

TEST_F(SetAside, ItMovesWithItsQueue) {
  set_up();
  const auto w = facts.workload("w", "a");
  observe(w);
  observe(quarantine(ObjectKind::workload, w.meta));
  EXPECT_EQ(known(), Lines{"c/cohort/left w"});
  observe(facts.queue("a", "right"));
  EXPECT_EQ(known(), Lines{"c/cohort/right w"});
  EXPECT_EQ(held_by("c/cohort/right"), 1U);
  EXPECT_TRUE(decide().empty()) << "it gets no quota there either";
}

/// A connector that starts tells each domain what is set aside now, and of what is so no more.
TEST_F(SetAside, AListTellsWhatIsSoNow) {
  set_up();
  const auto stays = facts.workload("stays", "a");
  const auto goes = facts.workload("goes", "b");
  for (const auto& w : {stays, goes}) {
    observe(w);
    observe(quarantine(ObjectKind::workload, w.meta));
  }
  ASSERT_EQ(known().size(), 2U);
  start();  // another process, that begins with what is there
  observe(facts.flavor("default"));
  observe(facts.namespace_());
  for (const auto& [queue, cohort] : {std::pair("a", "left"), std::pair("b", "right")}) {
    observe(facts.queue(queue, cohort));
    observe(facts.local_queue(queue, queue));
  }
  observe(quarantine(ObjectKind::workload, stays.meta, 102));
  list();
  ASSERT_EQ(known().size(), 1U);
  EXPECT_TRUE(known().front().ends_with(" stays")) << known().front();
}

}  // namespace
}  // namespace hindsight::routing::testing

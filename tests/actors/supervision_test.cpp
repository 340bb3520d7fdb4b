// What goes wrong: entities that throw, logs that fail, other writers, damage (design rule 4; a crash is a replay).

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

class NodeSupervision : public NodeFixture {
 protected:
  /// Entities throw at each of these messages, counted over all lives of the domain.
  void throw_at(std::set<std::uint64_t> messages) {
    options.hook = [this, messages = std::move(messages)](const admission::Message&) {
      if (messages.contains(++seen_)) throw std::runtime_error("an invariant does not hold");
    };
  }
  std::atomic<std::uint64_t> seen_ = 0;
};

TEST_F(NodeSupervision, AnEntityThatThrowsTakesItsDomainDownAndItIsBuiltAgain) {
  throw_at({30});
  start();
  set_up_queue(3'000);
  for (int i = 0; i < 10; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  rest();
  EXPECT_EQ(node->status().restarts, 1U);
  EXPECT_EQ(admitted(), 3);
  EXPECT_EQ(count_bodies<EpochStarted>(), 2U);
  expect_state_of_log();
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices.front().find("an invariant does not hold"), std::string::npos) << notices.front();
}

// Wherever the fault strikes, what the log says afterwards is the same domain.
TEST_F(NodeSupervision, EveryMomentOfFailureLeadsToTheSameAdmissions) {
  for (std::uint64_t moment = 1; moment < 60; moment += 3) {
    events::MemoryLog own_log;
    seen_ = 0;
    throw_at({moment, moment + 1});
    auto started = Node::start(own_log, options);
    ASSERT_TRUE(started);
    node = std::move(*started);
    set_up_queue(2'000, PreemptionPolicy::lower_priority);
    observe(facts.workload("low", "lq", 2'000, 0));
    rest();
    observe(facts.workload("high", "lq", 2'000, 10));
    rest();
    const auto hash = node->state_hash();
    ASSERT_TRUE(hash) << hash.error().message;
    bool evicted = false;
    ASSERT_TRUE(node->inspect([&](const admission::StateView& view) {
      const auto index = view.domain().find_parent("uid-low");
      evicted = index && view.parent(*index)->workloads().front().evicted();
    }));
    EXPECT_TRUE(evicted) << "fault at message " << moment;
    node.reset();
  }
}

TEST_F(NodeSupervision, WorkThatWasAskedForOutlivesItsDomain) {
  throw_at({40});
  start();
  set_up_queue(3'000);
  for (int i = 0; i < 10; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  std::atomic<int> done = 0;
  std::uint32_t parents = 0;
  node->call([&](admission::Entities& entities) {
    ++done;
    parents = entities.domain().parent_count();
  });
  rest();
  EXPECT_EQ(node->status().restarts, 1U);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(parents, 10U);
}

TEST_F(NodeSupervision, TooManyFailuresStopTheNodeWithAClearError) {
  options.restarts_max = 3;
  options.hook = [](const admission::Message& m) {
    if (m.to.kind == admission::EntityKind::cluster_queue) throw std::runtime_error("a queue cannot count");
  };
  std::atomic<int> told = 0;
  options.on_failure = [&](const Error&) { ++told; };
  start();
  for (const auto& o :
       {facts.flavor(), facts.namespace_(), facts.queue("cq", 1'000), facts.local_queue("lq", "cq"), Observation(MirrorSynced{})})
    (void)node->observe({&o, 1});
  // A record that was in the log when the domain was built again is folded without the hook; each new one strikes again.
  for (int i = 0; node->wait_until_rest(); ++i) {
    const Observation w = facts.workload("w" + std::to_string(i), "lq", 1'000);
    (void)node->observe({&w, 1});
  }
  const auto ended = node->wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::unavailable);
  EXPECT_NE(ended.error().message.find("domain default failed 4 times within 60 s (allowed: 3)"), std::string::npos)
      << ended.error().message;
  EXPECT_NE(ended.error().message.find("ClusterQueue cq failed at record "), std::string::npos)
      << "names the object: " << ended.error().message;
  EXPECT_NE(ended.error().message.find("a queue cannot count"), std::string::npos) << ended.error().message;
  EXPECT_EQ(told, 1);
  EXPECT_EQ(node->observe({}), Credit::stopped);
  EXPECT_FALSE(node->wait_until_rest());
  EXPECT_EQ(node->status().restarts, 3U);
  EXPECT_EQ(node->status().error, ended.error().message);
  EXPECT_FALSE(node->stop()) << "the result stays an error";
}

TEST_F(NodeSupervision, AnExceptionOfAnotherKindIsNoDifferent) {
  options.hook = [this](const admission::Message&) {
    if (++seen_ == 12) throw 42;
  };
  start();
  set_up_queue(1'000);
  observe(facts.workload("w", "lq", 1'000));
  rest();
  EXPECT_EQ(node->status().restarts, 1U);
  EXPECT_EQ(admitted(), 1);
}

class NodeOverABadLog : public NodeSupervision, public ::testing::WithParamInterface<events::AppendFault> {
 protected:
  void TearDown() override { node.reset(); }  // it may still write, and counts that
  std::atomic<int> appends_ = 0;
};

// Nobody knows whether the records are in the log: a new epoch, the observations again, the decisions anew.
TEST_P(NodeOverABadLog, AFailedAppendLeadsToANewEpochAndTheSameAdmissions) {
  log.on_append([this](std::span<const events::EncodedRecord>) { return ++appends_ % 3 == 0 ? GetParam() : events::AppendFault::none; });
  start();
  set_up_queue(5'000);
  rest();
  for (int i = 0; i < 12; ++i) {
    observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
    rest();
  }
  EXPECT_EQ(admitted(), 5);
  EXPECT_GT(node->status().epochs_begun, 1U);
  EXPECT_EQ(node->status().restarts, 0U) << "a log that fails is no failure of the domain";
  expect_state_of_log();
  std::set<std::string_view> seen;
  const auto all = records();
  std::set<std::uint64_t> bases;
  for (const auto& r : all) {
    if (const auto* o = std::get_if<Observation>(&r->view().body)) {
      if (const auto* w = std::get_if<WorkloadObserved>(o)) seen.insert(w->meta.name);
    } else if (const auto* d = std::get_if<Decisions>(&r->view().body)) {
      EXPECT_TRUE(bases.insert(d->base).second) << "a decision was written twice";
    }
  }
  EXPECT_EQ(seen.size(), 12U);
}

std::string fault_name(const ::testing::TestParamInfo<events::AppendFault>& fault) {
  switch (fault.param) {
    case events::AppendFault::refused:
      return "Refused";
    case events::AppendFault::possibly_persisted:
      return "PossiblyPersisted";
    case events::AppendFault::torn:
      return "Torn";
    case events::AppendFault::none:
      break;
  }
  return "None";
}

INSTANTIATE_TEST_SUITE_P(Faults, NodeOverABadLog,
                         ::testing::Values(events::AppendFault::refused, events::AppendFault::possibly_persisted,
                                           events::AppendFault::torn),
                         fault_name);

TEST_F(NodeSupervision, ALogThatNeverTakesAnythingStopsTheNode) {
  log.on_append([](std::span<const events::EncodedRecord>) { return events::AppendFault::refused; });
  options.append_failures_max = 3;
  start();
  const auto ended = node->wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::io);
  EXPECT_NE(ended.error().message.find("4 appends in a row failed; allowed: 3"), std::string::npos) << ended.error().message;
}

// Longer than any number of failed appends that a log with another fault is allowed
TEST_F(NodeSupervision, ALogThatIsOutOfReachIsWaitedFor) {
  options.append_failures_max = 0;
  start();
  set_up_queue(2'000);
  observe(facts.workload("before", "lq", 1'000));
  rest();
  log.be_away(true);
  observe(facts.workload("meanwhile", "lq", 1'000));
  const auto waits = [&] {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(notices, [](const auto& n) { return n.find("nothing is decided until it can") != std::string::npos; });
  };
  while (!waits()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(node->status().caught_up) << "not ready meanwhile";
  log.be_away(false);
  while (!node->status().caught_up) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  observe(facts.workload("meanwhile", "lq", 1'000));  // what was not taken is told again, as a mirror does after every new epoch
  rest();
  EXPECT_EQ(node->status().restarts, 0U);
  EXPECT_EQ(admitted(), 2);
  expect_state_of_log();
}

TEST_F(NodeSupervision, AnotherWriterFencesThisOne) {
  start();
  set_up_queue(1'000);
  rest();
  auto other = Node::start(log, options);
  ASSERT_TRUE(other);
  const auto ended = node->wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::conflict);
  EXPECT_NE(ended.error().message.find("found epoch 2 of another writer"), std::string::npos) << ended.error().message;
  const Observation w = facts.workload("w", "lq", 1'000);
  ASSERT_TRUE((*other)->wait_until_rest());
  EXPECT_EQ(node->observe({&w, 1}), Credit::stopped);
  ASSERT_NE((*other)->observe({&w, 1}), Credit::stopped);
  ASSERT_TRUE((*other)->wait_until_rest());
  EXPECT_EQ((*other)->status().epoch, 2U);
  EXPECT_EQ((*other)->status().decisions, 1U);
}

// The append of an older writer fails because the log has grown under it. It must not take the domain back, however that falls together.
TEST_F(NodeSupervision, AWriterThatIsFencedInTheMidstOfItsWritesStaysFenced) {
  for (int round = 0; round < 20; ++round) {
    events::MemoryLog own_log;
    auto older = Node::start(own_log, options);
    ASSERT_TRUE(older);
    std::jthread writes([&] {
      while ((*older)->observe_and_wait(facts.namespace_()) && (*older)->wait_until_rest()) continue;
    });
    while ((*older)->status().observations < 20) std::this_thread::yield();
    auto newer = Node::start(own_log, options);
    ASSERT_TRUE(newer);
    const auto ended = (*older)->wait();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::conflict) << ended.error().message;
    ASSERT_TRUE((*newer)->wait_until_rest());
    EXPECT_EQ((*newer)->status().error, "");
    EXPECT_TRUE((*newer)->status().caught_up);
    EXPECT_EQ((*newer)->status().in_flight_records, 0U);
  }
}

TEST_F(NodeSupervision, ADamagedRecordStopsTheNodeAndIsNamed) {
  start();
  set_up_queue(1'000);
  rest();
  ASSERT_TRUE(node->stop());
  log.damage(3);
  start();
  const auto ended = node->wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::corrupt);
  EXPECT_NE(ended.error().message.find('3'), std::string::npos) << ended.error().message;
}

TEST_F(NodeSupervision, ANodeThatIsBusyWithFailingStillStops) {
  options.restarts_max = 1'000'000;
  options.hook = [](const admission::Message&) { throw std::runtime_error("always"); };
  start();
  set_up_queue(1'000);
  while (node->status().restarts < 3) std::this_thread::yield();
  options.stop_timeout = std::chrono::milliseconds(100);
  (void)node->stop();
  EXPECT_EQ(node->observe({}), Credit::stopped);
}

}  // namespace
}  // namespace hindsight::actors::testing

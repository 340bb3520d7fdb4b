// The way of a fact through the node: log, state, decision, log, state, intent (design rules 1, 3, 4).

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <set>
#include <thread>

#include "admission/state/snapshot.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

using NodePipeline = NodeFixture;

TEST_F(NodePipeline, DecidesWhatIsObservedAndStandsWhereTheLogStands) {
  start();
  set_up_queue(2'000);
  observe(facts.workload("w1", "lq", 1'000));
  observe(facts.workload("w2", "lq", 1'000));
  observe(facts.workload("w3", "lq", 1'000));
  rest();
  EXPECT_EQ(admitted(), 2);
  EXPECT_EQ(count_bodies<EpochStarted>(), 1U);
  EXPECT_GE(count_bodies<Decisions>(), 1U);
  expect_state_of_log();
  const auto status = node->status();
  EXPECT_TRUE(status.caught_up);
  EXPECT_TRUE(status.synced);
  EXPECT_TRUE(status.at_rest);
  EXPECT_EQ(status.epoch, 1U);
  EXPECT_EQ(status.position, records().size());
  EXPECT_EQ(status.sequence, records().size());
  EXPECT_EQ(status.in_flight_records, 0U);
  EXPECT_EQ(status.in_flight_bytes, 0U);
}

TEST_F(NodePipeline, TellsIntentsOnlyAfterTheirDecisionWasReadBack) {
  std::atomic<bool> early = false;
  std::atomic<std::uint64_t> last_read = 0;
  options.on_record = [&](const RecordView& r, events::Position) { last_read = r.envelope.sequence; };
  options.on_intents = [&](const std::vector<admission::Intent>& told) {
    for (const auto& i : told)
      if (const auto* w = std::get_if<admission::WorkloadIntent>(&i)) early = early || w->decision_sequence > last_read;
    const std::lock_guard lock(mutex);
    intents.insert(intents.end(), told.begin(), told.end());
  };
  start();
  set_up_queue(10'000);
  for (int i = 0; i < 20; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  rest();
  EXPECT_FALSE(early);
  std::set<std::string> reserved;
  for (const auto& i : intents)
    if (const auto* w = std::get_if<admission::WorkloadIntent>(&i); w != nullptr && w->has_admission) reserved.insert(w->uid);
  EXPECT_EQ(reserved.size(), 10U);
}

TEST_F(NodePipeline, DecidesNothingBeforeTheMirrorIsSynced) {
  start();
  for (const auto& o : {facts.flavor(), facts.namespace_(), facts.queue("cq", 1'000), facts.local_queue("lq", "cq")}) observe(o);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  EXPECT_EQ(count_bodies<Decisions>(), 0U);
  observe(Observation(MirrorSynced{}));
  rest();
  EXPECT_EQ(admitted(), 1);
}

TEST_F(NodePipeline, DecidesOnlyWhenItIsAllowedTo) {
  options.decide_from_start = false;
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  EXPECT_EQ(count_bodies<Decisions>(), 0U);
  node->allow_decisions();
  rest();
  EXPECT_EQ(admitted(), 1);
}

TEST_F(NodePipeline, TellsTheWishesOfTheWholeStateWhenItMayDecideFirst) {
  start();
  set_up_queue(1'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  ASSERT_TRUE(node->stop());
  intents.clear();

  options.decide_from_start = false;
  std::atomic<std::uint64_t> led = 0;
  options.on_lead = [&](std::uint64_t epoch, events::Position) { led = epoch; };
  start();
  rest();
  EXPECT_EQ(led, 2U);
  EXPECT_TRUE(intents.empty()) << "nobody may act yet";
  node->allow_decisions();
  rest();
  const std::lock_guard lock(mutex);
  const auto about_w1 = [](const admission::Intent& i) {
    const auto* w = std::get_if<admission::WorkloadIntent>(&i);
    return w != nullptr && w->name == "w1" && w->has_admission;
  };
  EXPECT_EQ(std::count_if(intents.begin(), intents.end(), about_w1), 1);
}

// Work that waits for observations is done after them, and counts as something under way.
TEST_F(NodePipeline, CallsWorkAfterWhatWasObservedBefore) {
  start();
  set_up_queue(1'000);
  for (int i = 0; i < 50; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  std::uint32_t parents = 0;
  node->call([&](admission::Entities& entities) { parents = entities.domain().parent_count(); });
  rest();
  EXPECT_EQ(parents, 50U);
}

TEST_F(NodePipeline, GoesOnWhereTheLogEndsAfterARestart) {
  start();
  set_up_queue(1'000);
  const auto w1 = facts.workload("w1", "lq", 1'000);
  observe(w1);
  observe(facts.workload("w2", "lq", 1'000));
  rest();
  const auto decisions_before = count_bodies<Decisions>();
  ASSERT_TRUE(node->stop());
  start();
  rest();
  EXPECT_EQ(count_bodies<Decisions>(), decisions_before) << "nothing is decided twice";
  EXPECT_EQ(count_bodies<EpochStarted>(), 2U);
  EXPECT_EQ(node->status().epoch, 2U);
  observe(facts.finished(w1));
  rest();
  ASSERT_TRUE(node->advance_to(*clock, clock->now() + Duration::seconds(5)));
  EXPECT_EQ(admitted(), 1);
  expect_state_of_log();
}

TEST_F(NodePipeline, FoldsOnlyWhatCameAfterTheSnapshot) {
  start();
  set_up_queue(3'000);
  for (int i = 0; i < 5; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  rest();
  std::vector<std::byte> snapshot;
  events::Position position = 0;
  std::promise<void> taken;
  node->call([&](admission::Entities& entities) {
    snapshot = admission::SnapshotCodec::write(entities);
    position = entities.domain().sequence();
    taken.set_value();
  });
  taken.get_future().wait();
  observe(facts.workload("late", "lq", 1'000));
  rest();
  ASSERT_TRUE(node->stop());

  std::atomic<events::Position> first = 0;
  options.restore = [&](admission::Entities& entities, unsigned attempt) -> Result<events::Position> {
    if (attempt == 0) return fail(ErrorKind::corrupt, "the newest snapshot is damaged");
    if (auto ok = admission::SnapshotCodec::read(snapshot, entities); !ok) return tl::unexpected(ok.error());
    return position;
  };
  options.on_record = [&](const RecordView&, events::Position at) {
    if (first == 0) first = at;
  };
  start();
  rest();
  EXPECT_EQ(first, position + 1);
  EXPECT_EQ(admitted(), 3);
  expect_state_of_log();
}

// Where the beginning was trimmed and no snapshot can be used.
TEST_F(NodePipeline, EndsWhenThereIsNothingToBeginFrom) {
  start();
  set_up_queue(2'000);
  rest();
  ASSERT_TRUE(node->stop());
  std::atomic<unsigned> asked = 0;
  options.restore = [&](admission::Entities&, unsigned attempt) -> Result<events::Position> {
    ++asked;
    if (attempt == 0) return fail(ErrorKind::corrupt, "the only snapshot is damaged");
    return fail(ErrorKind::not_found, "the beginning was trimmed");
  };
  start();
  for (int tries = 0; tries < 4000 && node->status().error.empty(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(node->status().error, "the beginning was trimmed");
  EXPECT_EQ(asked, 2U);
  EXPECT_FALSE(node->status().caught_up);
}

// Design rule 4: where nothing keeps a replaced writer from writing, what it writes does not count, in no driver, and the node goes on.
TEST_F(NodePipeline, PassesOverWhatAReplacedWriterLeavesBehind) {
  start();
  set_up_queue(4000);
  observe(facts.workload("first", "lq", 1000));
  rest();
  ASSERT_EQ(admitted(), 1);
  const auto hash = node->state_hash().value();
  const auto status = node->status();
  // The same numbers once more, and the next number of an epoch that is over.
  for (const auto& [sequence, epoch] : {std::pair{status.sequence, status.epoch}, std::pair{status.sequence + 1, status.epoch - 1}}) {
    RecordView stray{{"default", sequence, epoch, facts.now, 0}, Observation(ObjectDeleted{ObjectKind::cluster_queue, "", "cq", "cq"})};
    const auto bytes = events::encode(stray);
    log.slip_in({"default", sequence, epoch, facts.now, bytes});
  }
  observe(facts.workload("second", "lq", 1000));
  rest();
  EXPECT_NE(node->state_hash().value(), hash);
  EXPECT_EQ(admitted(), 2);
  EXPECT_EQ(node->status().error, "");
  expect_state_of_log();
}

TEST_F(NodePipeline, TimeEntersTheLogWhenItIsDue) {
  start();
  set_up_queue(1'000);
  const auto w1 = facts.workload("w1", "lq", 1'000);
  observe(w1);
  observe(facts.workload("w2", "lq", 1'000));
  rest();
  observe(facts.finished(w1));
  rest();
  EXPECT_EQ(admitted(), 0) << "what was parked is tried again a little later";
  const Time due = node->status().next_due;
  EXPECT_EQ(due, clock->now() + admission::Settings{}.reactivation_batch);
  clock->advance_to(due - Duration::millis(1));
  rest();
  EXPECT_EQ(admitted(), 0);
  const auto timers_before = count_observations<TimerFired>();
  clock->advance_to(due);
  rest();
  EXPECT_EQ(count_observations<TimerFired>(), timers_before + 1);
  EXPECT_EQ(admitted(), 1);
  EXPECT_FALSE(node->status().next_due.is_set());
}

TEST_F(NodePipeline, AFloodSlowsItsGiverNotTheMemory) {
  std::mutex gate;
  std::condition_variable opened;
  bool open = true;
  log.on_append([&](std::span<const events::EncodedRecord>) {
    std::unique_lock lock(gate);
    opened.wait(lock, [&] { return open; });
    return events::AppendFault::none;
  });
  std::atomic<int> resumed = 0;
  options.credit_records = 100;
  options.on_credit = [&] { ++resumed; };
  start();
  set_up_queue(1'000);
  rest();
  {
    const std::lock_guard lock(gate);
    open = false;
  }
  std::size_t taken = 0;
  for (Credit credit = Credit::more; credit == Credit::more; ++taken) {
    const Observation o = facts.workload("w" + std::to_string(taken), "lq", 1'000);
    credit = node->observe({&o, 1});
  }
  EXPECT_EQ(taken, 101U);
  EXPECT_FALSE(node->wait_for_credit(std::chrono::milliseconds(1)));
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(node->status().in_flight_records, taken);
  {
    const std::lock_guard lock(gate);
    open = true;
  }
  opened.notify_all();
  rest();
  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(node->wait_for_credit(std::chrono::milliseconds(0)));
  EXPECT_EQ(count_observations<WorkloadObserved>(), taken);
}

TEST_F(NodePipeline, StopWritesAndAppliesWhatWasTaken) {
  start();
  set_up_queue(1'000);
  rest();
  for (int i = 0; i < 2'000; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  const auto stopped = node->stop();
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(count_observations<WorkloadObserved>(), 2'000U);
  EXPECT_EQ(node->status().in_flight_records, 0U);
  EXPECT_EQ(node->observe({}), Credit::stopped);
  EXPECT_FALSE(node->wait_until_rest());
  EXPECT_FALSE(node->inspect([](const admission::StateView&) {}));
  EXPECT_TRUE(node->wait());
}

TEST_F(NodePipeline, ManyGiversAndReadersAtOnce) {
  start();
  set_up_queue(100'000);
  std::vector<Observation> all;
  for (int i = 0; i < 400; ++i) all.emplace_back(facts.workload("w" + std::to_string(i), "lq", 1'000));
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < all.size(); i += 4) {
        EXPECT_TRUE(node->observe_and_wait(all[i]));
        if (i % 32 == t) {
          EXPECT_TRUE(node->state_hash());
        }
      }
    });
  threads.clear();
  rest();
  EXPECT_EQ(admitted(), 100);
  expect_state_of_log();
}

TEST_F(NodePipeline, RefusesOptionsThatCannotWork) {
  options.settings_reader = nullptr;
  const auto started = Node::start(log, options);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace hindsight::actors::testing

// Several writers in one log: connectors observe, deciders decide in epochs, readers number the records (design rule 4).

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "tests/actors/node_fixture.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::actors::testing {
namespace {

class SharedLog : public NodeFixture {
 protected:
  /// `node` is the connector.
  void start_connector() {
    options.role = Role::connector;
    options.writer = "connector";
    start();
  }
  [[nodiscard]] std::unique_ptr<Node> decider(const std::string& writer) {
    NodeOptions o = options;
    o.role = Role::decider;
    o.writer = writer;
    o.on_intents = nullptr;
    auto started = Node::start(log, o);
    EXPECT_TRUE(started) << started.error().message;
    return std::move(*started);
  }
  /// Until the deciders have nothing to decide and the connector has read it all.
  void settle(Node& by) {
    rest();
    for (events::Position before = 0; before != *log.last();) {
      before = *log.last();
      while (by.status().position < before || node->status().position < before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_TRUE(by.wait_until_rest());
      rest();
    }
  }
  static bool ends_within(Node& node, std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (node.status().error.empty() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !node.status().error.empty();
  }
  [[nodiscard]] std::set<std::string> reserved() {
    const std::lock_guard lock(mutex);
    std::set<std::string> out;
    for (const auto& i : intents)
      if (const auto* w = std::get_if<admission::WorkloadIntent>(&i); w != nullptr && w->has_admission) out.insert(w->name);
    return out;
  }
};

TEST_F(SharedLog, AConnectorObservesADeciderDecidesAndTheConnectorCarriesItOut) {
  start_connector();
  const auto by = decider("first");
  set_up_queue(2'000);
  for (int i = 0; i < 3; ++i) observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
  settle(*by);
  EXPECT_EQ(admitted(), 2);
  EXPECT_EQ(reserved().size(), 2U);
  EXPECT_EQ(node->status().decisions, 0U);
  EXPECT_GE(by->status().decisions, 1U);
  EXPECT_EQ(by->state_hash().value_or(1), node->state_hash().value_or(2));
  expect_state_of_log();
  for (const auto& r : records()) {
    EXPECT_EQ(r->view().envelope.sequence, numbered_by_reader);
    EXPECT_EQ(r->view().envelope.epoch, std::holds_alternative<Observation>(r->view().body) ? 0U : 1U);
  }
  EXPECT_EQ(node->status().sequence, records().size());
}

TEST_F(SharedLog, WithoutADeciderObservationsAreKeptAndNothingIsDecided) {
  start_connector();
  set_up_queue(2'000);
  observe(facts.workload("w0", "lq", 1'000));
  rest();
  EXPECT_EQ(count_bodies<Decisions>(), 0U);
  EXPECT_TRUE(reserved().empty());
  const auto by = decider("late");
  settle(*by);
  EXPECT_EQ(reserved(), std::set<std::string>{"w0"});
}

TEST_F(SharedLog, AnotherDeciderTakesOverAndTheFirstOneEnds) {
  start_connector();
  const auto first = decider("first");
  set_up_queue(2'000);
  observe(facts.workload("w0", "lq", 1'000));
  settle(*first);
  const auto second = decider("second");
  ASSERT_TRUE(ends_within(*first, std::chrono::seconds(20)));
  EXPECT_NE(first->status().error.find("found epoch 2 of another writer"), std::string::npos) << first->status().error;
  observe(facts.workload("w1", "lq", 1'000));
  settle(*second);
  EXPECT_EQ(second->status().epoch, 2U);
  EXPECT_EQ(reserved(), (std::set<std::string>{"w0", "w1"}));
  expect_state_of_log();
}

/// Waits until it has read the log to this position while another decides.
bool follows_to(Node& node, events::Position position) {
  for (int i = 0; i < 20'000; ++i) {
    const auto s = node.status();
    if (s.standing_by && s.position >= position) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_F(SharedLog, OneThatStandsByFollowsAndTakesTheDomainWhenItIsTold) {
  start_connector();
  const auto first = decider("first");
  options.claim_from_start = false;
  std::atomic<int> restored = 0;
  options.restore = [&](admission::Entities&, unsigned) -> Result<events::Position> {
    ++restored;
    return events::Position{0};
  };
  const auto second = decider("second");
  set_up_queue(2'000);
  observe(facts.workload("w0", "lq", 1'000));
  settle(*first);
  ASSERT_TRUE(follows_to(*second, *log.last()));
  EXPECT_EQ(second->status().epochs_begun, 0U);
  EXPECT_FALSE(second->status().caught_up);
  EXPECT_EQ(second->status().epoch, 1U) << "the other's";
  EXPECT_EQ(second->state_hash().value_or(1), first->state_hash().value_or(2));

  second->claim();
  ASSERT_TRUE(ends_within(*first, std::chrono::seconds(20)));
  observe(facts.workload("w1", "lq", 1'000));
  settle(*second);
  EXPECT_EQ(second->status().epoch, 2U);
  EXPECT_FALSE(second->status().standing_by);
  EXPECT_EQ(reserved(), (std::set<std::string>{"w0", "w1"}));
  EXPECT_EQ(restored, 1) << "it went on from where it was";
  second->claim();
  observe(facts.workload("w2", "lq", 1'000));
  settle(*second);
  EXPECT_EQ(second->status().epochs_begun, 1U);
  expect_state_of_log();
}

// Told before it has read anything: it claims when it has.
TEST_F(SharedLog, OneThatIsToldAtOnceStandsByNoLonger) {
  start_connector();
  set_up_queue(2'000);
  options.claim_from_start = false;
  const auto only = decider("only");
  only->claim();
  observe(facts.workload("w0", "lq", 1'000));
  settle(*only);
  EXPECT_EQ(reserved(), std::set<std::string>{"w0"});
}

// A paused process that wakes up writes what it had decided: nobody takes it for a decision.
TEST_F(SharedLog, DecisionsOfAReplacedDeciderAreLeftAside) {
  start_connector();
  auto first = decider("first");
  set_up_queue(1'000);
  observe(facts.workload("w0", "lq", 1'000));
  settle(*first);
  std::vector<std::byte> old_decision;
  events::RecordBatch batch;
  ASSERT_TRUE(log.read(1, {}, batch));
  for (const auto& stored : batch) {
    const auto record = *events::decode(stored.bytes);
    if (std::holds_alternative<Decisions>(record->view().body)) old_decision.assign(stored.bytes.begin(), stored.bytes.end());
  }
  ASSERT_FALSE(old_decision.empty());
  ASSERT_TRUE(first->stop());
  first.reset();
  const auto second = decider("second");
  settle(*second);
  const auto sequence = node->status().sequence;
  const auto hash = node->state_hash().value_or(0);
  const auto position = *log.last();
  log.slip_in({"default", numbered_by_reader, 1, facts.now, old_decision});
  while (node->status().position <= position || second->status().position <= position)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(node->status().sequence, sequence);
  EXPECT_EQ(node->status().stale_decisions, 1U);
  EXPECT_EQ(node->state_hash().value_or(1), hash);
  EXPECT_EQ(second->state_hash().value_or(1), hash);
  EXPECT_TRUE(second->status().error.empty());
  EXPECT_EQ(replayed_hash(), hash);
}

// Whoever of them begins an epoch first has it; at no time do two decide in the same one.
TEST_F(SharedLog, DecidersThatStartAtTheSameMomentDoNotShareAnEpoch) {
  start_connector();
  set_up_queue(5'000);
  for (int round = 0; round < 20; ++round) {
    std::array<std::unique_ptr<Node>, 3> all;
    {
      std::vector<std::jthread> starts;
      for (std::size_t i = 0; i < all.size(); ++i)
        starts.emplace_back([&, i] { all[i] = decider("n" + std::to_string(round) + "-" + std::to_string(i)); });
    }
    observe(facts.workload("w" + std::to_string(round), "lq", 1'000));
    const auto running = [&] { return std::count_if(all.begin(), all.end(), [](const auto& n) { return n->status().error.empty(); }); };
    while (running() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const auto& n : all)
      if (n->status().error.empty()) settle(*n);
    ASSERT_EQ(running(), 1);
  }
  EXPECT_EQ(admitted(), 5);
  expect_state_of_log();
  std::map<std::uint64_t, std::size_t> begun;
  for (const auto& r : records())
    if (std::holds_alternative<EpochStarted>(r->view().body)) ++begun[r->view().envelope.epoch];
  EXPECT_GE(begun.size(), 20U);
}

// An append of which nobody knows whether it arrived: the connector says it again, the decider begins anew.
TEST_F(SharedLog, FailedAppendsLoseNothing) {
  start_connector();
  const auto by = decider("first");
  std::atomic<int> appends = 0;
  log.on_append([&](std::span<const events::EncodedRecord>) {
    constexpr std::array faults{events::AppendFault::refused, events::AppendFault::possibly_persisted, events::AppendFault::torn};
    const int n = appends++;
    return n % 4 == 1 ? faults[static_cast<std::size_t>(n / 4) % faults.size()] : events::AppendFault::none;
  });
  set_up_queue(20'000);
  for (int i = 0; i < 40; ++i) {
    observe(facts.workload("w" + std::to_string(i), "lq", 1'000));
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  settle(*by);
  log.on_append({});
  settle(*by);
  EXPECT_EQ(admitted(), 20);
  EXPECT_EQ(reserved().size(), 20U);
  EXPECT_TRUE(by->status().error.empty()) << by->status().error;
  EXPECT_TRUE(node->status().error.empty()) << node->status().error;
  expect_state_of_log();
}

// A decider that comes back from a snapshot counts on where it stood.
TEST_F(SharedLog, ARestartedConnectorGoesOn) {
  start_connector();
  const auto by = decider("first");
  set_up_queue(3'000);
  observe(facts.workload("w0", "lq", 1'000));
  settle(*by);
  ASSERT_TRUE(node->stop());
  node.reset();
  start_connector();
  observe(facts.workload("w1", "lq", 1'000));
  settle(*by);
  EXPECT_EQ(reserved(), (std::set<std::string>{"w0", "w1"}));
  EXPECT_EQ(by->status().epoch, 1U) << "connectors come and go without the deciders";
  expect_state_of_log();
}

}  // namespace
}  // namespace hindsight::actors::testing

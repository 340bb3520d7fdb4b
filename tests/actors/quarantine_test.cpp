// Records that no entity can take: the node gives up with a message that says how to go on, and goes on when that was done. Circles: a node
// rests on a log that holds one, and says so.

#include <algorithm>
#include <string>

#include "events/json.hpp"
#include "replay/quarantine.hpp"
#include "replay/verify.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

class NodeQuarantine : public NodeFixture {
 protected:
  void SetUp() override {
    options.restarts_max = 2;
    options.settings_reader = [](Text json) -> Result<admission::Settings> {
      if (json.find("poison") != Text::npos) throw std::runtime_error("a rule that nobody thought of");
      return admission::Settings{};
    };
    options.quarantine_command = [](std::string_view name, events::Position record) {
      return "the command for " + std::to_string(record) + " of " + std::string(name);
    };
  }
  /// Runs a day of a node that ends with a record that makes an entity throw. Returns where that record is.
  events::Position poison() {
    start();
    set_up_queue(3'000);
    observe(facts.workload("w1", "lq", 1'000));
    rest();
    EXPECT_EQ(admitted(), 1);
    const Observation poison = ConfigurationObserved{R"({"poison": true})"};
    (void)node->observe({&poison, 1});
    EXPECT_FALSE(node->wait());
    return last_of<ConfigurationObserved>();
  }
  template <class Kind>
  events::Position last_of() {
    const auto all = records();
    for (std::size_t i = all.size(); i-- > 0;) {
      const auto* o = std::get_if<Observation>(&all[i]->view().body);
      if (o != nullptr && std::holds_alternative<Kind>(*o)) return i + 1;
    }
    return 0;
  }
  Result<replay::QuarantineReport> set_aside(events::Position record, bool force = false) {
    return replay::quarantine(
        log, {.record = record, .writer = "somebody", .release = "1.0", .reason = "a test", .now = facts.now, .force = force});
  }
  /// The state of the node is that of the log, as everybody else reads it.
  void expect_verified() {
    const auto hash = node->state_hash();
    ASSERT_TRUE(hash) << hash.error().message;
    const auto report = replay::verify(log, "default");
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->clean());
    EXPECT_EQ(report->state_hash, *hash);
  }
};

TEST_F(NodeQuarantine, ARecordThatThrowsEndsTheNodeWithTheWayOut) {
  const auto record = poison();
  ASSERT_NE(record, 0U);
  const std::string way_out = "the command for " + std::to_string(record) + " of memory";
  for (int life = 0; life < 3; ++life) {
    const auto ended = node->wait();
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message.find("it failed at record " + std::to_string(record)), std::string::npos) << ended.error().message;
    EXPECT_NE(ended.error().message.find("a rule that nobody thought of"), std::string::npos) << ended.error().message;
    EXPECT_TRUE(ended.error().message.ends_with(way_out)) << ended.error().message;
    const auto last = log.last().value();
    node.reset();
    start();  // the same again: the log keeps the record
    EXPECT_FALSE(node->wait());
    EXPECT_EQ(log.last().value(), last) << "and does not grow with each attempt";
  }
  node.reset();

  const auto report = set_aside(record);
  ASSERT_TRUE(report) << report.error().message;
  start();
  observe(facts.workload("w2", "lq", 1'000));
  rest();
  EXPECT_EQ(admitted(), 2);
  expect_verified();
  node.reset();
  start();  // and again from the log
  rest();
  EXPECT_EQ(admitted(), 2);
  expect_verified();
}

TEST_F(NodeQuarantine, ARecordThatNobodyCanReadEndsTheNodeWithTheWayOut) {
  start();
  set_up_queue(3'000);
  rest();
  ASSERT_TRUE(node->stop());
  node.reset();
  const auto tail = log.domains().value().at(0);
  const std::string rubbish = "this is no record at all";
  log.slip_in({"default", tail.sequence + 1, tail.epoch, facts.now, std::as_bytes(std::span(rubbish))});
  const auto record = log.last().value();
  start();
  const auto ended = node->wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::corrupt);
  EXPECT_NE(ended.error().message.find("record " + std::to_string(record)), std::string::npos) << ended.error().message;
  EXPECT_NE(ended.error().message.find("the command for " + std::to_string(record)), std::string::npos) << ended.error().message;
  node.reset();

  ASSERT_TRUE(set_aside(record));
  start();
  observe(facts.workload("w", "lq", 1'000));
  rest();
  EXPECT_EQ(admitted(), 1);
  expect_verified();
}

/// Somebody else set a record aside that this node has folded: it builds its state again, as whoever starts now does.
TEST_F(NodeQuarantine, ANodeThatFoldedTheRecordBuildsItsStateAgain) {
  start();
  set_up_queue(3'000);
  observe(facts.workload("w1", "lq", 1'000));
  rest();
  const auto record = last_of<WorkloadObserved>();
  ASSERT_TRUE(node->stop());
  node.reset();
  // The node is at its end of the log, and the record that says so comes while it runs.
  start();
  rest();
  EXPECT_EQ(admitted(), 1);
  const auto report = set_aside(record, true);
  ASSERT_TRUE(report) << report.error().message;
  observe(facts.workload("w2", "lq", 1'000));
  rest();
  EXPECT_EQ(admitted(), 1) << "w2 alone";
  bool known = true;
  ASSERT_TRUE(node->inspect([&](const admission::StateView& view) { known = view.domain().find_parent("uid-w1").has_value(); }));
  EXPECT_FALSE(known);
  const auto hash = node->state_hash();
  ASSERT_TRUE(hash);
  EXPECT_EQ(replay::verify(log, "default").value().state_hash, *hash);
}

TEST_F(NodeQuarantine, ANodeRestsOnALogThatHoldsACircleAndSaysSo) {
  start();
  set_up_queue(3'000);
  auto gated = facts.workload("gated", "lq", 1'000);
  gated.admission_gated_by = "a.io/x";
  observe(gated);
  rest();
  ASSERT_TRUE(node->stop());
  node.reset();
  // Three steps as builds record them that see it in two ways, each the answer to the one before.
  const auto plant = [&](std::string_view message) {
    const auto tail = log.domains().value().at(0);
    RecordView planted;
    planted.envelope = {"default", tail.sequence + 1, tail.epoch, facts.now, tail.sequence};
    const std::vector<Event> events{ConditionChanged{
        {"uid-gated", "default", "gated"}, ConditionType::quota_reserved, ConditionStatus::false_, "AdmissionGated", message, false}};
    planted.body = Decisions{tail.sequence, StepKind::life_cycle, events};
    const auto bytes = events::encode(planted);
    log.slip_in({"default", planted.envelope.sequence, tail.epoch, facts.now, bytes});
  };
  for (const auto* message : {"another opinion", "Admission is gated by: a.io/x", "another opinion"}) plant(message);
  const auto before = log.last().value();

  start();
  rest();
  std::string all;
  for (const auto& r : records()) all += events::to_text(r->view()) + "\n";
  EXPECT_EQ(log.last().value(), before + 1) << "its epoch, and nothing else\n" << all;
  EXPECT_GE(node->status().repeated_steps, 1U);
  {
    const std::lock_guard lock(mutex);
    const auto told = std::count_if(notices.begin(), notices.end(), [](const std::string& text) {
      return text.find("gated") != std::string::npos && text.find("would decide again what it has decided before") != std::string::npos;
    });
    EXPECT_EQ(told, 1) << "once for this Workload";
  }
  observe(facts.workload("other", "lq", 1'000));
  rest();
  EXPECT_EQ(admitted(), 1);
  expect_state_of_log();
}

}  // namespace
}  // namespace hindsight::actors::testing

// Messages that say why a Workload waits: written now and then, the newest of them, and with everything else at once. No cluster and no
// clock but those of the test.

#include <memory>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::admission_of;
using test::asks_nothing;
using test::BridgeTest;

/// What each cycle tells anew.
admission::WorkloadIntent lacks(const std::string& name, const std::string& message) {
  auto out = test::status_of(name, message);
  out.conditions[0].reason = "WaitingForQuota";
  return out;
}

/// Ten seconds between two messages, on a clock that the test moves.
class PostponedMessages : public BridgeTest {
 protected:
  explicit PostponedMessages(Duration interval = Duration::seconds(10)) : PostponedMessages(interval, std::make_shared<Time>()) {}

  void at(std::int64_t second) { *clock_ = Time::from_seconds(second); }
  /// Without a look at what waits for a retry.
  void milliseconds_pass(int n) {
    *clock_ = *clock_ + Duration::millis(n);
    bridge_.write_postponed();
  }
  void seconds_pass(int n) {
    for (int i = 0; i < n; ++i) {
      *clock_ = *clock_ + Duration::seconds(1);
      bridge_.retry();
    }
  }
  /// The API server takes the oldest write, and the watch shows what it made. Returns the message that the status has now.
  std::string take() {
    if (sent_.empty()) return "nothing was written";
    const Write write = sent_.front().write;
    const auto object = written(write);
    answer(200, object);
    change(types::workload, object);
    return message_in(write);
  }
  static std::string message_in(const Write& write) {
    const auto body = Json::parse(write.body);
    return body.at("status").at("conditions").at(0).at("message").get<std::string>();
  }
  /// A Workload that was made, and told for the first time why it waits.
  void waits_with(const std::string& name, const std::string& message) {
    objects_[name] = Json::parse(workload(name, std::to_string(++version_), asks_nothing));
    add(types::workload, objects_[name].dump());
    bridge_.want({lacks(name, message)});
    bridge_.write_postponed(true);
    ASSERT_EQ(sent_.size(), 1U);
    ASSERT_EQ(take(), message);
    ASSERT_TRUE(sent_.empty());
  }
  [[nodiscard]] std::string written(const Write& write) {
    auto& object = objects_[write.name];
    auto body = Json::parse(write.body);
    body.erase("metadata");
    object.merge_patch(body);
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    return object.dump();
  }

  std::map<std::string, Json> objects_;
  int version_ = 0;

 private:
  PostponedMessages(Duration interval, std::shared_ptr<Time> clock) : BridgeTest(options_of(interval, clock)), clock_(std::move(clock)) {
    at(1000);
  }
  static BridgeOptions options_of(Duration interval, const std::shared_ptr<Time>& clock) {
    BridgeOptions out;
    out.message_interval = interval;
    out.now = [clock] { return *clock; };
    return out;
  }

  std::shared_ptr<Time> clock_;
};

class MessagesAsTheyCome : public PostponedMessages {
 protected:
  MessagesAsTheyCome() : PostponedMessages(Duration{0}) {}
};

// BA-84, BA-93: of a flood of messages one is written in each interval, and the last one in the end.
TEST_F(PostponedMessages, AFloodOfThemIsOneWriteInEachInterval) {
  waits_with("a", "lacks 0");
  std::vector<std::string> shown;
  for (int second = 0; second < 60; ++second) {
    for (int i = 0; i < 10; ++i) bridge_.want({lacks("a", "lacks " + std::to_string(1 + second * 10 + i))});
    while (!sent_.empty()) shown.push_back(take());
    seconds_pass(1);
    while (!sent_.empty()) shown.push_back(take());
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"lacks 100", "lacks 200", "lacks 300", "lacks 400", "lacks 500", "lacks 600"}));
  EXPECT_EQ(bridge_.outstanding(), 0U);
  EXPECT_EQ(bridge_.postponed(), 0U);
  seconds_pass(60);
  EXPECT_TRUE(sent_.empty());

  bridge_.want({lacks("a", "lacks 1000")});
  EXPECT_EQ(take(), "lacks 1000") << "long after the last write the next one goes at once";
}

// BA-84, BA-93: no message is older than the interval, whether others follow it or not.
TEST_F(PostponedMessages, TheLastOfThemComesWhenTheIntervalHasPassed) {
  waits_with("a", "lacks 3");
  seconds_pass(4);
  bridge_.want({lacks("a", "lacks 5")});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.postponed(), 1U);
  EXPECT_EQ(bridge_.next_postponed(), Time::from_seconds(1010));
  EXPECT_EQ(bridge_.outstanding(), 0U) << "whoever waits until all is written does not wait for this";
  seconds_pass(5);
  EXPECT_TRUE(sent_.empty());
  seconds_pass(1);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "lacks 5");
  EXPECT_FALSE(bridge_.next_postponed().is_set());
}

TEST_F(PostponedMessages, AMessageThatIsTrueAgainIsNotWritten) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  bridge_.want({lacks("a", "lacks 3")});
  seconds_pass(20);
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.postponed(), 0U);
}

// BA-84, BA-93: everything else is news, and takes the newest message with it.
TEST_F(PostponedMessages, AnotherReasonIsWrittenAtOnceWithTheNewestMessage) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_TRUE(sent_.empty());
  auto other = lacks("a", "no such queue");
  other.conditions[0].reason = "Misconfigured";
  bridge_.want({other});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "no such queue");
  EXPECT_EQ(bridge_.postponed(), 0U);
  seconds_pass(20);
  EXPECT_TRUE(sent_.empty());
}

// Only what cycles say is postponed: what somebody did about a gate, a queue or a setting shows at once.
TEST_F(PostponedMessages, WhatSomebodyDidIsWrittenAtOnce) {
  waits_with("a", "lacks 3");
  for (const std::string reason : {"AdmissionGated", "Misconfigured", "Suspended", "PendingEvaluation", "Pending", "ExceedsMaxQuota"}) {
    for (const std::string said : {"by 1 and 2", "by 1"}) {
      auto gated = lacks("a", reason + " " + said);
      gated.conditions[0].reason = reason;
      bridge_.want({gated});
      EXPECT_EQ(take(), reason + " " + said);
      EXPECT_TRUE(sent_.empty());
    }
  }
  for (const std::string reason : {"WaitingForPreemptedWorkloads", "TopologyPlacementFailed"}) {
    auto tried = lacks("a", "first");
    tried.conditions[0].reason = reason;
    bridge_.want({tried});
    EXPECT_EQ(take(), "first") << "another reason";
    tried.conditions[0].message = "second";
    bridge_.want({tried});
    EXPECT_TRUE(sent_.empty()) << reason;
    seconds_pass(10);
    EXPECT_EQ(take(), "second");
  }
}

TEST_F(PostponedMessages, AConditionMoreOrAnotherMomentIsWrittenAtOnce) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_TRUE(sent_.empty());
  auto more = lacks("a", "lacks 6");
  more.conditions.push_back({ConditionType::evicted, ConditionStatus::true_, "Preempted", "by b", Time::from_seconds(900)});
  bridge_.want({more});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "lacks 6");

  more.conditions[1].message = "by c";
  bridge_.want({more});
  ASSERT_EQ(sent_.size(), 1U) << "what a condition says that is true is news";
  take();

  more.conditions[0].message = "lacks 7";
  bridge_.want({more});
  ASSERT_TRUE(sent_.empty());
  more.conditions[0].last_transition = Time::from_seconds(990);
  bridge_.want({more});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "lacks 7");
}

// BA-84: an old message never comes after the admission.
TEST_F(PostponedMessages, WhatIsAdmittedShowsNoOldMessageLater) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_TRUE(sent_.empty());
  bridge_.want({admission_of("a")});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["status"]["conditions"][0]["status"], "True");
  bridge_.retry();
  take();
  EXPECT_EQ(bridge_.postponed(), 0U);
  seconds_pass(30);
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(objects_["a"]["status"]["conditions"][0]["message"], "");
}

TEST_F(PostponedMessages, AMessageThatWaitsBehindAWriteUnderWayIsPostponedAsWell) {
  waits_with("a", "lacks 3");
  seconds_pass(10);
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_EQ(sent_.size(), 1U);
  bridge_.want({lacks("a", "lacks 6")});
  EXPECT_EQ(take(), "lacks 5");
  EXPECT_TRUE(sent_.empty());
  seconds_pass(10);
  EXPECT_EQ(take(), "lacks 6");
}

// A write that was not taken told nobody anything.
TEST_F(PostponedMessages, AConflictPostponesNothing) {
  waits_with("a", "lacks 3");
  seconds_pass(10);
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_EQ(sent_.size(), 1U);
  answer(409);
  objects_["a"]["metadata"]["resourceVersion"] = std::to_string(++version_);
  change(types::workload, objects_["a"].dump());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "lacks 5");
}

// What others do to the object is looked at, although the message has time.
TEST_F(PostponedMessages, WhatSomebodyElseTakesAwayIsPutBackAtOnce) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_TRUE(sent_.empty());
  auto changed = objects_["a"];
  changed["metadata"]["labels"]["x"] = "y";
  changed["metadata"]["resourceVersion"] = std::to_string(++version_);
  objects_["a"] = changed;
  change(types::workload, changed.dump());
  EXPECT_TRUE(sent_.empty()) << "no part of the status";
  EXPECT_EQ(bridge_.postponed(), 1U);

  changed["status"].erase("conditions");
  changed["metadata"]["resourceVersion"] = std::to_string(++version_);
  objects_["a"] = changed;
  change(types::workload, changed.dump());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(take(), "lacks 5");
}

TEST_F(PostponedMessages, TheEndOfTheWorkloadDropsIt) {
  const auto before = bridge_.entries();
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_EQ(bridge_.postponed(), 1U);
  remove(types::workload, objects_["a"].dump());
  EXPECT_EQ(bridge_.postponed(), 0U);
  EXPECT_EQ(bridge_.entries(), before);
  seconds_pass(20);
  EXPECT_TRUE(sent_.empty());
}

TEST_F(PostponedMessages, AnotherDomainBeginsAnew) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_EQ(bridge_.postponed(), 1U);
  bridge_.forget("uid-a");
  EXPECT_EQ(bridge_.postponed(), 0U);
  seconds_pass(20);
  EXPECT_TRUE(sent_.empty()) << "the other one has not said what it wants";
  bridge_.want({lacks("a", "lacks 7")});
  EXPECT_EQ(take(), "lacks 7");
}

/// Keeps the writes of a bridge that takes over.
struct TakenWrites final : Cluster {
  void submit(Write write, std::function<void(WriteAnswer)>) override { writes.push_back(std::move(write)); }
  std::vector<Write> writes;
};

// BA-84, BA-93: what was postponed is in the log, and whoever takes over compares it with the object and writes it.
TEST_F(PostponedMessages, ARestartWritesWhatWasPostponed) {
  waits_with("a", "lacks 3");
  bridge_.want({lacks("a", "lacks 5")});
  ASSERT_EQ(bridge_.postponed(), 1U);
  TakenWrites next;
  BridgeOptions options;
  options.message_interval = Duration::seconds(10);
  options.now = [] { return Time::from_seconds(5); };  // its clock says nothing about ours
  Bridge other(
      next, mirror_, [](const Observation&) {}, options);
  other.want({lacks("a", "lacks 5")});
  ASSERT_EQ(next.writes.size(), 1U);
  EXPECT_EQ(message_in(next.writes[0]), "lacks 5");
}

// What is remembered is bounded by the Workloads that wait, and goes when the interval has passed.
TEST_F(PostponedMessages, WhatIsRememberedIsBoundedByTheWorkloads) {
  constexpr int workloads = 200;
  std::size_t settled = 0;
  for (int i = 0; i < workloads; ++i) waits_with("w" + std::to_string(i), "lacks 0");
  for (int round = 1; round <= 50; ++round)
    for (int i = 0; i < workloads; ++i) bridge_.want({lacks("w" + std::to_string(i), "lacks " + std::to_string(round))});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.postponed(), std::size_t{workloads});
  // A Workload: the want and its uid, its place among the postponed and when it was written, its version of ours, and what is pending.
  EXPECT_LE(bridge_.entries(), std::size_t{workloads} * 7);
  seconds_pass(10);
  std::size_t writes = 0;
  for (; !sent_.empty(); ++writes) EXPECT_EQ(take(), "lacks 50");
  EXPECT_EQ(writes, std::size_t{workloads});
  seconds_pass(10);
  settled = bridge_.entries();
  EXPECT_EQ(bridge_.postponed(), 0U);
  EXPECT_LE(settled, std::size_t{workloads} * 4) << "nothing of messages is left";
  for (int i = 0; i < workloads; ++i) remove(types::workload, objects_["w" + std::to_string(i)].dump());
  EXPECT_EQ(bridge_.entries(), 0U);
}

// A message whose time has come gives way to writes that let work go on, as every report does, and is the newest when its turn comes.
TEST_F(PostponedMessages, WhenItsTimeHasComeItWaitsForItsTurn) {
  waits_with("a", "lacks 3");
  waits_with("b", "lacks 3");
  waits_with("c", "lacks 3");
  bridge_.want({lacks("a", "lacks 4"), lacks("b", "lacks 4"), lacks("c", "lacks 4")});
  ASSERT_EQ(bridge_.postponed(), 3U);
  seconds_pass(10);
  EXPECT_EQ(sent_.size(), 2U) << "two at a time";
  bridge_.want({lacks("c", "lacks 5")});
  EXPECT_EQ(take(), "lacks 4");
  EXPECT_EQ(take(), "lacks 4");
  EXPECT_EQ(take(), "lacks 5");
  EXPECT_TRUE(sent_.empty());
}

TEST_F(PostponedMessages, AllOfThemAreWrittenWhereNobodyWaitsAnyLonger) {
  waits_with("a", "lacks 3");
  waits_with("b", "lacks 3");
  bridge_.want({lacks("a", "lacks 4"), lacks("b", "lacks 5")});
  ASSERT_TRUE(sent_.empty());
  bridge_.write_postponed();
  EXPECT_TRUE(sent_.empty());
  bridge_.write_postponed(true);
  EXPECT_EQ(take(), "lacks 4");
  EXPECT_EQ(take(), "lacks 5");
  EXPECT_EQ(bridge_.postponed(), 0U);
}

// BA-84: the first status of a Workload that is admitted at once is its admission.
TEST_F(PostponedMessages, AnAdmissionThatComesAtOnceIsOneWriteWithTheFirstStatus) {
  objects_["a"] = Json::parse(workload("a", std::to_string(++version_), asks_nothing));
  add(types::workload, objects_["a"].dump());
  bridge_.want({lacks("a", "waits to start")});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  milliseconds_pass(99);
  EXPECT_TRUE(sent_.empty());
  bridge_.want({admission_of("a")});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_NE(sent_[0].write.body.find("QuotaReserved"), std::string::npos);
  EXPECT_NE(sent_[0].write.body.find("\"cq\""), std::string::npos) << sent_[0].write.body;
  take();
  seconds_pass(60);
  EXPECT_TRUE(sent_.empty());
}

// What is wanted meanwhile does not put it off: it comes when its time has come, and says the newest.
TEST_F(PostponedMessages, TheFirstStatusComesInTimeWhateverFollows) {
  objects_["a"] = Json::parse(workload("a", std::to_string(++version_), asks_nothing));
  add(types::workload, objects_["a"].dump());
  bridge_.want({lacks("a", "lacks 0")});
  for (int i = 1; i < 10; ++i) {
    milliseconds_pass(10);
    auto intent = lacks("a", "lacks " + std::to_string(i));
    intent.conditions[0].reason = i % 2 != 0 ? "WaitingForQuota" : "Misconfigured";
    bridge_.want({intent});
    EXPECT_TRUE(sent_.empty()) << i;
  }
  milliseconds_pass(10);
  EXPECT_EQ(take(), "lacks 9");
  EXPECT_EQ(bridge_.postponed(), 0U);
}

// hindsight.messageInterval: 0s, as Kueue
TEST_F(MessagesAsTheyCome, EachOfThemIsWritten) {
  waits_with("a", "lacks 0");
  for (int i = 1; i <= 5; ++i) {
    bridge_.want({lacks("a", "lacks " + std::to_string(i))});
    EXPECT_EQ(take(), "lacks " + std::to_string(i));
  }
  EXPECT_EQ(bridge_.postponed(), 0U);
}

// What a Parent says of its Options is postponed as long as they wait; that one of them has done something is news.
TEST_F(PostponedMessages, AnOptionThatStillWaitsIsNoNews) {
  objects_["a"] = Json::parse(workload("a", "1", asks_nothing));
  objects_["a"]["metadata"]["resourceVersion"] = std::to_string(++version_);
  add(types::workload, objects_["a"].dump());
  auto parent = lacks("a", "its Options wait");
  parent.options = {{"a-1", {"f"}, OptionPhase::pending, "lacks 1", Time::from_seconds(1)},
                    {"a-2", {"g"}, OptionPhase::pending, "lacks 2", Time::from_seconds(1)}};
  bridge_.want({parent});
  milliseconds_pass(100);
  take();
  ASSERT_TRUE(sent_.empty());
  parent.options[1].message = "lacks 3";
  bridge_.want({parent});
  EXPECT_TRUE(sent_.empty());
  parent.options[0].phase = OptionPhase::deactivated;
  bridge_.want({parent});
  ASSERT_EQ(sent_.size(), 1U);
  const auto options = Json::parse(sent_[0].write.body)["status"]["options"];
  EXPECT_EQ(options[1]["message"], "lacks 3");
}

TEST(OnlyRewords, AreWritesOfMessagesAlone) {
  const Json shown = Json::parse(R"({"status":{"conditions":[
      {"type":"QuotaReserved","status":"False","reason":"WaitingForQuota","message":"m"},
      {"type":"Evicted","status":"True","reason":"Preempted","message":"e"},
      {"type":"Admitted","status":"False","reason":"NoReservation","message":"a"}],
      "options":[{"name":"o","state":"Pending","message":"lacks 3 cpu"}]}})");
  Write write;
  write.subresource = "status";
  const auto judge = [&](Json status) {
    write.body = Json{{"metadata", {{"resourceVersion", "1"}}}, {"status", std::move(status)}}.dump();
    return only_rewords(write, shown);
  };
  const auto conditions_with = [&](std::size_t which, const char* key, const char* value) {
    Json out = shown["status"]["conditions"];
    out[0]["message"] = "n";
    out[which][key] = value;
    return Json{{"conditions", std::move(out)}};
  };
  EXPECT_TRUE(judge(conditions_with(0, "message", "n")));
  EXPECT_FALSE(judge(conditions_with(0, "reason", "TopologyPlacementFailed")));
  EXPECT_FALSE(judge(conditions_with(0, "status", "True")));
  EXPECT_FALSE(judge(conditions_with(0, "lastTransitionTime", "2026-01-01T00:00:00Z")));
  EXPECT_FALSE(judge(conditions_with(1, "message", "f")));
  EXPECT_FALSE(judge(conditions_with(2, "message", "b"))) << "no cycle says that";
  auto fewer = conditions_with(0, "message", "n");
  fewer["conditions"].erase(2);
  EXPECT_FALSE(judge(fewer));
  auto admits = conditions_with(0, "message", "n");
  admits["admission"] = nullptr;
  EXPECT_FALSE(judge(admits));

  const auto option = [](const char* state, const char* message) {
    Json list = Json::array();
    list.push_back({{"name", "o"}, {"state", state}, {"message", message}});
    return Json{{"options", std::move(list)}};
  };
  EXPECT_TRUE(judge(option("Pending", "lacks 1500m cpu")));
  for (const char* other : {"lacks 3 memory", "lacks cpu", "lacks 3 cpu more", "lacks", "", "lacks  3 cpu"})
    EXPECT_FALSE(judge(option("Pending", other))) << other;
  EXPECT_FALSE(judge(option("Admitted", "lacks 3 cpu")));
  EXPECT_FALSE(judge(option("Admitted", "lacks 4 cpu")));
  EXPECT_FALSE(judge(Json{{"options", nullptr}}));
  EXPECT_FALSE(judge(Json::object()));
  EXPECT_FALSE(judge(Json("text")));

  ASSERT_TRUE(judge(conditions_with(0, "message", "n")));
  EXPECT_FALSE(only_rewords(write, Json::object())) << "there is nothing that it would reword";
  EXPECT_FALSE(only_rewords(write, Json::parse(R"({"status":{"conditions":[1,2,3]}})")));
  write.subresource = "";
  EXPECT_FALSE(only_rewords(write, shown));
}

}  // namespace
}  // namespace hindsight::connectors

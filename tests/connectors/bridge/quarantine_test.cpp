// One object about which something fails is set aside, is told once, and stops no other: whatever it holds, and whether it is read, planned
// or written.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "connectors/bridge/absent_objects.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "connectors/json/json_value.hpp"

namespace hindsight::connectors {
namespace {

using Lines = std::vector<std::string>;

/// Throws once, when the plan for this object is made. Or makes texts anew for who looks them up, as the mirror of a cluster does with long
/// ones.
class TroubledMirror final : public Mirror {
 public:
  MemoryMirror mirror;
  mutable std::string trouble;
  bool makes_anew = false;

  [[nodiscard]] ObjectText find(const ResourceType& type, std::string_view namespace_, std::string_view name) const override {
    return given(mirror.find(type, namespace_, name));
  }
  [[nodiscard]] ObjectText find_by_uid(std::string_view uid) const override {
    if (!trouble.empty() && uid == trouble) {
      trouble.clear();
      throw std::runtime_error("half of \xE4\xBD");
    }
    return given(mirror.find_by_uid(uid));
  }
  void offer(const ResourceType& type, std::string object) override { mirror.offer(type, std::move(object)); }

 private:
  [[nodiscard]] ObjectText given(ObjectText text) const {
    return makes_anew && text != nullptr ? std::make_shared<const std::string>(*text) : text;
  }
};

class BridgeQuarantine : public ::testing::Test, private Cluster {
 protected:
  struct Sent {
    Write write;
    std::function<void(WriteAnswer)> done;
  };
  void tell(WatchEvent::Type kind, const ResourceType& type, const std::string& object) {
    const WatchEvent event{kind, &type, object};
    mirror_.mirror.on_watch(event);
    bridge_.on_watch(event);
  }
  void add(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::added, type, object); }
  void change(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::modified, type, object); }
  void remove(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::deleted, type, object); }

  static Json job(int version, std::string_view name = "j") {
    return Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","labels":{"kueue.x-k8s.io/queue-name":"lq"}},
      "spec":{"suspend":false,"parallelism":1,"template":{"spec":{"containers":[{"name":"c"}]}}},"status":{"active":1}})")
        .patch(Json::array({{{"op", "add"}, {"path", "/metadata/name"}, {"value", name}},
                            {{"op", "add"}, {"path", "/metadata/uid"}, {"value", "uid-" + std::string(name)}},
                            {{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", std::to_string(version)}}}));
  }
  static Json unreadable(int version) {
    auto out = job(version);
    out["spec"]["parallelism"] = "many";
    return out;
  }
  static Json workload(int version) {
    return Json::parse(
        R"({"metadata":{"namespace":"ns","name":"w","uid":"uid-w","resourceVersion":")" + std::to_string(version) +
        R"(","generation":1},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[]}}}]}})");
  }
  static admission::JobIntent intent(bool run, std::string_view name = "j") {
    admission::JobIntent out;
    out.uid = "uid-" + std::string(name);
    out.kind = "Job";
    out.group = "batch";
    out.namespace_ = "ns";
    out.name = name;
    out.run = run;
    out.pod_sets = {{"main", 1, {}, {}, {}}};
    return out;
  }
  void answer(int status, const std::string& body = "{}") {
    ASSERT_FALSE(sent_.empty());
    auto sent = std::move(sent_.front());
    sent_.pop_front();
    sent.done({status, body});
  }

  Lines told_;  ///< "KIND name vVERSION STAGE [outline] reason" or "lifted KIND name".
  Lines seen_;  ///< "KIND name vVERSION"
  Lines notices_;
  std::deque<Sent> sent_;
  std::string no_write_to_;  ///< Writes to this name are not even sent.
  int unsent_ = 0;           ///< How many these were.
  int untold_ = 0;           ///< So many observations cannot be told.
  TroubledMirror mirror_;
  Bridge bridge_{*this, mirror_, [this](const Observation& o) { note(o); }, options()};

 private:
  void submit(Write write, std::function<void(WriteAnswer)> done) override {
    if (write.name == no_write_to_) {
      ++unsent_;
      throw std::runtime_error("it cannot be sent");
    }
    sent_.push_back({std::move(write), std::move(done)});
  }
  BridgeOptions options() {
    BridgeOptions out;
    out.notice = [this](const std::string& text) { notices_.push_back(text); };
    return out;
  }
  void note(const Observation& o) {
    if (untold_ > 0) {
      --untold_;
      throw std::runtime_error("the domain is ill");
    }
    if (const auto* q = std::get_if<ObjectQuarantined>(&o)) {
      const std::string who = std::string(q->api_kind) + " " + std::string(q->name);
      constexpr const char* stages[] = {"read", "plan", "write"};
      if (q->lifted)
        told_.push_back("lifted " + who);
      else
        told_.push_back(who + " v" + std::to_string(q->resource_version) + " " + stages[static_cast<int>(q->stage)] +
                        (q->outline.empty()        ? " "
                         : q->outline[0].suspended ? " suspended "
                                                   : " running ") +
                        std::string(q->reason));
      return;
    }
    std::visit(
        [&]<class T>(const T& x) {
          if constexpr (requires { x.meta; }) seen_.push_back(std::string(x.meta.name) + " v" + std::to_string(x.meta.resource_version));
          if constexpr (std::is_same_v<T, ObjectDeleted>) seen_.push_back("gone " + std::string(x.name));
        },
        o);
  }
};

const std::string finding = R"(Job ns/j: spec.parallelism: found "many", allowed: an integer from 0 to 2147483647)";

TEST_F(BridgeQuarantine, AnObjectThatCannotBeReadIsToldOnce) {
  add(types::job, unreadable(1).dump());
  EXPECT_EQ(told_, Lines{"Job j v1 read running " + finding});
  EXPECT_EQ(notices_, Lines{"Job ns/j is set aside: " + finding});
  EXPECT_TRUE(seen_.empty());
  for (int version = 1; version < 5; ++version) change(types::job, unreadable(version).dump());
  EXPECT_EQ(told_.size(), 1U) << "a version that is as bad is no news";
  add(types::job, job(6, "other").dump());
  EXPECT_EQ(seen_, Lines{"other v6"});
}

/// What is still read of a job is told whenever it changes, so that the domain knows when it has stopped.
TEST_F(BridgeQuarantine, WhatCanStillBeReadIsToldWhenItChanges) {
  add(types::job, unreadable(1).dump());
  auto stopped = unreadable(2);
  stopped["spec"]["suspend"] = true;
  stopped.erase("status");
  change(types::job, stopped.dump());
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[1], "Job j v2 read suspended " + finding);
  EXPECT_EQ(notices_.size(), 1U) << "the log of the process has it once";
}

TEST_F(BridgeQuarantine, AVersionThatCanBeReadEndsIt) {
  add(types::job, unreadable(1).dump());
  change(types::job, job(2).dump());
  EXPECT_EQ(seen_, Lines{"j v2"});
  change(types::job, unreadable(3).dump());
  EXPECT_EQ(told_.size(), 2U) << "and it may fail anew";
  remove(types::job, unreadable(3).dump());
  EXPECT_EQ(seen_.back(), "gone j");
}

/// Of a queue nothing but its status may have changed since it was told: it is told again all the same.
TEST_F(BridgeQuarantine, AQueueThatIsBackIsToldAgain) {
  const auto queue = [](int version, std::string_view stop) {
    return Json{{"metadata", {{"name", "cq"}, {"uid", "uid-cq"}, {"resourceVersion", std::to_string(version)}}},
                {"spec", {{"namespaceSelector", Json::object()}, {"stopPolicy", stop}}}}
        .dump();
  };
  add(types::cluster_queue, queue(1, "None"));
  change(types::cluster_queue, queue(2, "Perhaps"));
  change(types::cluster_queue, queue(3, "None"));
  EXPECT_EQ(seen_, (Lines{"cq v1", "cq v3"}));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].starts_with("ClusterQueue cq v2 read ClusterQueue cq: spec.stopPolicy: found \"Perhaps\"")) << told_[0];
}

TEST_F(BridgeQuarantine, WhatCannotBeReadIsStoppedAndNotStarted) {
  add(types::job, unreadable(1).dump());
  bridge_.want({intent(true)});
  EXPECT_TRUE(sent_.empty());
  bridge_.want({intent(false)});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["spec"]["suspend"], true);
}

TEST_F(BridgeQuarantine, WhatIsWantedOfItIsDoneWhenItIsBack) {
  auto suspended = unreadable(1);
  suspended["spec"]["suspend"] = true;
  suspended.erase("status");
  add(types::job, suspended.dump());
  bridge_.want({intent(true)});
  bridge_.retry();
  EXPECT_TRUE(sent_.empty());
  auto back = job(2);
  back["spec"]["suspend"] = true;
  back.erase("status");
  change(types::job, back.dump());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["spec"]["suspend"], false);
}

TEST_F(BridgeQuarantine, OfWhatNobodyCanTellWhoItIsThereIsANotice) {
  for (const auto* text : {"", "nothing", "[]", "{}", R"({"metadata":{"name":7,"uid":[]}})", "{\"metadata\":{\"name\":\"\xff\"}}"}) {
    notices_.clear();
    bridge_.on_watch({WatchEvent::Type::added, &types::job, text});
    ASSERT_EQ(notices_.size(), 1U) << text;
    EXPECT_TRUE(notices_[0].starts_with("Job: an object that cannot be told from others was left out: ")) << notices_[0];
    notices_.clear();
    bridge_.on_watch({WatchEvent::Type::deleted, &types::job, text});
    EXPECT_EQ(notices_.size(), 1U) << text;
  }
  EXPECT_TRUE(told_.empty());
}

/// JSON in JSON, nested until whoever walks over it by recursion has no stack left.
TEST_F(BridgeQuarantine, NoDepthEndsTheProcess) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  int version = 0;
  for (const auto* key : {"kueue.x-k8s.io/podset-slice-required-topology-constraints", "hindsight.dev/resource-bounds",
                          "kueue.x-k8s.io/admission-gated-by"}) {
    auto bad = job(++version);
    bad["metadata"]["annotations"][key] = bad["spec"]["template"]["metadata"]["annotations"][key] = deep;
    change(types::job, bad.dump());
    EXPECT_FALSE(told_.empty()) << key;
    bridge_.want({intent(false)});
    EXPECT_EQ(sent_.size(), 1U) << key << ": it is stopped all the same";
    if (!sent_.empty()) answer(200, job(++version).dump());
    change(types::job, job(++version).dump());
    told_.clear();
  }
  auto text = job(++version).dump();
  text.insert(1, R"("deep":)" + std::string(9'000, '[') + std::string(9'000, ']') + ",");
  change(types::job, text);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("deeper nesting"), std::string::npos) << told_[0];
  bridge_.want({intent(false)});
  EXPECT_EQ(sent_.size(), 1U);
}

/// A text that was cut in the middle of a character is written as text; nothing throws.
TEST_F(BridgeQuarantine, HalfOfACharacterIsWrittenAsText) {
  add(types::workload, workload(1).dump());
  admission::WorkloadIntent half;
  half.uid = "uid-w";
  half.namespace_ = "ns";
  half.name = "w";
  half.conditions = {{ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "half of \xE4\xBD", Time::from_seconds(5)}};
  bridge_.want({half});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["status"]["conditions"][0]["message"], "half of \uFFFD");
  EXPECT_TRUE(told_.empty());
}

TEST_F(BridgeQuarantine, APlanThatFailsConcernsOneObject) {
  add(types::job, job(1).dump());
  add(types::job, job(2, "other").dump());
  mirror_.trouble = "uid-j";
  bridge_.want({intent(false), intent(false, "other")});
  EXPECT_EQ(told_, Lines{"Job j v1 plan half of \uFFFD\uFFFD"});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.name, "other");
  bridge_.retry();
  EXPECT_EQ(sent_.size(), 1U) << "the same version fails the same way";
  change(types::job, job(3).dump());
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[1].write.name, "j");
}

TEST_F(BridgeQuarantine, AWriteThatFailsConcernsOneObject) {
  add(types::job, job(1).dump());
  add(types::job, job(2, "other").dump());
  no_write_to_ = "j";
  bridge_.want({intent(false), intent(false, "other")});
  EXPECT_EQ(told_, Lines{"Job j v1 write it cannot be sent"});
  ASSERT_EQ(sent_.size(), 1U);
  no_write_to_.clear();
  change(types::job, job(3).dump());
  EXPECT_EQ(sent_.size(), 2U);
}

/// A text is another one when it says something else, and not when it lies elsewhere.
TEST_F(BridgeQuarantine, AWriteThatFailsIsNotTriedAgainForTheSameTextMadeAnew) {
  mirror_.makes_anew = true;
  add(types::job, job(1).dump());
  no_write_to_ = "j";
  for (int i = 0; i < 3; ++i) {
    bridge_.want({intent(false)});
    bridge_.retry();
  }
  EXPECT_EQ(unsent_, 1);
  EXPECT_EQ(told_, Lines{"Job j v1 write it cannot be sent"});
  no_write_to_.clear();
  change(types::job, job(3).dump());
  EXPECT_EQ(sent_.size(), 1U);
}

TEST_F(BridgeQuarantine, AConflictIsNotAnsweredWithTheSameTextMadeAnew) {
  mirror_.makes_anew = true;
  add(types::job, job(1).dump());
  bridge_.want({intent(false)});
  ASSERT_EQ(sent_.size(), 1U);
  answer(409);
  EXPECT_TRUE(sent_.empty()) << "it would be the same write";
  change(types::job, job(2).dump());
  EXPECT_EQ(sent_.size(), 1U);
}

/// Whoever takes what is told may fail, too: then it is not the text of the object that is blamed.
TEST_F(BridgeQuarantine, WhatCannotBeToldIsSetAsideToo) {
  untold_ = 1;
  add(types::job, job(1).dump());
  EXPECT_EQ(told_, Lines{"Job j v1 read running it could not be told to its domain: the domain is ill"});
  add(types::job, job(2, "other").dump());
  EXPECT_EQ(seen_, Lines{"other v2"});
  change(types::job, job(3).dump());
  EXPECT_EQ(seen_, (Lines{"other v2", "j v3"}));
}

/// Nor can it be told that it failed: the process says so, and goes on.
TEST_F(BridgeQuarantine, WhatCannotEvenBeSetAsideEndsNothing) {
  const auto before = bridge_.entries();
  untold_ = 2;
  EXPECT_NO_THROW(add(types::job, job(1).dump()));
  ASSERT_FALSE(notices_.empty());
  EXPECT_EQ(notices_.back(), "Job: what failed could not be told: it could not be told to its domain: the domain is ill");
  add(types::job, job(2, "other").dump());
  EXPECT_EQ(seen_, Lines{"other v2"});
  untold_ = 2;
  EXPECT_NO_THROW(change(types::job, unreadable(3).dump()));
  change(types::job, unreadable(4).dump());
  ASSERT_EQ(told_.size(), 1U) << "the next version is told";

  // Of several wishes one is about an object that fails in every way.
  add(types::job, job(5, "third").dump());
  mirror_.trouble = "uid-third";
  untold_ = 1;
  EXPECT_NO_THROW(bridge_.want({intent(false, "third"), intent(false, "other")}));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.name, "other");
  answer(200, job(6, "other").dump());

  // What has gone leaves nothing, whether that can be told or not.
  untold_ = 100;
  while (!sent_.empty()) answer(404);
  for (const auto& name : {"j", "other", "third"}) EXPECT_NO_THROW(remove(types::job, job(7, name).dump()));
  EXPECT_EQ(bridge_.entries(), before);
}

/// LimitRanges are not observed: that one is back is said by itself.
TEST_F(BridgeQuarantine, ALimitRangeIsSetAsideAndBack) {
  const auto range = [](int version, std::string_view cpu) {
    return R"({"metadata":{"namespace":"ns","name":"r","uid":"uid-r","resourceVersion":")" + std::to_string(version) +
           R"("},"spec":{"limits":[{"type":"Container","default":{"cpu":")" + std::string(cpu) + R"("}}]}})";
  };
  add(types::limit_range, range(1, "much"));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].starts_with("LimitRange r v1 read LimitRange ns/r: spec.limits[0].default.cpu: found \"much\"")) << told_[0];
  change(types::limit_range, range(2, "1"));
  EXPECT_EQ(told_.back(), "lifted LimitRange r");
  change(types::limit_range, range(3, "much"));
  remove(types::limit_range, range(3, "much"));
  EXPECT_EQ(told_.size(), 3U);
  EXPECT_EQ(seen_, Lines{"gone r"});
  auto deep = range(4, "1");
  deep.insert(1, R"("deep":)" + std::string(500, '[') + std::string(500, ']') + ",");
  add(types::limit_range, deep);
  EXPECT_EQ(told_.size(), 4U);
  remove(types::limit_range, deep);
  EXPECT_EQ(seen_, (Lines{"gone r", "gone r"}));
}

/// Somebody fills the cluster with objects that cannot be read: each costs one record, and the others go on.
TEST_F(BridgeQuarantine, ManyOfThemAreNoMoreThanMany) {
  for (int i = 0; i < 2'000; ++i) {
    auto bad = job(i + 1, "j" + std::to_string(i));
    bad["spec"]["parallelism"] = -1;
    add(types::job, bad.dump());
  }
  EXPECT_EQ(told_.size(), 2'000U);
  add(types::job, job(5'000, "good").dump());
  EXPECT_EQ(seen_, Lines{"good v5000"});
}

/// A Workload says so itself; nothing else of it is written.
TEST_F(BridgeQuarantine, AWorkloadIsToldInItsCondition) {
  auto bad = workload(1);
  bad["spec"]["podSets"][0]["count"] = "many";
  add(types::workload, bad.dump());
  ASSERT_EQ(told_.size(), 1U);
  bridge_.want({admission::QuarantineIntent{"uid-w", "ns", "w", "Set aside: because", Time::from_seconds(5)}});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.subresource, "status");
  const auto condition = Json::parse(sent_[0].write.body)["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "QuotaReserved");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], "Misconfigured");
  EXPECT_EQ(condition["message"], "Set aside: because");
}

/// So does a queue, in Active.
TEST_F(BridgeQuarantine, AQueueIsToldInItsCondition) {
  const auto bad = [](const char* kind, const char* spec, bool local) {
    Json out{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
             {"kind", kind},
             {"metadata", {{"name", "q"}, {"uid", std::string("uid-") + kind}, {"resourceVersion", "1"}, {"generation", 1}}},
             {"spec", Json::parse(spec)}};
    if (local) out["metadata"]["namespace"] = "ns";
    return out.dump();
  };
  add(types::cluster_queue, bad("ClusterQueue", R"({"resourceGroups":"many"})", false));
  add(types::local_queue, bad("LocalQueue", R"({"clusterQueue":["cq"]})", true));
  ASSERT_EQ(told_.size(), 2U);
  for (const bool local : {false, true}) {
    admission::QueueStatusIntent status;
    status.local = local;
    status.namespace_ = local ? "ns" : "";
    status.name = "q";
    status.active_reason = "Misconfigured";
    status.active_message = "Set aside: because";
    bridge_.want({status});
    ASSERT_FALSE(sent_.empty()) << local;
    EXPECT_EQ(sent_.back().write.subresource, "status");
    const auto condition = Json::parse(sent_.back().write.body)["status"]["conditions"][0];
    EXPECT_EQ(condition["type"], "Active");
    EXPECT_EQ(condition["status"], "False");
    EXPECT_EQ(condition["message"], "Set aside: because");
    answer(200);
  }
}

}  // namespace
}  // namespace hindsight::connectors

// Where a step, or a moment as people type it, leads: forth and back, by all that one may go by, to the ends, and for whom.

#include "page/timeline/steps.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "page/timeline/object_filter.hpp"
#include "replay/scan.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::page {
namespace {

using events::MemoryLog;

class SeesSome final : public Audience {
 public:
  explicit SeesSome(std::set<std::string> namespaces, bool all = false) : namespaces_(std::move(namespaces)), all_(all) {}
  [[nodiscard]] bool may_see(std::string_view namespace_) const override { return all_ || namespaces_.contains(std::string(namespace_)); }
  [[nodiscard]] bool sees_all() const override { return all_; }

 private:
  std::set<std::string> namespaces_;
  bool all_;
};

class StepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::LogWorld world(log_);
    world.namespace_("other");
    world.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
    world.local_queue("lq-other", "team-a", StopPolicy::none, "other");
    for (int i = 0; i < 5; ++i) {
      world.tick(Duration::seconds(3600));
      world.submit_job({.name = "job" + std::to_string(i), .cpu = 3000, .priority = i});
      world.settle();
      world.confirm();
      world.settle();
      world.submit({.name = "hidden" + std::to_string(i), .queue = "lq-other", .namespace_ = "other"});
      world.settle();
    }
    world.flush();
    last_ = log_.last().value();
    EXPECT_TRUE(replay::scan(log_, "default", 1, last_, [&](const events::StoredRecord& stored, const RecordView& record) {
      if (std::holds_alternative<Decisions>(record.body)) decisions_.push_back(stored.offset);
      return true;
    }));
  }

  Result<Json> ask(const View& view, std::multimap<std::string, std::string> query, const Audience& audience, Position at) {
    replay::Past past(log_, "default");
    EXPECT_TRUE(past.go_to(at));
    const std::function<bool()> never = [] { return false; };
    return view(Look{log_, past, audience, never}, Parameters({}, std::move(query)));
  }
  Json stepped(std::multimap<std::string, std::string> query) {
    auto out = ask(step, std::move(query), all_, last_);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : Json();
  }
  std::string error(std::multimap<std::string, std::string> query, ErrorKind kind = ErrorKind::invalid) {
    const auto out = ask(step, std::move(query), all_, last_);
    if (out) return "no error";
    EXPECT_EQ(out.error().kind, kind);
    return out.error().message;
  }
  Json went_to(const std::string& text, const std::string& zone = {}) {
    auto out = ask(moment, {{"text", text}, {"tz", zone}}, all_, last_);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : Json();
  }

  MemoryLog log_;
  Position last_ = 0;
  std::vector<Position> decisions_;
  const SeesSome all_{{}, true}, some_{{"default"}};
};

TEST_F(StepTest, OneRecordForthAndBack) {
  const Json forth = stepped({{"from", "10"}});
  EXPECT_EQ(forth["position"], 11);
  EXPECT_FALSE(forth["end"].get<bool>());
  EXPECT_FALSE(forth["text"].get<std::string>().empty());
  EXPECT_EQ(stepped({{"from", "10"}, {"direction", "back"}})["position"], 9);
  EXPECT_EQ(stepped({{"from", "0"}})["position"], 1);
  EXPECT_EQ(stepped({{"from", "10"}, {"times", "20"}})["position"], 30);
  EXPECT_EQ(stepped({{"from", "30"}, {"times", "20"}, {"direction", "back"}})["position"], 10);
}

TEST_F(StepTest, TheEndsAreEnds) {
  const Json end = stepped({{"from", std::to_string(last_ - 2)}, {"times", "1000"}});
  EXPECT_EQ(end["position"], last_);
  EXPECT_TRUE(end["end"].get<bool>());
  EXPECT_FALSE(end.contains("scannedTo"));
  const Json here = stepped({{"from", std::to_string(last_)}});
  EXPECT_EQ(here["position"], last_);
  EXPECT_TRUE(here["end"].get<bool>());
  const Json begin = stepped({{"from", "3"}, {"direction", "back"}, {"times", "3"}});
  EXPECT_EQ(begin["position"], 1);
  EXPECT_TRUE(begin["end"].get<bool>());
}

TEST_F(StepTest, ByDecisionIsEveryDecision) {
  ASSERT_GT(decisions_.size(), 10U);
  for (std::size_t i = 0; i + 1 < decisions_.size(); ++i) {
    const Json next = stepped({{"from", std::to_string(decisions_[i])}, {"by", "decision"}});
    EXPECT_EQ(next["position"], decisions_[i + 1]);
    EXPECT_EQ(next["text"].get<std::string>().substr(0, 9), "Decisions");
    EXPECT_EQ(stepped({{"from", std::to_string(decisions_[i + 1])}, {"by", "decision"}, {"direction", "back"}})["position"], decisions_[i]);
  }
  EXPECT_EQ(stepped({{"from", std::to_string(last_)}, {"by", "decision"}, {"direction", "back"}, {"times", "7"}})["position"],
            decisions_[decisions_.size() - (decisions_.back() == last_ ? 8 : 7)]);
}

/// Both directions find the same records, and these are those whose line names the object.
TEST_F(StepTest, ByEventOfAnObject) {
  for (const std::string object : {"Job/default/job2", "Workload/default/job-job2", "Workload/other/hidden0", "ClusterQueue/team-a"}) {
    std::vector<Position> forth, back;
    for (Position at = 0;;) {
      const Json next = stepped({{"from", std::to_string(at)}, {"by", "event"}, {"object", object}});
      if (next["end"].get<bool>()) break;
      at = next["position"].get<Position>();
      forth.push_back(at);
    }
    for (Position at = last_;;) {
      const Json next = stepped({{"from", std::to_string(at)}, {"by", "event"}, {"object", object}, {"direction", "back"}});
      if (next["end"].get<bool>()) break;
      at = next["position"].get<Position>();
      back.insert(back.begin(), at);
    }
    if (!forth.empty() && forth.back() == last_) back.push_back(last_);
    EXPECT_EQ(forth, back) << object;
    EXPECT_GT(forth.size(), 1U) << object;
    const std::string name = object == "Workload/default/job-job2" ? "job2" : object.substr(object.rfind('/') + 1);
    for (const Position at : forth) {
      const auto text = stepped({{"from", std::to_string(at - 1)}})["text"].get<std::string>();
      EXPECT_NE(text.find(name), std::string::npos) << object << ": " << text;
    }
  }
  const Json none = stepped({{"from", "5"}, {"by", "event"}, {"object", "Workload/default/nobody"}});
  EXPECT_EQ(none["position"], 5);
  EXPECT_TRUE(none["end"].get<bool>());
}

TEST_F(StepTest, HiddenNamesStayHidden) {
  bool told_of_mine = false;
  for (const Position where : {Position{0}, last_})  // in the first state nobody knows of that namespace
    for (Position at = 0; at < last_; ++at) {
      const auto out = ask(step, {{"from", std::to_string(at)}}, some_, where);
      ASSERT_TRUE(out) << out.error().message;
      const auto text = (*out)["text"].get<std::string>();
      EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
      EXPECT_EQ(text.find("other/"), std::string::npos) << text;
      told_of_mine = told_of_mine || text.find("QuotaReserved default/job-job0") != std::string::npos;
    }
  EXPECT_TRUE(told_of_mine);
  const auto asked = ask(step, {{"by", "event"}, {"object", "Workload/other/hidden1"}, {"from", "0"}}, some_, last_);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::denied);
  EXPECT_TRUE(ask(step, {{"by", "event"}, {"object", "Job/default/job1"}, {"from", "0"}}, some_, last_));
}

TEST_F(StepTest, ASearchThatNobodyWaitsForEnds) {
  replay::Past past(log_, "default");
  ASSERT_TRUE(past.go_to(last_));
  const std::function<bool()> always = [] { return true; };
  const auto out = step(Look{log_, past, all_, always}, Parameters({}, {{"from", "5"}, {"times", "10"}}));
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)["scannedTo"], 5);
  EXPECT_FALSE((*out)["end"].get<bool>());
}

TEST_F(StepTest, MistakesAreNamed) {
  EXPECT_EQ(error({{"direction", "up"}}), "direction: found \"up\"; allowed: forward, back");
  EXPECT_EQ(error({{"by", "mood"}}), "by: found \"mood\"; allowed: record, decision, event");
  EXPECT_EQ(error({{"times", "0"}}), "times: found \"0\"; allowed: a whole number from 1 to 1000");
  EXPECT_EQ(error({{"times", "1001"}}), "times: found \"1001\"; allowed: a whole number from 1 to 1000");
  EXPECT_EQ(error({{"from", std::to_string(last_ + 1)}}), "from: found \"" + std::to_string(last_ + 1) + "\"; allowed: a position up to " +
                                                              std::to_string(last_) + ", the end of the log");
  for (const char* object : {"", "train", "/a/b", "Workload/", "Workload//x", "a/b/c/d"})
    EXPECT_EQ(error({{"by", "event"}, {"object", object}}),
              "object: found \"" + std::string(object) + "\"; allowed: KIND/NAMESPACE/NAME, or KIND/NAME of what is in no namespace");
  EXPECT_EQ(error({{"object", "Workload/a/b"}}), "object: found \"Workload/a/b\"; allowed: none, unless one goes by event");
  EXPECT_NE(error({{"by", "event"}, {"object", "Workload/a/" + std::string(5000, 'x')}}).find("object: found"), std::string::npos);
}

TEST_F(StepTest, MomentsAsPeopleTypeThem) {
  EXPECT_EQ(went_to("now")["position"], last_);
  EXPECT_EQ(went_to("12")["position"], 12);
  // The log begins at midnight; the first hour's record is the first of 01:00.
  const Json one = went_to("2026-01-01 01:30");
  EXPECT_EQ(one["time"].get<std::string>().substr(0, 13), "2026-01-01T01");
  EXPECT_EQ(went_to("2026-01-01 03:30", "+02:00"), one);
  EXPECT_EQ(went_to("2026-01-01 03:30", " 02:00"), one) << "a plus that nobody encoded";
  EXPECT_EQ(went_to("2025-12-31 22:00", "-03:30"), one);
  EXPECT_EQ(went_to("01:30"), one);
  EXPECT_EQ(went_to("03:30", "+02:00"), one);
  EXPECT_EQ(went_to("2026-01-01T01:30:00Z", "+02:00"), one) << "it names its zone";
  const auto wrong = [&](const std::string& text, const std::string& zone) {
    const auto out = ask(moment, {{"text", text}, {"tz", zone}}, all_, last_);
    return out ? std::string("no error") : out.error().message;
  };
  EXPECT_EQ(wrong("now", "Mars"), "tz: found \"Mars\"; allowed: UTC, or its distance as +02:00");
  EXPECT_EQ(wrong("now", "+99:00"), "tz: found \"+99:00\"; allowed: UTC, or its distance as +02:00");
  EXPECT_EQ(wrong("yesterday", "").substr(0, 10), "text: foun");
  EXPECT_EQ(wrong("", "").substr(0, 13), "text: found 0");
  EXPECT_NE(wrong(std::to_string(last_ + 1), "").find("past the end"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::page

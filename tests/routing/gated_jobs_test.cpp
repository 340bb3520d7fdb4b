// A job that a gate annotation holds back, and whose queue label moves it to another domain (6915 SG-74).

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/workload/workload_parent.hpp"
#include "routing/dispatcher.hpp"
#include "tests/routing/facts.hpp"

namespace hindsight::routing::testing {
namespace {

using Lines = std::vector<std::string>;

/// Two domains, of queue a in cohort left and of queue b in cohort right, in which scheduling-gated-by counts.
class GatedJobs : public ::testing::Test {
 protected:
  GatedJobs() : dispatcher_("c", [this](Symbol name, const Observation& o) { append(name, o); }) {
    dispatcher_.observe(facts.flavor("default"));
    dispatcher_.observe(facts.namespace_());
    for (const auto& [queue, cohort] : {std::pair("a", "left"), std::pair("b", "right")}) {
      dispatcher_.observe(facts.queue(queue, cohort));
      dispatcher_.observe(facts.local_queue(queue, queue));
    }
    dispatcher_.list();
    const auto all = dispatcher_.domains();
    for (const Symbol& name : all) dispatcher_.complete(name, {});
    (void)decide();
  }
  void job(std::string_view queue, std::string_view gate) {
    auto j = facts.job("j", queue);
    j.meta.created = Time::from_seconds(1'700'000'000);
    j.scheduling_gated_by = gate;
    dispatcher_.observe(j);
  }
  /// What all domains decide about the job until they are at rest: "left gate observed".
  Lines decide() {
    constexpr const char* changes[] = {"observed", "shrunk", "cleared", "ignored"};
    Lines out;
    for (const auto& [name, driver] : domains_)
      while (const auto step = driver->decide()) {
        const std::string where = name.substr(name.rfind('/') + 1);
        for (const auto& e : step->events) {
          if (const auto* g = std::get_if<GateChanged>(&e)) out.push_back(where + " gate " + changes[static_cast<std::size_t>(g->change)]);
          if (const auto* r = std::get_if<WorkloadRequested>(&e)) out.push_back(where + " requested " + std::string(r->name));
        }
        append(Symbol(name), Decisions{step->base, step->kind, step->events});
      }
    return out;
  }
  [[nodiscard]] bool holds(const std::string& tree) const {
    const auto& driver = *domains_.at("c/cohort/" + tree);
    const auto index = driver.domain().find_parent("job-j");
    const auto* parent = index ? driver.parent(*index) : nullptr;
    return parent != nullptr && parent->job() && parent->gated(*driver.domain().catalog());
  }

  Facts facts;

 private:
  void append(Symbol domain, Body body) {
    auto& driver = domains_[std::string(domain.text())];
    if (!driver)
      driver = std::make_unique<admission::LoopDriver>([](Text) -> Result<admission::Settings> {
        admission::Settings settings;
        settings.scheduling_gated_by = true;
        return settings;
      });
    if (driver->domain().sequence() == 0) {
      const RecordView first{{domain.text(), 1, 1, facts.now, 0}, Observation{ConfigurationObserved{"{}"}}};
      ASSERT_TRUE(driver->apply(first));
    }
    const RecordView record{{domain.text(), driver->domain().sequence() + 1, 1, facts.now, 0}, std::move(body)};
    ASSERT_TRUE(driver->apply(record));
  }

  std::map<std::string, std::unique_ptr<admission::LoopDriver>> domains_;
  Dispatcher dispatcher_;
};

// SG-74: the new domain holds the job back as the old one did, and the release, whenever it comes, makes one Workload in one of them
TEST_F(GatedJobs, AJobThatMovesIsHeldOnAndReleasedOnce) {
  job("a", "example.com/g");
  EXPECT_EQ(decide(), Lines{"left gate observed"});
  EXPECT_TRUE(holds("left"));
  job("b", "example.com/g");
  EXPECT_EQ(decide(), Lines{"right gate observed"}) << "and the old one has nothing more to say";
  EXPECT_FALSE(holds("left"));
  EXPECT_TRUE(holds("right"));
  job("b", "");
  EXPECT_EQ(decide(), (Lines{"right gate cleared", "right requested w-j"}));
  EXPECT_EQ(decide(), Lines{});
}

TEST_F(GatedJobs, AJobThatIsReleasedAsItMovesIsNotLost) {
  job("a", "example.com/g");
  EXPECT_EQ(decide(), Lines{"left gate observed"});
  job("b", "");
  const auto said = decide();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back(), "right requested w-j");
  int requests = 0;
  for (const auto& line : said) requests += line.find(" requested ") != std::string::npos ? 1 : 0;
  EXPECT_EQ(requests, 1);
  EXPECT_FALSE(holds("left"));
  EXPECT_FALSE(holds("right"));
}

// The move is seen after the release was decided and before its Workload was made: the new domain asks for it, and it is made once.
TEST_F(GatedJobs, AJobThatMovesAfterItsReleaseGetsOneWorkload) {
  job("a", "example.com/g");
  (void)decide();
  job("a", "");
  EXPECT_EQ(decide(), (Lines{"left gate cleared", "left requested w-j"}));
  job("b", "");
  EXPECT_EQ(decide(), Lines{"right requested w-j"}) << "of the same name: the API server takes one of them";
}

}  // namespace
}  // namespace hindsight::routing::testing

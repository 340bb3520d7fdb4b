// A domain is asked again and again what is to be decided. A question that comes to nothing leaves no record, so it must leave no trace in
// what is decided later: who replays a log asks only where something was decided (the design's rules 1 to 4, D10).

#include <gtest/gtest.h>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

/// Two that learn of the same records; the one is asked until it is at rest, the other only where the first one decided something.
class Questions : public ::testing::Test {
 protected:
  FactWorld often, seldom;

  template <class F>
  void both(F&& f) {
    f(often);
    f(seldom);
  }
  /// The number of decisions.
  int settle() {
    for (int n = 0; n < 100; ++n) {
      const auto step = often.driver().decide();
      if (!step) return n;
      const auto again = seldom.driver().decide();
      if (!again || again->kind != step->kind || again->events.size() != step->events.size()) {
        ADD_FAILURE() << "decided were " << step->events.size() << " events, and " << (again ? again->events.size() : 0)
                      << " by who had heard no other question";
        return n;
      }
      both([&](FactWorld& w) { w.observe_decision(*step); });
    }
    ADD_FAILURE() << "no rest";
    return 100;
  }
  void SetUp() override {
    both([&](FactWorld& w) {
      Settings settings;
      settings.scheduling_equivalence_hashing = false;  // else one like others that were tried in vain is not tried
      w.configure(settings);
      w.namespace_("default");
      w.flavor("default");
      for (const char* name : {"left", "right"}) {
        w.queue({.name = name, .cpu = 4'000});
        w.local_queue(name, name);
      }
      w.observe(MirrorSynced{});
    });
    (void)settle();
  }
};

// BA-154
TEST_F(Questions, ThatComeToNothingDoNotShow) {
  both([](FactWorld& w) { w.observe(w.workload("large", "left", 9'000)); });
  EXPECT_GT(settle(), 0);
  std::int64_t generation = 1;
  for (const char* name : {"a", "b", "c"}) {
    ++generation;
    both([&](FactWorld& w) {  // its object comes back as it was, of a newer version: it may be tried again, and nothing is new
      auto again = w.workload("large", "left", 9'000);
      again.meta.generation = generation;
      w.observe(again);
    });
    (void)settle();
    both([&](FactWorld& w) { w.observe(w.workload(name, "right", 1'000)); });
    EXPECT_GT(settle(), 0);
  }
  EXPECT_TRUE(often.state("c").admitted());
  EXPECT_EQ(often.driver().state_hash(), seldom.driver().state_hash());
}

}  // namespace
}  // namespace hindsight::admission::testing

// What is told of a place in a queue without a look at all who wait is what such a look finds.

#include <gtest/gtest.h>

#include <algorithm>

#include "projections/format.hpp"
#include "projections/queue_place.hpp"
#include "tests/projections/crowded_world.hpp"

namespace hindsight::projections {
namespace {

using admission::ClusterQueue;

/// By all entries: an equal one that is parked for its own failure, and the record of why.
std::optional<ParkedWith> looked_for(const ClusterQueue& queue, const ClusterQueue::Waiting& mine) {
  const auto image = queue.image();
  const auto parked_by_record = [&](const admission::WorkloadInfo& w) {
    const auto it = std::find_if(image.entries.begin(), image.entries.end(), [&](const auto& e) { return e.uid == w.uid; });
    return it != image.entries.end() && it->by_record;
  };
  if (!parked_by_record(*mine.workload)) return std::nullopt;
  const std::uint64_t hash = mine.workload->equivalence_hash;
  ParkedWith out{"another workload", {}};
  for (const auto& r : image.records)
    if (r.hash == hash) out.reason = r.reason.text();
  for (const auto& other : queue.waiting())
    if (other.workload->equivalence_hash == hash && other.parked && !parked_by_record(*other.workload))
      out.name = full_name(other.workload->namespace_.text(), other.workload->name);
  return out;
}

TEST(QueuePlaces, WhoIsParkedWithAnotherOneIsFoundWithoutTheOthers) {
  std::size_t with_another = 0, alone = 0, after_the_other_went = 0, sticky = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CrowdedWorld world(seed);
    // Of some the one that was tried goes, and those that are parked with it stay.
    for (int i = 0; i < 10; ++i)
      if (const auto uid = world.somebody(true); !uid.empty() && seed % 2 == 0) world.remove(uid);
    for (const Symbol& name : world.queues()) {
      const auto& queue = *world.driver().queue(name);
      const auto first_served = queue.first_served();
      EXPECT_EQ(first_served == nullptr ? std::string() : std::string(first_served->uid.view()),
                std::string(queue.image().sticky_uid.view()));
      sticky += first_served == nullptr ? 0 : 1;
      for (const auto& x : queue.waiting()) {
        const auto wanted = looked_for(queue, x), found = parked_with(queue, x.workload->id);
        ASSERT_EQ(found.has_value(), wanted.has_value()) << x.workload->name.view() << ", seed " << seed;
        ++(found ? with_another : alone);
        if (!found) continue;
        EXPECT_EQ(found->name, wanted->name) << x.workload->name.view() << ", seed " << seed;
        EXPECT_EQ(found->reason, wanted->reason) << x.workload->name.view() << ", seed " << seed;
        after_the_other_went += found->name == "another workload" ? 1 : 0;
        const auto place = place_of(world.driver(), find_by_uid(world.driver(), x.workload->uid.view()));
        ASSERT_TRUE(place.has_value());
        EXPECT_EQ(place->equal_to, found->name);
        EXPECT_EQ(place->record_reason, found->reason);
      }
    }
  }
  EXPECT_GT(with_another, 100U);
  EXPECT_GT(alone, 100U);
  EXPECT_GT(after_the_other_went, 5U);
  EXPECT_GT(sticky, 0U);
}

TEST(QueuePlaces, NobodyIsParkedWhoDoesNotWaitThere) {
  CrowdedWorld world(1);
  const auto& queue = *world.driver().queue(Symbol("q0"));
  EXPECT_FALSE(parked_with(queue, admission::no_workload).has_value());
  const auto holder = world.somebody(false);
  ASSERT_FALSE(holder.empty());
  EXPECT_FALSE(parked_with(queue, find_by_uid(world.driver(), holder).workload->id).has_value());
}

}  // namespace
}  // namespace hindsight::projections

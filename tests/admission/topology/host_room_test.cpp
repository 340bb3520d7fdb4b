// The hosts below racks, one by one (TAS-65): how many pods find room, and where those are thought to be that have it.
#include "admission/topology/host_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

PodRequest pod(Amount cores) { return {{cpu, cores}, {pods, 1}}; }

/// Racks of hosts with so many cores each.
HostRoom racks_of(const std::vector<std::vector<Amount>>& racks, Amount slots = 110) {
  std::vector<DomainIndex> first{0};
  for (const auto& rack : racks) first.push_back(first.back() + static_cast<DomainIndex>(rack.size()));
  Capacity offer(first.back());
  DomainIndex host = 0;
  for (const auto& rack : racks)
    for (const Amount cores : rack) {
      offer.add(cpu, host, cores);
      offer.add(pods, host++, slots);
    }
  return {std::move(first), std::move(offer)};
}

std::vector<Amount> free_cores(const HostRoom& room) {
  std::vector<Amount> out;
  for (DomainIndex h = 0; h < room.free().leaves(); ++h) out.push_back(room.free().at(cpu, h));
  return out;
}

// TAS-65: no node of the rack holds it, though all of them together would.
TEST(HostRoom, APodStandsOnOneHost) {
  const HostRoom room = racks_of({{1, 1}, {2, 3}});
  EXPECT_EQ(room.pods_on(0, pod(2), {}), 0);
  EXPECT_EQ(room.lack(0, pod(2), {}), 0U) << "cpu";
  EXPECT_EQ(room.pods_on(1, pod(2), {}), 2);
  EXPECT_EQ(room.pods_on(1, pod(1), {}), 5);
  EXPECT_EQ(room.pods_on(0, {{cpu, 0}, {pods, 0}}, {}), unlimited_pods);
  EXPECT_EQ(room.pods_on(0, {{Symbol("gpu"), 1}}, {}), 0);
}

TEST(HostRoom, WhatIsLackingIsWhatNoHostHas) {
  Capacity offer(2);
  offer.add(cpu, 0, 4);
  offer.add(cpu, 1, 1);
  offer.add(pods, 0, 0);
  offer.add(pods, 1, 9);
  const HostRoom room({0, 2}, offer);
  EXPECT_EQ(room.pods_on(0, pod(2), {}), 0);
  EXPECT_EQ(room.lack(0, pod(2), {}), 1U) << "each has some host: the first lacks slots";
  EXPECT_EQ(room.lack(0, pod(5), {}), 0U);
  EXPECT_EQ(room.lack(0, {{cpu, 0}, {pods, 10}}, {}), 0U) << "what nobody asks for has no position";
  const std::vector<std::uint8_t> excluded{1, 0};
  EXPECT_EQ(room.lack(0, pod(2), excluded), 0U) << "the second has slots";
}

TEST(HostRoom, PodsStandWhereThereIsMostRoomForThem) {
  HostRoom room = racks_of({{4, 4}});
  room.take(0, pod(2), {}, 2);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{2, 2}));
  EXPECT_EQ(room.pods_on(0, pod(4), {}), 0) << "one on each host";
  room.take(0, pod(2), {}, -1);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{2, 4}));
  EXPECT_EQ(room.pods_on(0, pod(4), {}), 1);
  const std::vector<std::uint8_t> first_only{0, 1};
  room.take(0, pod(1), first_only, 2);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{2, 2})) << "who can stand on one host alone chooses before the other, which steps aside";
  room.take(0, pod(1), first_only, 5);
  EXPECT_EQ(free_cores(room)[0], -3) << "more than there is room for";
  EXPECT_EQ(room.pods_on(0, pod(1), {}), 2);
}

TEST(HostRoom, WhoLeadsStandsWhereItCostsTheOthersLeast) {
  const HostRoom room = racks_of({{4, 3}});
  EXPECT_EQ(room.pods_on(0, pod(2), {}), 3);
  EXPECT_EQ(room.pods_beside(0, pod(2), {}, pod(1), {}), 3) << "on the second";
  const std::vector<std::uint8_t> not_second{0, 1};
  EXPECT_EQ(room.pods_beside(0, pod(2), {}, pod(1), not_second), 2);
  EXPECT_EQ(room.pods_beside(0, pod(2), {}, pod(5), {}), -1);
  EXPECT_EQ(room.pods_beside(0, pod(2), not_second, pod(3), {}), 2) << "where no worker may stand";
}

TEST(HostRoom, AHostThatChangesMovesThePods) {
  HostRoom room = racks_of({{4, 4}});
  room.take(0, pod(1), {}, 4);
  room.change(cpu, 0, 1, -4);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{0, 0}));
  room.change(cpu, 0, 1, 1);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{0, 1})) << "where both have room for one, the first takes it";
  room.change(cpu, 0, 1, 3);
  EXPECT_EQ(free_cores(room), (std::vector<Amount>{2, 2}));
}

// Whatever tenants ask for, working it out has a bound; a pod that no host holds finds no room all the same.
TEST(HostRoom, OfTooManyKindsOfPodsItIsNotWorkedOut) {
  constexpr Amount kinds = 100;
  HostRoom room = racks_of({std::vector<Amount>(HostRoom::work_max / kinds, 1'000)}, 1'000);
  for (Amount n = 1; n <= kinds; ++n) room.take(0, pod(n), {}, 1);
  EXPECT_LT(room.free().at(cpu, 0), 1'000);
  const auto crowded = room.pods_on(0, pod(1'000), {});
  room.take(0, pod(kinds + 1), {}, 1);
  EXPECT_EQ(room.free().at(cpu, 0), 1'000);
  EXPECT_EQ(room.pods_on(0, pod(1'000), {}), crowded + static_cast<std::int32_t>(kinds)) << "as if nobody stood there";
  EXPECT_EQ(room.pods_on(0, pod(1'001), {}), 0);
  room.take(0, pod(kinds + 1), {}, -1);
  EXPECT_EQ(room.pods_on(0, pod(1'000), {}), crowded);
}

struct Crowd {
  PodRequest request;
  std::vector<std::uint8_t> excluded;
  std::int32_t pods = 0;
};

/// One pod after the other, from what the header says.
std::vector<Amount> plainly(const std::vector<Amount>& hosts, Amount slots, std::vector<Crowd> crowds) {
  std::sort(crowds.begin(), crowds.end(), [](const Crowd& a, const Crowd& b) {
    const auto barred = [](const Crowd& c) { return std::count(c.excluded.begin(), c.excluded.end(), 1); };
    if (barred(a) != barred(b)) return barred(a) > barred(b);
    if (a.request[0].second != b.request[0].second) return a.request[0].second > b.request[0].second;
    return a.excluded < b.excluded;
  });
  std::vector<Amount> cores = hosts, places(hosts.size(), slots);
  for (const Crowd& c : crowds)
    for (std::int32_t i = 0; i < c.pods; ++i) {
      std::size_t best = 0;
      Amount most = 0;
      for (std::size_t h = 0; h < hosts.size(); ++h) {
        const Amount room = std::max<Amount>(0, std::min(cores[h] / c.request[0].second, places[h]));
        if (c.excluded[h] == 0 && room > most) {
          most = room;
          best = h;
        }
      }
      cores[best] -= c.request[0].second;
      --places[best];
    }
  return cores;
}

// Whatever came and went in whatever order: it follows from who is there.
TEST(HostRoom, WhereTheyStandFollowsFromWhoIsThere) {
  int full = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::vector<Amount> hosts;
    for (int h = 0, n = 1 + below(5); h < n; ++h) hosts.push_back(below(12));
    const Amount slots = below(3) == 0 ? 2 : 50;
    HostRoom room = racks_of({{3, 3}, hosts}, slots);
    std::vector<Crowd> crowds;
    for (int amount = 1; amount <= 4; ++amount)
      for (int variant = 0; variant < 2; ++variant) {
        Crowd c{pod(amount), std::vector<std::uint8_t>(hosts.size()), 0};
        if (variant == 1) {
          for (auto& x : c.excluded) x = static_cast<std::uint8_t>(below(2));
          c.excluded[0] = 1;  // no two are alike
        }
        crowds.push_back(std::move(c));
      }
    for (int step = 0; step < 30; ++step) {
      Crowd& c = crowds[static_cast<std::size_t>(below(static_cast<int>(crowds.size())))];
      const std::int32_t change = below(3) == 0 ? -c.pods : below(4);
      std::vector<std::uint8_t> excluded(2);  // the other rack's
      excluded.insert(excluded.end(), c.excluded.begin(), c.excluded.end());
      const std::int32_t room_before = room.pods_on(1, c.request, excluded);
      if (change != 0) room.take(1, c.request, excluded, change);
      c.pods += change;
      full += change > room_before;
      const auto free = free_cores(room);
      ASSERT_EQ((std::vector<Amount>(free.begin(), free.begin() + 2)), (std::vector<Amount>{3, 3}));
      ASSERT_EQ((std::vector<Amount>(free.begin() + 2, free.end())), plainly(hosts, slots, crowds)) << "seed " << seed << ", step " << step;
    }
  }
  EXPECT_GT(full, 100);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing

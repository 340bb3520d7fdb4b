// The heap of a ClusterQueue: whatever is pushed, parked and woken in groups, the first is the one that a plain sort of all that waits
// would put first.

#include "admission/queue/pending_lanes.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

namespace hindsight::admission {
namespace {

struct Element {
  std::string uid;
  std::int64_t priority = 0;
  Time time;
  std::uint64_t hash = 0;
  std::size_t lane = 0;
  std::size_t place = PendingHeap<Element>::nowhere;
  PendingLanes<Element>::Group* group = nullptr;
  std::uint8_t side = 0;

  [[nodiscard]] QueueRank rank() const { return {priority, time, uid}; }
  [[nodiscard]] bool is_somewhere() const { return group != nullptr; }
};

/// The same without any structure.
struct Model {
  std::vector<double> usage;

  [[nodiscard]] const Element* first(const std::deque<Element>& all) const {
    const Element* best = nullptr;
    for (const auto& e : all)
      if (PendingLanes<Element>::waits(e) && (best == nullptr || before(e, *best))) best = &e;
    return best;
  }
  [[nodiscard]] bool before(const Element& a, const Element& b) const {
    return usage[a.lane] != usage[b.lane] ? usage[a.lane] < usage[b.lane] : a.rank().before(b.rank());
  }
};

class PendingLanesTest : public ::testing::Test {
 protected:
  explicit PendingLanesTest(std::size_t lanes = 1) : lanes_(lanes), model_{std::vector<double>(lanes)} {}

  Element& add(const std::string& uid, std::int64_t priority, std::uint64_t hash, std::size_t lane = 0) {
    all_.push_back({uid, priority, Time::from_seconds(1), hash, lane});
    push(all_.back());
    return all_.back();
  }
  void push(Element& e) { heap_.push(lanes_[e.lane], e.hash, e, e.rank()); }
  void push_parked(Element& e) { heap_.push_parked(lanes_[e.lane], e.hash, e, e.rank()); }
  void erase(Element& e) { heap_.erase(lanes_[e.lane], e); }
  void park(std::uint64_t hash, std::size_t lane = 0) { heap_.park(lanes_[lane], lanes_[lane].groups.at(hash)); }
  void wake(std::uint64_t hash, std::size_t lane = 0) { heap_.wake(lanes_[lane], lanes_[lane].groups.at(hash)); }
  std::string first() { return heap_.empty() ? "" : heap_.top().uid; }

  std::deque<PendingLanes<Element>::Lane> lanes_;
  PendingLanes<Element> heap_;
  std::deque<Element> all_;
  Model model_;
};

// BA-55: the order in which groups are visited is the one in which they lead when each is parked after its turn
TEST(PendingLanesOrder, GroupsAreVisitedAsTheyWouldLead) {
  std::mt19937 random(7);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int round = 0; round < 200; ++round) {
    const std::size_t lanes = 1 + pick(4);
    std::deque<PendingLanes<Element>::Lane> lane(lanes);
    PendingLanes<Element> heap;
    std::deque<Element> all;
    for (std::uint32_t i = 0, count = pick(60); i < count; ++i) {
      all.push_back({"w" + std::to_string(i), pick(5), Time::from_seconds(pick(3)), pick(20), pick(static_cast<std::uint32_t>(lanes))});
      Element& e = all.back();
      heap.push(lane[e.lane], e.hash, e, {e.priority, e.time, e.uid});
    }
    for (auto& l : lane) heap.weigh(l, static_cast<double>(pick(3)));
    std::vector<std::string> visited, led;
    const std::size_t enough = 1 + pick(30);
    heap.visit_groups([&](const PendingLanes<Element>::Group& group) {
      visited.push_back(group.waiting().top().uid);
      return visited.size() < enough;
    });
    while (!heap.empty() && led.size() < enough) {
      Element& e = heap.top();
      led.push_back(e.uid);
      heap.park(lane[e.lane], *e.group);
    }
    EXPECT_EQ(visited, led);
  }
}

// CA-142: one by one, in the order in which they would lead if each was taken out after its turn.
TEST(PendingLanesOrder, ElementsOfTheFirstLaneAreVisitedInTheirOrder) {
  std::mt19937 random(11);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int round = 0; round < 200; ++round) {
    PendingLanes<Element>::Lane lane, other;
    PendingLanes<Element> heap;
    std::deque<Element> all;
    for (std::uint32_t i = 0, count = pick(60); i < count; ++i) {
      all.push_back({"w" + std::to_string(i), pick(5), Time::from_seconds(pick(3)), pick(8)});
      Element& e = all.back();
      if (pick(4) == 0)
        heap.push_parked(lane, e.hash, e, e.rank());
      else
        heap.push(lane, e.hash, e, e.rank());
    }
    heap.weigh(other, 1);
    Element behind{"behind", 9, Time::from_seconds(0), 1};
    heap.push(other, behind.hash, behind, behind.rank());
    std::vector<std::string> visited, led;
    const std::size_t enough = 1 + pick(30);
    const bool any = &heap.first() == &lane;
    heap.visit_first_lane([&](const Element& e) {
      visited.push_back(e.uid);
      return visited.size() < enough;
    });
    while (any && &heap.first() == &lane && led.size() < enough) {
      Element& e = heap.top();
      led.push_back(e.uid);
      heap.erase(lane, e);
    }
    EXPECT_EQ(visited, any ? led : std::vector<std::string>{"behind"});
  }
}

// BA-55
TEST_F(PendingLanesTest, AGroupIsParkedAndWokenAsOne) {
  add("a", 9, 1);
  add("b", 8, 2);
  Element& c = add("c", 7, 1);
  EXPECT_EQ(first(), "a");
  park(1);
  EXPECT_EQ(first(), "b");
  EXPECT_TRUE(PendingLanes<Element>::is_parked(c));
  Element& d = add("d", 10, 1);
  EXPECT_EQ(first(), "d") << "what comes later waits, although equal ones are parked";
  EXPECT_TRUE(PendingLanes<Element>::waits(d));
  wake(1);
  EXPECT_EQ(first(), "d");
  erase(d);
  EXPECT_EQ(first(), "a");
  park(1);
  park(2);
  EXPECT_EQ(first(), "");
  EXPECT_TRUE(heap_.empty());
  park(2);
  EXPECT_TRUE(heap_.empty()) << "parking twice changes nothing";
  wake(2);
  EXPECT_EQ(first(), "b");
  wake(2);
  EXPECT_EQ(first(), "b") << "waking twice changes nothing";
}

TEST_F(PendingLanesTest, AGroupEndsWithItsLast) {
  Element& a = add("a", 1, 1);
  park(1);
  erase(a);
  EXPECT_TRUE(lanes_[0].groups.empty());
  push_parked(a);
  EXPECT_TRUE(heap_.empty());
  EXPECT_EQ(lanes_[0].groups.size(), 1U);
  wake(1);
  EXPECT_EQ(first(), "a");
}

class RandomLanesTest : public PendingLanesTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  RandomLanesTest() : PendingLanesTest(GetParam()) {}
};

// BA-164: the order of base-admission §3.2, with and without lanes of LocalQueues
TEST_P(RandomLanesTest, TheFirstIsThatOfASort) {
  std::mt19937 random(20261122);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::size_t hashes = 4;
  for (int i = 0; i < 60; ++i) {
    all_.push_back({"uid-" + std::to_string(i), static_cast<std::int64_t>(below(3)),
                    Time::from_seconds(static_cast<std::int64_t>(below(4))), below(hashes), below(lanes_.size())});
  }
  for (int step = 0; step < 20'000; ++step) {
    Element& e = all_[below(all_.size())];
    const std::size_t lane = below(lanes_.size());
    const std::uint64_t hash = below(hashes);
    switch (below(6)) {
      case 0:
      case 1:
        if (e.is_somewhere())
          erase(e);
        else
          push(e);
        break;
      case 2:
        if (!e.is_somewhere()) push_parked(e);
        break;
      case 3:
        if (!lanes_[lane].groups.contains(hash)) break;
        park(hash, lane);
        for (const auto& x : all_) ASSERT_FALSE(x.lane == lane && x.hash == hash && PendingLanes<Element>::waits(x));
        break;
      case 4:
        if (!lanes_[lane].groups.contains(hash)) break;
        wake(hash, lane);
        for (const auto& x : all_) ASSERT_FALSE(x.lane == lane && x.hash == hash && PendingLanes<Element>::is_parked(x));
        break;
      default:
        model_.usage[lane] = static_cast<double>(below(3));
        heap_.weigh(lanes_[lane], model_.usage[lane]);
    }
    const Element* expected = model_.first(all_);
    ASSERT_EQ(first(), expected == nullptr ? "" : expected->uid) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, RandomLanesTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace hindsight::admission

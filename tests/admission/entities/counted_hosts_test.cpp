// Random histories of a topology without hosts whose nodes count one by one (TAS-65, hindsight.topologyCapacity: Nodes): nobody is admitted
// whom no node can hold, and what is decided follows from the records alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fleet.hpp"

namespace hindsight::admission::testing {
namespace {

struct History {
  std::vector<std::string> decided;
  std::uint64_t hash = 0;
  std::size_t placed = 0, preempted = 0;
};

/// `split`: halfway a second domain begins from a snapshot and follows the records; it must come to the same.
History play(std::uint32_t seed, bool count_hosts, LoopDriver::Order order = {}, bool split = false) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Fleet w(order);
  Settings settings;
  settings.count_hosts = count_hosts;
  w.configure(settings);
  w.set_up(40'000, PreemptionPolicy::lower_priority);
  w.topology({"block", "rack"});
  std::map<std::string, Fleet::Node> nodes;
  std::map<std::string, Amount> sizes;
  std::set<std::string> live;
  History out;
  auto copy = std::make_unique<Fleet>();
  copy->use(settings);
  const auto settle = [&] {
    for (int steps = 0;; ++steps) {
      if (steps == 500) throw std::runtime_error("the domain does not come to rest");
      const auto step = w.driver().decide();
      if (!step) return;
      w.observe_decision(*step);
      for (const Event& e : step->events) {
        if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
          out.decided.push_back("preempted " + std::string(p->workload.name));
          ++out.preempted;
        }
        const auto* q = std::get_if<QuotaReserved>(&e);
        if (q == nullptr) continue;
        const std::string name(q->workload.name);
        out.decided.push_back("placed " + name + " " + w.places(name));
        ++out.placed;
        for (const auto& d : q->assignments[0].topology) {
          std::int64_t room = 0;  // of this rack, for pods of this size, if nobody else were there
          for (const auto& [node, n] : nodes)
            if (n.block == d.values[0] && n.rack == d.values[1] && n.ready && !n.unschedulable) room += n.cores * 1'000 / sizes[name];
          if (count_hosts) {
            EXPECT_LE(d.count, room) << "seed " << seed << ": " << name;
          }
        }
      }
    }
  };
  int next = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string node = "n" + std::to_string(below(8));
    switch (below(7)) {
      case 0:
      case 1: {
        const Fleet::Node n{"b" + std::to_string(below(2)), "r" + std::to_string(below(2)), 1 + below(5), below(6) != 0, below(8) == 0};
        nodes[node] = n;
        w.node(node, n);
        break;
      }
      case 2:
        if (below(3) == 0 && nodes.erase(node) != 0)
          w.node_gone(node);
        else
          w.used(node, below(3));
        break;
      case 3:
        if (!live.empty()) {
          const auto it = std::next(live.begin(), below(static_cast<std::uint32_t>(live.size())));
          if (!w.state(*it).reserved()) break;
          w.finish(*it);
          live.erase(it);
        }
        break;
      default: {
        const std::string name = "w" + std::to_string(next++);
        Ask ask;
        (below(3) == 0 ? ask.preferred : ask.required) = below(3) == 0 ? "block" : "rack";
        sizes[name] = 1'000 * static_cast<Amount>(1 + below(4));
        live.insert(name);
        w.observe(w.gang(name, static_cast<std::int32_t>(1 + below(4)), sizes[name], ask, static_cast<std::int32_t>(below(3))));
      }
    }
    w.tick(Duration::millis(400));
    settle();
    if (split && round == 30) {
      const auto read = SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy->driver());
      EXPECT_TRUE(read) << read.error().message;
      w.on_record = [&](const RecordView& record) { ASSERT_TRUE(copy->driver().apply(record)); };
    }
    if (split && round >= 30) {
      EXPECT_EQ(copy->driver().state_hash(), w.driver().state_hash()) << seed;
      EXPECT_FALSE(copy->driver().decide()) << seed << ": the other one has decided everything";
    }
  }
  out.hash = w.driver().state_hash();
  return out;
}

// TAS-65
TEST(CountedHosts, NobodyIsAdmittedWhomNoNodeCanHold) {
  std::size_t placed = 0, preempted = 0, differ = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto h = play(seed, true);
    placed += h.placed;
    preempted += h.preempted;
    differ += h.decided != play(seed, false).decided;
  }
  EXPECT_GT(placed, 400U);
  EXPECT_GT(preempted, 40U);
  EXPECT_GT(differ, 30U) << "sums admit others";
}

// TAS-65, TAS-63
TEST(CountedHosts, DecisionsFollowFromTheRecords) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed + 99);
    const auto plain = play(seed, true);
    const auto other = play(
        seed, true, [&](std::size_t n) { return random() % n; }, true);
    EXPECT_EQ(other.decided, plain.decided) << seed;
    EXPECT_EQ(other.hash, plain.hash) << seed;
  }
}

}  // namespace
}  // namespace hindsight::admission::testing

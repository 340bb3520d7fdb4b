// Which queue belongs to which tree: what is kept up to date step by step is what a fresh look at everything gives.

#include <gtest/gtest.h>

#include <random>

#include "admission/model/catalog_view.hpp"

namespace hindsight::admission {
namespace {

std::shared_ptr<const QueueConfig> queue_in(Symbol name, Symbol cohort) {
  QueueConfig c;
  c.name = name;
  c.cohort = cohort;
  return std::make_shared<const QueueConfig>(std::move(c));
}

std::shared_ptr<const CohortConfig> cohort_in(Symbol name, Symbol parent) {
  return std::make_shared<const CohortConfig>(CohortConfig{name, parent, {}, 1'000'000'000});
}

/// The root by the definition: up the chain of parents, or nothing in a circle.
Symbol slow_root(const Catalog& c, Symbol queue) {
  Symbol at = c.queue(queue)->cohort;
  if (at.empty()) return queue;
  std::set<Symbol, ByText> seen;
  while (seen.insert(at).second) {
    const auto it = c.cohorts.find(at);
    if (it == c.cohorts.end() || it->second->parent.empty()) return at;
    at = it->second->parent;
  }
  return {};
}

std::string text_of(Symbol s) { return std::string(s.text()); }

void expect_exact(const Catalog& c) {
  ASSERT_EQ(c.roots.size(), c.queues.size());
  std::map<std::string, std::set<std::string>> members;
  for (const auto& [name, config] : c.queues) {
    EXPECT_EQ(text_of(c.root_of(name)), text_of(slow_root(c, name))) << text_of(name);
    members[text_of(slow_root(c, name))].insert(text_of(name));
  }
  for (const auto& [root, expected] : members) {
    std::set<std::string> found;
    for (const Symbol& q : c.members(Symbol(root))) found.insert(text_of(q));
    EXPECT_EQ(found, expected) << root;
  }
}

// BA-37, BA-38, BA-39
TEST(CatalogTrees, StayAsAFreshLookAtAllQueuesGivesThem) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    std::vector<Symbol> cohorts{Symbol()}, queues;
    for (int i = 0; i < 6; ++i) cohorts.emplace_back("cohort-" + std::to_string(i));
    for (int i = 0; i < 8; ++i) queues.emplace_back("queue-" + std::to_string(i));
    Catalog c;
    for (int step = 0; step < 60; ++step) {
      const Symbol cohort = cohorts[1 + pick(cohorts.size() - 1)];
      const Symbol queue = queues[pick(queues.size())];
      const auto before = c.roots;
      std::vector<Catalog::Root> changes;
      switch (pick(5)) {
        case 0:
        case 1:
          c.put_cohort(cohort_in(cohort, cohorts[pick(cohorts.size())]));  // circles included
          changes = c.refresh_roots_below(cohort);
          break;
        case 2:
          c.erase_cohort(cohort);
          changes = c.refresh_roots_below(cohort);
          break;
        case 3:
          c.put_queue(queue_in(queue, cohorts[pick(cohorts.size())]));
          changes.push_back(c.refresh_root(queue));
          break;
        default:
          if (c.queue(queue) == nullptr) continue;
          c.erase_queue(queue);
          break;
      }
      expect_exact(c);
      // every queue whose root is another now was told of
      for (const auto& [name, root] : c.roots) {
        const auto old = before.find(name);
        if (old != before.end() && old->second == root) continue;
        const auto told =
            std::find_if(changes.begin(), changes.end(), [&, queue = name](const Catalog::Root& r) { return r.queue == queue; });
        ASSERT_NE(told, changes.end()) << text_of(name);
        EXPECT_TRUE(told->changed);
        EXPECT_EQ(text_of(told->after), text_of(root));
        EXPECT_EQ(text_of(told->before), old == before.end() ? "" : text_of(old->second));
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
    const auto roots = c.roots;
    (void)c.refresh_roots();
    EXPECT_EQ(roots, c.roots) << "seed " << seed;
  }
}

TEST(CatalogTrees, LocalQueuesAreFoundByTheirClusterQueue) {
  Catalog c;
  const auto put = [&](const char* ns, const char* name, const char* queue) {
    c.put_local_queue({Symbol(ns), Symbol(name), Symbol(queue), StopPolicy::none, false, 1});
  };
  put("a", "x", "q1");
  put("b", "x", "q1");
  put("b", "y", "q2");
  EXPECT_EQ(c.local_queues_of(Symbol("q1")).size(), 2U);
  put("b", "x", "q2");  // made anew with another target
  EXPECT_EQ(c.local_queues_of(Symbol("q1")).size(), 1U);
  EXPECT_EQ(c.local_queues_of(Symbol("q2")).size(), 2U);
  c.erase_local_queue(Symbol("b"), Symbol("x"));
  c.erase_local_queue(Symbol("b"), Symbol("x"));
  c.erase_local_queue(Symbol("b"), Symbol("y"));
  EXPECT_TRUE(c.local_queues_of(Symbol("q2")).empty());
  EXPECT_EQ(c.local_queues.size(), 1U);
}

}  // namespace
}  // namespace hindsight::admission

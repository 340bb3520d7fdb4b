// Over random histories: reasons add up to all who wait, and what is said of a cohort is the sum over its queues. HINDSIGHT_TOP_SEEDS: how
// many histories; HINDSIGHT_SEED: only this one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "admission/domain/domain.hpp"
#include "projections/families.hpp"
#include "projections/top.hpp"
#include "projections/why_queue.hpp"
#include "tests/explorer/explorer.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::projections {
namespace {

std::uint64_t count_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct LookedAt {
  std::size_t waiters = 0, reasons = 0, cohorts = 0, used = 0;
};

std::string reasons_add_up(const StateView& state, LookedAt& looked) {
  std::size_t all = 0, pending = 0;
  for (const auto& at : all_workloads(state)) {
    const auto phase = phase_of(*at.workload);
    if (parent_of(at) != nullptr) continue;
    if (phase == Phase::pending || phase == Phase::quota_reserved || phase == Phase::inactive) ++all;
    if (phase == Phase::pending) ++pending;
  }
  const Waiters waiters = waiters_of(state);
  for (const bool by_queue : {false, true}) {
    std::size_t sum = 0;
    for (const auto& count : count_reasons(
             waiters, [](const Waiter&) { return true; }, by_queue)) {
      sum += count.workloads;
      if (waiters.reasons[count.reason].reason.empty()) return "a reason without a name, of " + count.example;
    }
    if (sum != all) return "reasons of " + std::to_string(sum) + ", and " + std::to_string(all) + " wait";
  }
  std::size_t in_queues = 0;
  for (const auto& row : top_of(state, TopKind::cluster_queues, TopOrder::name).rows) in_queues += row.pending;
  for (const auto& x : waiters.all)
    if (x.phase == Phase::pending && x.queue.empty()) ++in_queues;
  if (in_queues != pending) return "queues have " + std::to_string(in_queues) + ", and " + std::to_string(pending) + " are pending";
  looked.waiters += all;
  looked.reasons += waiters.reasons.size();
  return {};
}

std::string cohorts_add_up(const StateView& state, LookedAt& looked) {
  struct Sum {
    std::size_t pending = 0;
    std::map<std::string, Amount> used;
  };
  const auto pair = [](const TopQuota& q) { return std::string(q.flavor.text()) + "/" + std::string(q.resource.text()); };
  std::map<std::string, Sum> sums;
  for (const auto& row : top_of(state, TopKind::cluster_queues, TopOrder::name).rows)
    for (const auto& cohort : cohorts_above(state, Symbol(row.name))) {
      Sum& sum = sums[std::string(cohort.text())];
      sum.pending += row.pending;
      for (const auto& q : row.quota) sum.used[pair(q)] = add(sum.used[pair(q)], q.used);
    }
  for (const auto& row : top_of(state, TopKind::cohorts, TopOrder::name).rows) {
    if (tree_of_cohort(state, Symbol(row.name)) == nullptr) continue;  // below a cycle nobody uses anything
    ++looked.cohorts;
    Sum& sum = sums[row.name];
    if (row.pending != sum.pending) return "Cohort " + row.name + " has " + std::to_string(row.pending) + " pending";
    for (const auto& q : row.quota) {
      if (sum.used[pair(q)] != q.used) return "Cohort " + row.name + " uses " + std::to_string(q.used) + " of " + pair(q);
      sum.used.erase(pair(q));
      looked.used += q.used > 0 ? 1 : 0;
    }
    for (const auto& [name, used] : sum.used)
      if (used != 0) return "Cohort " + row.name + " does not say that " + std::to_string(used) + " of " + name + " is used";
  }
  return {};
}

/// Every list of users adds up to its total, and the explanation of each queue to those who wait there.
std::string explanations_add_up(const StateView& state) {
  const Top top = top_of(state, TopKind::cluster_queues, TopOrder::name);
  for (const auto& row : top.rows) {
    const auto why = explain_queue(state, {QueueTarget::Kind::cluster_queue, {}, row.name});
    if (!why) return why.error().message;
    if (to_text(*why).empty()) return "nothing is said of " + row.name;
    for (const auto& pair : why->scarce) {
      Amount sum = add(pair.amount_left_out, pair.own ? pair.own->used : 0);
      for (const auto& other : pair.others) sum = add(sum, other.used);
      Amount used = 0;
      const auto tree = queues_of_tree(state, Symbol(row.name));
      for (const auto& other : top.rows)
        if (std::find(tree.begin(), tree.end(), Symbol(other.name)) != tree.end())
          for (const auto& q : other.quota)
            if (q.flavor == pair.flavor && q.resource == pair.resource) used = add(used, q.used);
      if (used != pair.total) return "users of " + row.name + " have " + std::to_string(pair.total) + ", and not " + std::to_string(used);
      if (sum != pair.total) return "users of " + row.name + " have " + std::to_string(sum) + " of " + std::to_string(pair.total);
    }
    std::size_t reasons = 0;
    for (const auto& count : why->reasons) reasons += count.workloads;
    if (reasons != why->waiters.all.size()) return "reasons of " + row.name + " are " + std::to_string(reasons);
  }
  return {};
}

TEST(TopProperty, SumsAddUpWhateverHappened) {
  const std::uint64_t only = count_from("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t seeds = only != 0 ? 1 : count_from("HINDSIGHT_TOP_SEEDS", as_much_as<std::uint64_t>(120, 20));
  LookedAt looked;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const auto kind = seed % 4 == 0 ? explorer::Explorer::Kind::families : explorer::Explorer::Kind::jobs;
    explorer::Explorer history(seed, kind);
    std::size_t rests = 0;
    history.look_when_at_rest([&](const admission::LoopDriver& state) {
      if (rests++ % 4 != 0) return std::string();
      std::string finding = reasons_add_up(state, looked);
      if (finding.empty()) finding = cohorts_add_up(state, looked);
      if (finding.empty() && rests % 16 == 1) finding = explanations_add_up(state);
      return finding;
    });
    ASSERT_EQ(history.run(), "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front();
  }
  if (only != 0) return;
  EXPECT_GT(looked.waiters, 200U);
  EXPECT_GT(looked.reasons, 100U);
  EXPECT_GT(looked.cohorts, 50U);
  EXPECT_GT(looked.used, 20U);
}

}  // namespace
}  // namespace hindsight::projections

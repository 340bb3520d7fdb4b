// Options of a family in one cycle: those of a queue that tries a family as one, and upgrades whose queue rules something out.

#include <iterator>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

/// An Option of family F, "F-FLAVOR", that may be assigned this flavor only.
Work option(std::string_view flavor, std::uint32_t rank, std::int64_t cores, bool gated = false) {
  Work w("F-" + std::string(flavor), "q");
  w.cpu(cores);
  OptionInfo info;
  info.family = "uid-F";
  info.parent = 1000;
  info.rank = rank;
  info.gated = gated;
  w.info->option = std::make_shared<const OptionInfo>(std::move(info));
  w.info->allowed = std::make_shared<const std::vector<Symbol>>(std::vector<Symbol>{Symbol(flavor)});
  return w;
}

/// Offers the Options as one, the best first.
void pend_family(World& w, const std::vector<Work>& options) {
  const auto first = static_cast<std::ptrdiff_t>(w.heads.size());
  for (const Work& o : options) w.pend(o);
  const auto rest = w.heads.begin() + first + 1;
  w.heads[static_cast<std::size_t>(first)].siblings.assign(std::make_move_iterator(rest), std::make_move_iterator(w.heads.end()));
  w.heads.erase(w.heads.begin() + first + 1, w.heads.end());
}

// CA-142
TEST(FamilyInOneCycle, ASiblingIsTriedWhenTheOneBeforeItFails) {
  World w({QueueSpec("q").cpu("a", 1).cpu("b", 2).cpu("c", 4).cpu("d", 4)});
  pend_family(w, {option("a", 0, 4), option("b", 1, 4), option("c", 2, 4), option("d", 3, 4)});
  w.cycle();
  EXPECT_EQ(w.verdict("F-a"), "ExceedsMaxQuota");
  EXPECT_EQ(w.verdict("F-b"), "ExceedsMaxQuota");
  EXPECT_EQ(w.verdict("F-c"), "admit c");
  EXPECT_TRUE(w.of("F-a").sibling_served);
  EXPECT_TRUE(w.of("F-b").sibling_served);
  EXPECT_EQ(w.outcomes.size(), 3U) << "the one behind it had no turn";
  EXPECT_LT(w.of("F-a").turn, w.of("F-c").turn);
}

// CA-142
TEST(FamilyInOneCycle, ASiblingIsTriedWhenTheOneBeforeItLosesItsRoomToAnotherQueue) {
  World w({QueueSpec("q", "all").cpu("a", 0).cpu("b", 4), QueueSpec("other", "all").cpu("a", 4)});
  w.pend(Work("w", "other").cpu(4));
  pend_family(w, {option("a", 0, 4), option("b", 1, 4)});
  w.cycle();
  EXPECT_EQ(w.verdict("w"), "admit a");
  EXPECT_EQ(w.verdict("F-a"), "WaitingForQuota");
  EXPECT_EQ(w.of("F-a").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.verdict("F-b"), "admit b");
  EXPECT_TRUE(w.of("F-a").sibling_served);
  EXPECT_EQ(w.outcomes.size(), 3U);
}

// CA-142
TEST(FamilyInOneCycle, EachIsToldWhereNoneFits) {
  World w({QueueSpec("q").cpu("a", 4).cpu("b", 2)});
  w.run(Work("x", "q").cpu(2), "a");
  pend_family(w, {option("a", 0, 4), option("b", 1, 4)});
  w.cycle();
  EXPECT_EQ(w.verdict("F-a"), "WaitingForQuota");
  EXPECT_EQ(w.verdict("F-b"), "ExceedsMaxQuota");
  EXPECT_FALSE(w.of("F-a").sibling_served);
  EXPECT_FALSE(w.of("F-b").sibling_served);
  EXPECT_EQ(w.outcomes.size(), 2U);
}

// CA-142, CA-72: a family in which each has to preempt learns that in one cycle; one that need not does not wait for the right.
TEST(FamilyInOneCycle, AClosedGateHoldsBackNoSibling) {
  World w({QueueSpec("q").cpu("a", 4).cpu("b", 4).cpu("c", 4).within(PreemptionPolicy::lower_priority)});
  w.run(Work("x", "q").cpu(4).priority(-1), "a");
  w.run(Work("y", "q").cpu(4).priority(-1), "b");
  pend_family(w, {option("a", 0, 4, true), option("b", 1, 4, true)});
  w.cycle();
  EXPECT_EQ(w.verdict("F-a"), "AdmissionGated");
  EXPECT_EQ(w.verdict("F-b"), "AdmissionGated");
  EXPECT_EQ(w.of("F-a").requeue_reason, RequeueReason::preemption_gated);

  pend_family(w, {option("a", 0, 4, true), option("b", 1, 4, true), option("c", 2, 4, true)});
  w.cycle();
  EXPECT_EQ(w.verdict("F-a"), "AdmissionGated");
  EXPECT_EQ(w.verdict("F-c"), "admit c");

  pend_family(w, {option("a", 0, 4, false), option("b", 1, 4, true), option("c", 2, 4, true)});
  w.cycle();
  EXPECT_EQ(w.victims("F-a"), "x(InClusterQueue)") << "the best one goes first, also by preemption";
  EXPECT_EQ(w.outcomes.size(), 1U);
}

// CA-142: what one of the family is rejected for need not hold for the others.
TEST(FamilyInOneCycle, ARejectedOneHoldsBackNoSibling) {
  World w({QueueSpec("q").cpu("a", 4).cpu("b", 4)});
  Work failed = option("a", 0, 4);
  failed.info->failed_checks = true;
  pend_family(w, {failed, option("b", 1, 4)});
  w.cycle();
  EXPECT_EQ(w.of("F-a").message, "The workload has failed admission checks");
  EXPECT_EQ(w.verdict("F-b"), "admit b");
}

/// F runs on `flavor` of queue q.
WorkloadId run_option(World& w, std::string_view flavor, std::int64_t amount) {
  Work running = option(flavor, 9, amount);
  running.info->id = 500;
  Reservation r;
  r.workload = running.info;
  r.pod_sets = {{Symbol("main"), 1, {{Symbol("cpu"), Symbol(flavor)}}, {{Symbol("cpu"), cores(amount)}}}};
  r.charges.push_back({Symbol(flavor), Symbol("cpu"), cores(amount)});
  w.tree.reserve(Symbol("q"), std::move(r));
  return 500;
}

Work upgrade(std::string_view flavor, std::int64_t amount, WorkloadId running) {
  Work w = option(flavor, 0, amount);
  OptionInfo info = *w.info->option;
  info.running = running;
  w.info->option = std::make_shared<const OptionInfo>(std::move(info));
  return w;
}

std::vector<QueueSpec> cohort_of(UpgradeFungibility upgrades) {
  QueueSpec q = QueueSpec("q", "all").cpu("a", 0).cpu("b", 4).within(PreemptionPolicy::lower_priority);
  q.config.concurrent.upgrades = upgrades;
  return {q, QueueSpec("other", "all").cpu("a", 4).cpu("b", 4)};
}

// CA-146
TEST(UpgradeFungibility, NoBorrowingHoldsBackAnUpgradeThatWouldBorrow) {
  using enum UpgradeFungibility;
  for (const auto upgrades : {always, no_preemption, no_borrowing}) {
    World w(cohort_of(upgrades));
    w.pend(upgrade("a", 4, run_option(w, "b", 4))).cycle();
    if (upgrades != no_borrowing) {
      EXPECT_EQ(w.of("F-a").kind, Outcome::Kind::migrate);
      continue;
    }
    EXPECT_EQ(w.verdict("F-a"), "WaitingForQuota");
    EXPECT_EQ(
        w.of("F-a").message,
        "couldn't assign flavors to pod set main: flavor a has room only by borrowing cpu, which upgradeFungibility NoBorrowing rules "
        "out while another Option is admitted, skipping flavor b due to WorkloadAllowedResourceFlavorAnnotation annotation");
    World first(cohort_of(upgrades));
    first.pend(option("a", 0, 4)).cycle();
    EXPECT_EQ(first.verdict("F-a"), "admit a") << "it is no upgrade";
  }
}

// CA-146
TEST(UpgradeFungibility, NoPreemptionHoldsBackAnUpgradeThatWouldPreempt) {
  using enum UpgradeFungibility;
  for (const auto upgrades : {always, no_preemption, no_borrowing}) {
    const auto world = [&] {
      QueueSpec q = QueueSpec("q").cpu("a", 4).cpu("b", 4).within(PreemptionPolicy::lower_priority);
      q.config.concurrent.upgrades = upgrades;
      World w({q});
      w.run(Work("x", "q").cpu(4).priority(-1), "a");
      return w;
    };
    World w = world();
    w.pend(upgrade("a", 4, run_option(w, "b", 4))).cycle();
    if (upgrades != no_preemption) {
      EXPECT_EQ(w.victims("F-a"), "x(InClusterQueue)");
      continue;
    }
    EXPECT_EQ(w.victims("F-a"), "");
    EXPECT_EQ(w.verdict("F-a"), "WaitingForQuota");
    EXPECT_EQ(w.of("F-a").message,
              "couldn't assign flavors to pod set main: flavor a has room only by preemption, which upgradeFungibility NoPreemption rules "
              "out while another Option is admitted, insufficient unused quota for cpu in flavor a, 4 more needed, skipping flavor b "
              "due to WorkloadAllowedResourceFlavorAnnotation annotation");
    World first = world();
    first.pend(option("a", 0, 4)).cycle();
    EXPECT_EQ(first.victims("F-a"), "x(InClusterQueue)") << "it is no upgrade";
  }
}

// CA-146, CA-90: an upgrade of several flavors is assigned one on which nothing is ruled out.
TEST(UpgradeFungibility, AnotherFlavorOfTheOptionIsTried) {
  using enum UpgradeFungibility;
  for (const auto upgrades : {always, no_borrowing}) {
    QueueSpec q = QueueSpec("q", "all").cpu("a", 0).cpu("b", 4).cpu("c", 4);
    q.config.concurrent.upgrades = upgrades;
    World w({q, QueueSpec("other", "all").cpu("a", 4)});
    Work better = upgrade("a", 4, run_option(w, "c", 4));
    better.info->allowed = std::make_shared<const std::vector<Symbol>>(std::vector<Symbol>{Symbol("a"), Symbol("b")});
    w.pend(better).cycle();
    EXPECT_EQ(w.verdict("F-a"), upgrades == always ? "admit a" : "admit b");
  }
}

// CA-146, CA-46: with checks both hold quota for a while, and that must not be borrowed either.
TEST(UpgradeFungibility, NoBorrowingCountsWhatTheAdmittedOptionHolds) {
  using enum UpgradeFungibility;
  for (const auto upgrades : {always, no_borrowing}) {
    QueueSpec q = QueueSpec("q", "all").quota({"gpu"}, "a", {{8, {}, {}}}).quota({"gpu"}, "b", {{8, {}, {}}}).cpu("s", 4);
    q.config.concurrent.upgrades = upgrades;
    q.config.checks.push_back({Symbol("check"), {Symbol("a")}});
    World w({q, QueueSpec("other", "all").cpu("s", 4)});
    Work running("F-b", "q");
    running.pods("main", 1, {{"cpu", cores(3)}, {"gpu", 1}});
    running.info->id = 500;
    Reservation r;
    r.workload = running.info;
    r.pod_sets = {
        {Symbol("main"), 1, {{Symbol("cpu"), Symbol("s")}, {Symbol("gpu"), Symbol("b")}}, {{Symbol("cpu"), cores(3)}, {Symbol("gpu"), 1}}}};
    r.charges = {{Symbol("b"), Symbol("gpu"), 1}, {Symbol("s"), Symbol("cpu"), cores(3)}};
    w.tree.reserve(Symbol("q"), std::move(r));
    Work better = upgrade("a", 3, 500);
    better.info->pod_sets.change([](auto& pod_sets) { pod_sets.front().requests.push_back({Symbol("gpu"), 1}); });
    better.info->allowed = std::make_shared<const std::vector<Symbol>>(std::vector<Symbol>{Symbol("a"), Symbol("s")});
    w.pend(better).cycle();
    if (upgrades == always) {
      EXPECT_EQ(w.of("F-a").kind, Outcome::Kind::admit) << "it has its quota beside the other one, and its checks run";
      continue;
    }
    EXPECT_EQ(w.verdict("F-a"), "WaitingForQuota");
    EXPECT_EQ(w.of("F-a").message,
              "There is room beside the admitted Option only by borrowing, which upgradeFungibility NoBorrowing rules out");
  }
}

}  // namespace
}  // namespace hindsight::admission::testing

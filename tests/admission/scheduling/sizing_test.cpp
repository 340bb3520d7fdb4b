// Which sizes a workload with bounded containers is given (5440 MR-41, MR-42, MR-44, MR-58).

#include "admission/scheduling/sizing.hpp"

#include <random>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission {
namespace {

using testing::cores;
using testing::QueueSpec;
using testing::Work;
using testing::World;

const Symbol cpu("cpu");
const Symbol gpu("nvidia.com/gpu");

SizedResource bounded(Symbol resource, Amount value, Amount low, Amount high, Amount step) {
  return {resource, value, std::nullopt, low, high, step};
}

/// One pod whose only container asks for 8 cpu (2 to 8 by 2) and 4 gpus (1 to 4 by 1).
Work train(ResourcePolicy policy = ResourcePolicy::shrink, Amount max_gpus = 4) {
  Work w("train", "q");
  w.pods("main", 1, {{"cpu", cores(8)}, {"nvidia.com/gpu", 4}});
  auto sizing = std::make_shared<SizingInfo>();
  sizing->policy = policy;
  sizing->pod_sets.push_back(
      {w.info->pod_sets[0].requests,
       {{"t", ContainerRole::main, {bounded(cpu, cores(8), cores(2), cores(8), cores(2)), bounded(gpu, 4, 1, max_gpus, 1)}}},
       false});
  w.info->sizing = sizing;
  return w;
}

World world(std::int64_t free_cpu, Amount free_gpus) {
  QueueSpec q("q");
  q.quota({"cpu", "nvidia.com/gpu"}, "f", {{cores(free_cpu), {}, {}}, {free_gpus, {}, {}}});
  q.within(PreemptionPolicy::lower_priority);
  return World({q});
}

/// "cpu/gpu" that it is admitted with; empty: it is not.
std::string admitted(World& w, const std::string& name = "train") {
  w.cycle();
  const auto& o = w.of(name);
  if (o.kind != Outcome::Kind::admit) return "";
  std::string out;
  for (const auto& [resource, amount] : o.assignment.at(0).usage)
    out += (out.empty() ? "" : "/") + std::to_string(resource == cpu ? amount / 1000 : amount);
  return out;
}

// MR-41: the worked example, step by step.
TEST(SizeSearch, TheWorkedExample) {
  const auto with = [](std::int64_t free_cpu, Amount free_gpus) {
    World w = world(free_cpu, free_gpus);
    w.pend(train());
    return admitted(w);
  };
  EXPECT_EQ(with(100, 4), "8/4");
  EXPECT_EQ(with(100, 2), "8/2") << "two steps down, and cpu up again";
  EXPECT_EQ(with(3, 1), "2/1");
  EXPECT_EQ(with(100, 0), "");
  EXPECT_EQ(with(1, 4), "");
  EXPECT_EQ(with(5, 100), "4/4");
}

// MR-41, MR-42: the plan names what differs, in the order of the template.
TEST(SizeSearch, ThePlanNamesWhatDiffers) {
  World w = world(5, 2);
  w.pend(train());
  ASSERT_EQ(admitted(w), "4/2");
  EXPECT_EQ(w.of("train").plan, (SizingPlan{{Symbol("main"), "t", cpu, cores(8), cores(4)}, {Symbol("main"), "t", gpu, 4, 2}}));
  World all = world(100, 100);
  all.pend(train());
  ASSERT_EQ(admitted(all), "8/4");
  EXPECT_TRUE(all.of("train").plan.empty());
}

// MR-41, MR-58: smaller sizes go before preemption; when none fits, preemption goes on with the job's own.
TEST(SizeSearch, SmallerGoesBeforePreemption) {
  World w = world(100, 4);
  Work low("low", "q");
  w.run(low.pods("main", 1, {{"nvidia.com/gpu", 2}}).priority(-1));
  w.pend(train());
  EXPECT_EQ(admitted(w), "8/2");
  World full = world(100, 4);
  Work all("low", "q");
  full.run(all.pods("main", 1, {{"nvidia.com/gpu", 4}}).priority(-1));
  full.pend(train());
  EXPECT_EQ(admitted(full), "");
  EXPECT_EQ(full.victims("train"), "low(InClusterQueue)");
}

// MR-41: upwards only where nobody else is pending, and only with policy Fit.
TEST(SizeSearch, FitGrowsWhenAlone) {
  const auto with = [](ResourcePolicy policy, bool alone, Amount free_gpus) {
    World w = world(100, free_gpus);
    w.pend(train(policy, 6));
    w.heads[0].alone = alone;
    return admitted(w);
  };
  EXPECT_EQ(with(ResourcePolicy::fit, true, 100), "8/6");
  EXPECT_EQ(with(ResourcePolicy::fit, true, 5), "8/5");
  EXPECT_EQ(with(ResourcePolicy::fit, true, 3), "8/3") << "it shrinks, too";
  EXPECT_EQ(with(ResourcePolicy::fit, false, 100), "8/4");
  EXPECT_EQ(with(ResourcePolicy::shrink, true, 100), "8/4");
}

// MR-42: a limit that equals the request follows it, another one stays.
TEST(Sizes, LimitsThatAreEqualStayEqual) {
  std::vector<SizedPart> parts{{"a", ContainerRole::main, {{cpu, 4000, 4000, 0, 0, 1}, {gpu, std::nullopt, 2, 0, 0, 1}}},
                               {"b", ContainerRole::main, {{cpu, 4000, 6000, 0, 0, 1}}}};
  const Symbol main("main");
  const auto sized = with_sizes(parts, {{main, "a", cpu, 4000, 2000}, {main, "a", gpu, 2, 1}, {main, "b", cpu, 4000, 1000}}, main);
  EXPECT_EQ(sized[0].amounts[0].request, 2000);
  EXPECT_EQ(sized[0].amounts[0].limit, 2000);
  EXPECT_EQ(sized[0].amounts[1].request, std::nullopt);
  EXPECT_EQ(sized[0].amounts[1].limit, 1);
  EXPECT_EQ(sized[1].amounts[0].request, 1000);
  EXPECT_EQ(sized[1].amounts[0].limit, 6000);
}

// MR-44: init steps, sidecars and overhead count as they do for every pod.
TEST(Sizes, TheRequestOfAPodFollowsItsContainers) {
  const Symbol main("main");
  const std::vector<SizedPart> parts{{"c", ContainerRole::main, {bounded(cpu, 4000, 1000, 4000, 1000)}},
                                     {"side", ContainerRole::sidecar, {bounded(cpu, 1000, 1000, 1000, 0)}},
                                     {"step", ContainerRole::init, {bounded(cpu, 3000, 3000, 3000, 0)}}};
  const auto of = [&](Amount c) {  // 500 of overhead
    return sized_requests(std::vector<ResourceRequest>{{cpu, 5500}}, parts, {{main, "c", cpu, 4000, c}}, main).at(0).amount;
  };
  EXPECT_EQ(of(4000), 5500);
  EXPECT_EQ(of(3500), 5000);
  EXPECT_EQ(of(3000), 4500);
  EXPECT_EQ(of(1000), 4500) << "the init step asks for as much";
}

// MR-41: what is found fits, keeps to the bounds and to whole steps, cannot be raised by a single step anywhere, and is the same again.
TEST(SizeSearch, FindsAMaximalPlanWithinTheBounds) {
  std::mt19937_64 random(5440);
  const auto below = [&](std::uint64_t n) { return static_cast<Amount>(random() % n); };
  int planned = 0;
  for (int round = 0; round < 300; ++round) {
    Work w("train", "q");
    const Amount cpus = 1000 * (1 + below(12)), gpus = 1 + below(8);
    w.pods("main", static_cast<std::int32_t>(1 + below(3)), {{"cpu", cpus}, {"nvidia.com/gpu", gpus}});
    auto sizing = std::make_shared<SizingInfo>();
    sizing->policy = ResourcePolicy::shrink;
    const Amount low_cpu = 1000 * below(4), step_cpu = 500 * (1 + below(4)), low_gpu = below(3), step_gpu = 1 + below(2);
    sizing->pod_sets.push_back(
        {w.info->pod_sets[0].requests,
         {{"t", ContainerRole::main, {bounded(cpu, cpus, low_cpu, cpus, step_cpu), bounded(gpu, gpus, low_gpu, gpus, step_gpu)}}},
         false});
    w.info->sizing = sizing;
    const Amount free_cpu = 1000 * below(30), free_gpus = below(16);
    const Settings settings;
    const auto fits = [&](const WorkloadInfo& i) {
      const auto& p = i.pod_sets[0];
      return p.requests[0].amount * p.count <= free_cpu && p.requests[1].amount * p.count <= free_gpus;
    };
    if (fits(*w.info)) continue;
    const auto found = SizeSearch(*w.info, settings).shrink(fits);
    const auto again = SizeSearch(*w.info, settings).shrink(fits);
    ASSERT_EQ(found.has_value(), again.has_value());
    if (!found) {
      WorkloadInfo least = *w.info;
      least.pod_sets.change([&](auto& pod_sets) {
        pod_sets[0].requests[0].amount = cpus - (cpus > low_cpu ? (cpus - low_cpu) / step_cpu * step_cpu : 0);
        pod_sets[0].requests[1].amount = gpus - (gpus > low_gpu ? (gpus - low_gpu) / step_gpu * step_gpu : 0);
      });
      EXPECT_FALSE(fits(least));
      continue;
    }
    ++planned;
    EXPECT_EQ(found->plan, again->plan);
    EXPECT_TRUE(fits(found->workload));
    for (const auto& p : found->plan) {
      const bool is_cpu = p.resource == cpu;
      const Amount step = is_cpu ? step_cpu : step_gpu;
      EXPECT_GE(p.amount, is_cpu ? low_cpu : low_gpu);
      EXPECT_LT(p.amount, p.original);
      EXPECT_EQ((p.original - p.amount) % step, 0);
      WorkloadInfo larger = found->workload;
      larger.pod_sets.change([&](auto& pod_sets) { pod_sets[0].requests[is_cpu ? 0 : 1].amount += step; });
      EXPECT_FALSE(fits(larger)) << "one step more would fit, too";
    }
  }
  EXPECT_GT(planned, 50);
}

}  // namespace
}  // namespace hindsight::admission

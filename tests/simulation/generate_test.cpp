// Jobs that are drawn from a seed: the same everywhere, of the distributions that were asked for, within bounds.

#include "simulation/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "connectors/simulated/scenario_player.hpp"
#include "simulation/load_random.hpp"
#include "simulation/run_scenario.hpp"
#include "simulation/trace.hpp"
#include "tests/simulation/load_examples.hpp"

namespace hindsight::simulation {
namespace {

using test::two_forms;

Load drawn_load(const std::string& text) {
  auto load = generate_load(text, "load.yaml", "b");
  if (!load) throw std::runtime_error(load.error().message);
  return std::move(*load);
}

std::string with_text(std::string text, const std::string& old, const std::string& fresh) {
  const auto at = text.find(old);
  if (at == std::string::npos) throw std::logic_error("no " + old);
  return text.replace(at, old.size(), fresh);
}

std::string line_of_job(const LoadJob& j) {
  return std::to_string(j.arrives.micros / 1000) + " " + j.namespace_ + "/" + j.name + " " + std::to_string(j.runs.micros / 1000) + " " +
         j.queue + " " + j.priority_class + " x" + std::to_string(j.pods);
}

// The numbers were worked out apart from this code, with whole numbers of any length.
TEST(LoadRandom, GivesTheSameNumbersEverywhere) {
  LoadRandom r(1, 0);
  EXPECT_EQ(r.next(), 15'204'172'177'749'531'820U);
  EXPECT_EQ(r.next(), 11'478'056'450'701'196'663U);
  LoadRandom e(1, 0);
  EXPECT_EQ(e.exponential(), 830'294'515);
  EXPECT_EQ(e.exponential(), 2'037'750'687);
  LoadRandom n(1, 0);
  EXPECT_EQ(n.normal(), -413'293'915);
  EXPECT_EQ(n.normal(), 6'264'103'879);
  EXPECT_EQ(log2_of(1), 0);
  EXPECT_EQ(log2_of(8), 3 * fixed_one);
  EXPECT_EQ(log2_of(3), 6'807'362'105);
  EXPECT_EQ(log2_of(1000), 42'802'717'581);
  EXPECT_EQ(times_power_of_two(1'000'000, fixed_one / 2), 1'414'213);
  EXPECT_EQ(times_power_of_two(1'000'000, -fixed_one / 2), 707'106);
  EXPECT_EQ(times_power_of_two(5, 3 * fixed_one), 40);
  EXPECT_EQ(times_power_of_two(5, -200 * fixed_one), 0);
  EXPECT_EQ(times_power_of_two(5, 200 * fixed_one), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(times_power_of_two(std::numeric_limits<std::int64_t>::max(), fixed_one), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(times_fixed(std::numeric_limits<std::int64_t>::max(), 2 * fixed_one), std::numeric_limits<std::int64_t>::max());
}

TEST(GenerateLoad, DrawsTheJobsOfASeed) {
  std::vector<std::string> lines;
  for (const auto& job : drawn_load(two_forms).jobs) lines.push_back(line_of_job(job));
  EXPECT_EQ(lines, (std::vector<std::string>{"5799 b/short-000001 10000 lq  x1", "20033 b/short-000002 10000 lq  x1",
                                             "55808 b/long-000003 1399222 lq low x2", "127664 a/long-000004 196370 lq low x2",
                                             "186339 b/short-000005 10000 lq  x1", "213752 a/short-000006 10000 lq  x1"}));
}

TEST(GenerateLoad, ManifestsSayAllOfAJob) {
  const auto manifests = manifests_of(drawn_load(two_forms), "load.yaml");
  ASSERT_EQ(manifests.size(), 6U);
  const auto& long_job = manifests[2].object;
  EXPECT_EQ(long_job["metadata"]["annotations"]["hindsight.dev/arrive-seconds"], "55.808");
  EXPECT_EQ(long_job["metadata"]["annotations"]["hindsight.dev/run-seconds"], "1399.222");
  EXPECT_EQ(long_job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"], "low");
  EXPECT_EQ(long_job["spec"]["parallelism"], 2);
  const auto& resources = long_job["spec"]["template"]["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"]["cpu"], "500m");
  EXPECT_EQ(resources["limits"]["nvidia.com/gpu"], "1");
  EXPECT_FALSE(resources["limits"].contains("cpu"));
  EXPECT_EQ(manifests[0].object["metadata"]["annotations"]["hindsight.dev/run-seconds"], "10");
}

TEST(GenerateLoad, OtherArrivalsLeaveTheJobsAsTheyAre) {
  const auto before = drawn_load(two_forms);
  const auto after = drawn_load(with_text(two_forms, "kind: exponential, mean: 30s", "kind: fixed, every: 1m"));
  ASSERT_EQ(before.jobs.size(), after.jobs.size());
  for (std::size_t i = 0; i < before.jobs.size(); ++i) {
    EXPECT_EQ(after.jobs[i].arrives, Duration::seconds(60 * static_cast<std::int64_t>(i)));
    EXPECT_EQ(before.jobs[i].runs, after.jobs[i].runs);
    EXPECT_EQ(before.jobs[i].name, after.jobs[i].name);
  }
  EXPECT_NE(line_of_job(before.jobs[0]), line_of_job(drawn_load(with_text(two_forms, "seed: 1", "seed: 2")).jobs[0]));
}

TEST(GenerateLoad, KeepsToTheDistributions) {
  const std::string many =
      with_text(with_text(two_forms, "count: 6", "count: 20000"), "kind: fixed, value: 10s", "kind: exponential, mean: 100s");
  const auto load = drawn_load(many);
  std::vector<std::int64_t> long_ones;
  std::int64_t short_sum = 0, short_ones = 0;
  for (const auto& job : load.jobs) {
    if (job.name.starts_with("long")) {
      long_ones.push_back(job.runs.micros / 1'000'000);
    } else {
      short_sum += job.runs.micros / 1000;
      ++short_ones;
    }
  }
  EXPECT_NEAR(static_cast<double>(load.jobs.back().arrives.micros) / 20'000, 30e6, 1e6);
  EXPECT_NEAR(static_cast<double>(short_ones), 15'000, 300);
  EXPECT_NEAR(static_cast<double>(short_sum / short_ones), 100'000, 3'000);
  std::sort(long_ones.begin(), long_ones.end());
  EXPECT_NEAR(static_cast<double>(long_ones[long_ones.size() / 2]), 600, 30);
  EXPECT_NEAR(static_cast<double>(long_ones[long_ones.size() * 95 / 100]), 3600, 300);
}

TEST(GenerateLoad, ADayHasItsHours) {
  const std::string hours = "0, 0, 0, 0, 0, 0, 0, 0, 60, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6";
  const auto load = drawn_load(
      with_text(with_text(two_forms, "count: 6", "until: 240h"), "kind: exponential, mean: 30s", "kind: daily, perHour: [" + hours + "]"));
  std::map<std::int64_t, std::int64_t> by_hour;
  for (const auto& job : load.jobs) ++by_hour[job.arrives.micros / 3'600'000'000 % 24];
  ASSERT_EQ(by_hour.size(), 3U) << "nobody comes in the other hours";
  EXPECT_NEAR(static_cast<double>(by_hour[8]), 600, 100);  // four times the standard deviation
  EXPECT_NEAR(static_cast<double>(by_hour[9]), 2400, 200);
  EXPECT_NEAR(static_cast<double>(by_hour[23]), 60, 32);
}

TEST(GenerateLoad, EndsAtTheCountOrTheTime) {
  const std::string fixed = with_text(two_forms, "kind: exponential, mean: 30s", "kind: fixed, every: 1m");
  EXPECT_EQ(drawn_load(with_text(fixed, "count: 6", "until: 10m")).jobs.size(), 11U) << "at 0, 1, ... 10 minutes";
  EXPECT_EQ(drawn_load(with_text(fixed, "count: 6", "count: 6\nuntil: 10m")).jobs.size(), 6U);
  EXPECT_EQ(drawn_load(with_text(fixed, "count: 6", "count: 60\nuntil: 10m")).jobs.size(), 11U);
}

TEST(GenerateLoad, RunTimesEndAtTheMost) {
  const auto load =
      drawn_load(with_text(with_text(two_forms, "count: 6", "count: 500"), "median: 10m, p95: 1h", "median: 10m, p95: 1h, max: 20m"));
  std::int64_t most = 0;
  for (const auto& job : load.jobs) most = std::max(most, job.runs.micros);
  EXPECT_EQ(most, Duration::seconds(1200).micros);
}

struct Mistake {
  const char *old, *fresh, *told;
};

TEST(GenerateLoad, TellsWhatIsWrong) {
  const Mistake mistakes[] = {
      {"seed: 1", "seeds: 1", "load.yaml:1: seeds: "},
      {"seed: 1", "seed: -1", "load.yaml:1: seed: Invalid value: -1: must be greater than or equal to 0"},
      {"count: 6", "count: 100001", "load.yaml:2: count: Invalid value: 100001: must be less than or equal to 100000"},
      {"count: 6\n", "", "count: Required value: count, until, or both"},
      {"count: 6", "until: soon", "load.yaml:2: until: Invalid value: \"soon\": must be a span of time above 0"},
      {"count: 6", "until: 0s", "load.yaml:2: until: Invalid value: \"0s\": must be a span of time above 0"},
      {"mean: 30s", "every: 30s", "arrival.every: Forbidden: says nothing with kind exponential"},
      {"mean: 30s", "every: 30s", "arrival.mean: Required value"},
      {"kind: exponential", "kind: daily", "arrival.perHour: Required value"},
      {"kind: exponential", "kind: poisson", "arrival.kind: Unsupported value"},
      {"weight: 3", "weight: -3", "weight: Invalid value: -3"},
      {"median: 10m, p95: 1h", "median: 10m, p95: 1m", "jobs[1].runTime.p95: Invalid value: \"1m\": must not be less than the median"},
      {"cpu: 1}", "cpu: -1}", "jobs[0].requests[cpu]: Invalid value"},
      {"cpu: 1}", "c p u: 1}", "must be the name of a resource"},
      {"name: long", "name: short", "Duplicate value"},
      {"name: long", "name: Long", "jobs[1].name: Invalid value"},
      {"{class: low}", "{class: Low}", "jobs[1].priorities[0].class: Invalid value"},
      {"pods: 2", "pods: 0", "jobs[1].pods: Invalid value: 0"},
  };
  for (const auto& m : mistakes) {
    const auto load = generate_load(with_text(two_forms, m.old, m.fresh), "load.yaml", "b");
    ASSERT_FALSE(load) << m.fresh;
    EXPECT_EQ(load.error().kind, ErrorKind::invalid);
    EXPECT_NE(load.error().message.find(m.told), std::string::npos) << m.fresh << "\n" << load.error().message;
  }
  EXPECT_FALSE(generate_load("", "load.yaml", "b"));
  EXPECT_FALSE(generate_load("[1, 2]", "load.yaml", "b"));
  EXPECT_FALSE(generate_load(std::string(two_forms) + "---\n" + two_forms, "load.yaml", "b")) << "two documents";
}

TEST(GenerateLoad, IsBounded) {
  const std::string fixed = with_text(two_forms, "kind: exponential, mean: 30s", "kind: fixed, every: 1s");
  EXPECT_EQ(drawn_load(with_text(fixed, "count: 6", "until: 99999s")).jobs.size(), load_jobs_max);
  const auto beyond = generate_load(with_text(fixed, "count: 6", "until: 100000s"), "load.yaml", "b");
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("more than 100000 jobs arrive before it"), std::string::npos) << beyond.error().message;
  const auto late = generate_load(with_text(fixed, "every: 1s", "every: 1000000000s"), "load.yaml", "b");
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("job 3 would arrive after more than 1000000000 s"), std::string::npos) << late.error().message;
}

TEST(GenerateLoad, TheJobsOfTheExampleRunToTheirEnd) {
  auto input = connectors::manifests::read_input({"examples/load/queues.yaml"});
  ASSERT_TRUE(input) << input.error().message;
  const auto text = read_load_file("examples/load/generate.yaml");
  ASSERT_TRUE(text) << text.error().message;
  const auto load = generate_load(*text, "generate.yaml", "default");
  ASSERT_TRUE(load) << load.error().message;
  EXPECT_EQ(missing_queues(*load, input->manifests), std::vector<std::string>{});
  auto jobs = manifests_of(*load, "generate.yaml");
  std::move(jobs.begin(), jobs.end(), std::back_inserter(input->manifests));
  ScenarioOptions options;
  options.to_the_end = true;
  const auto result = run_scenario(connectors::simulated::scenario_of(std::move(input->manifests), "load"), options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->refused, std::vector<std::string>{});
  EXPECT_EQ(result->notices, std::vector<std::string>{});
  EXPECT_EQ(result->world->jobs_ended(), load->jobs.size());
}

TEST(GenerateLoad, QueuesThatAreNotThereAreNamed) {
  const auto load = drawn_load(two_forms);
  EXPECT_EQ(missing_queues(load, {}), (std::vector<std::string>{"no manifest has LocalQueue a/lq: 2 jobs wait there for ever",
                                                                "no manifest has LocalQueue b/lq: 4 jobs wait there for ever"}));
}

}  // namespace
}  // namespace hindsight::simulation

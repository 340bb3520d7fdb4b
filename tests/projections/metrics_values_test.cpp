// Metrics of many domains of a cluster as one: what is added up, what is taken from one of them, and one valid exposition (base-api §8).

#include "projections/metrics_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "projections/metrics.hpp"
#include "replay/past.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::projections {
namespace {

/// A domain that a test drives, and its metrics as the process keeps them.
struct Tree {
  explicit Tree(const std::string& domain,
                MetricsOptions options = {.build = {{"git_version", "1.2"}, {"git_commit", "c0ffee"}}, .cluster_queue_resources = true})
      : w(log, domain), metrics(std::move(options)), past(log, domain) {
    past.look_on({}, [this](events::Position, const RecordView& r) { metrics.record(r, past.driver()); });
  }
  void fold() {
    w.flush();
    ASSERT_TRUE(past.fold_to(w.position()));
  }
  MetricsValues values() {
    fold();
    return metrics.values(past.driver());
  }
  std::string text() {
    fold();
    return metrics.text(past.driver());
  }
  /// What the router tells of a queue that goes elsewhere, with its LocalQueue and Workloads.
  void depart(const std::string& queue, const std::string& local_queue, const std::vector<std::string>& workloads, Text to) {
    w.observe(MirrorSynced{true});
    for (const auto& name : workloads) w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep(name), w.keep("uid-" + name), to});
    w.observe(ObjectDeleted{ObjectKind::local_queue, "default", w.keep(local_queue), {}, to});
    w.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, w.keep(queue), {}, to});
    w.observe(MirrorSynced{});
  }

  events::MemoryLog log;
  hindsight::testing::LogWorld w;
  Metrics metrics;
  replay::Past past;
};

/// What stands in an exposition, which must be a valid one: of each family first HELP and TYPE, once, then all its samples, each once.
struct Exposition {
  explicit Exposition(const std::string& text) {
    std::istringstream in(text);
    std::string line, family;
    std::set<std::string> helped;
    while (std::getline(in, line)) {
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(helped.insert(family).second) << "twice: " << line;
      } else if (line.starts_with("# TYPE ")) {
        const std::string name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_EQ(name, family) << line;
        EXPECT_TRUE(types.emplace(name, line.substr(8 + name.size())).second) << "twice: " << line;
      } else {
        const auto at = line.rfind(' ');
        const std::string name = line.substr(0, std::min(line.find('{'), at));
        EXPECT_TRUE(name == family ||
                    (types[family] == "histogram" && (name == family + "_bucket" || name == family + "_sum" || name == family + "_count")))
            << "not below its family: " << line;
        EXPECT_TRUE(samples.emplace(line.substr(0, at), std::stod(line.substr(at + 1))).second) << "twice: " << line;
        family_of[line.substr(0, at)] = family;
        in_order.push_back(line.substr(0, at));
      }
    }
  }
  [[nodiscard]] double operator()(const std::string& sample) const {
    const auto it = samples.find(sample);
    EXPECT_NE(it, samples.end()) << "missing: " << sample;
    return it == samples.end() ? -1 : it->second;
  }
  [[nodiscard]] int count(const std::string& part) const {
    return static_cast<int>(std::count_if(in_order.begin(), in_order.end(), [&](const auto& s) { return s.find(part) != s.npos; }));
  }

  std::map<std::string, std::string> types, family_of;
  std::map<std::string, double> samples;
  std::vector<std::string> in_order;
};

MetricsValues together(MetricsValues a, MetricsValues b) {
  a.add(std::move(b));
  return a;
}

class MetricsOfTrees : public ::testing::Test {
 protected:
  /// Queue "cq" was in one tree, where "one" waited 3 s and ran, and is in another now, where "two" waited 7 s and runs.
  MetricsOfTrees() {
    live(a, "x", "one", 3);
    live(b, "y", "two", 7);
  }
  static void live(Tree& tree, const std::string& cohort, const std::string& workload, int waits) {
    tree.w.set_up({{.name = "cq", .cohort = cohort, .quotas = {{.nominal = 4000}}}});
    tree.w.submit({.name = workload, .cpu = 3000});
    tree.w.now = tree.w.now + Duration::seconds(waits);
    tree.w.tick({});
    tree.w.settle();
  }
  [[nodiscard]] Exposition all() { return Exposition(together(a.values(), b.values()).text()); }

  Tree a{"east/cohort/x"}, b{"east/cohort/y"};
};

TEST_F(MetricsOfTrees, WhatWasCountedIsAddedUp) {
  const Exposition m = all();
  const std::string labels = R"(cluster_queue="cq",priority_class="",replica_role="standalone")";
  EXPECT_EQ(m("kueue_admitted_workloads_total{" + labels + "}"), 2);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_count{" + labels + "}"), 2);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_sum{" + labels + "}"), 10);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_bucket{" + labels + R"(,le="2.5"})"), 0);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_bucket{" + labels + R"(,le="5"})"), 1);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_bucket{" + labels + R"(,le="10"})"), 2);
  EXPECT_EQ(m("kueue_admission_wait_time_seconds_bucket{" + labels + R"(,le="+Inf"})"), 2);
  const Exposition one(a.text()), other(b.text());
  std::size_t counted = 0;
  for (const auto& [sample, value] : m.samples) {
    if (m.types.at(m.family_of.at(sample)) == "gauge") continue;
    ++counted;
    const auto part = [&](const Exposition& of) { return of.samples.contains(sample) ? of.samples.at(sample) : 0; };
    EXPECT_EQ(value, part(one) + part(other)) << sample;
  }
  EXPECT_GT(counted, 50U);
  for (const auto& [name, type] : one.types)
    EXPECT_EQ(m.types.contains(name), name != "hindsight_epoch" && name != "hindsight_sequence") << name;
}

// What departed is counted still: a sum that became less would be taken for a restart.
TEST_F(MetricsOfTrees, WhatWasCountedStaysWhereAQueueHasLeft) {
  const auto before = all().samples;
  a.depart("cq", "lq", {"one"}, "east/cohort/y");
  const Exposition after = all();
  for (const auto& [sample, value] : before)
    if (sample.find("_total{") != std::string::npos || sample.find("_count{") != std::string::npos) {
      EXPECT_EQ(after(sample), value);
    }
}

// For a moment a queue that moves is in both.
TEST_F(MetricsOfTrees, AQueueIsDescribedByOneDomain) {
  const auto info = [](const char* cohort) {
    return std::string(R"(kueue_cluster_queue_info{cluster_queue="cq",parent_cohort=")") + cohort +
           R"(",replica_role="standalone",root_cohort=")" + cohort + "\"}";
  };
  const auto expect_from = [&](const char* cohort) {
    const Exposition m = all();
    EXPECT_EQ(m(info(cohort)), 1);
    EXPECT_EQ(m.count("kueue_cluster_queue_info{"), 1);
    EXPECT_EQ(m.count("kueue_cluster_queue_status{"), 3);
    EXPECT_EQ(m.count("kueue_local_queue_status{"), 3);
    EXPECT_EQ(m.count("kueue_cluster_queue_nominal_quota{"), 1);
    EXPECT_EQ(m(R"(kueue_cluster_queue_status{cluster_queue="cq",replica_role="standalone",status="active"})"), 1);
    EXPECT_EQ(m(R"(kueue_admitted_active_workloads{cluster_queue="cq",replica_role="standalone"})"), 1);
    EXPECT_EQ(m(R"(kueue_local_queue_admitted_active_workloads{name="lq",namespace="default",replica_role="standalone"})"), 1);
    EXPECT_EQ(m(R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="active"})"), 0);
  };
  expect_from("y");  // the other one has not heard yet that it left
  b.w.observe(MirrorSynced{true});
  expect_from("x");  // more is to come
  b.w.observe(MirrorSynced{});
  expect_from("y");
  a.depart("cq", "lq", {"one"}, "east/cohort/y");
  a.w.tick(Duration::seconds(60));  // and whoever hears something later than all others has no queue any more
  expect_from("y");
  EXPECT_EQ(all().count("kueue_cohort_info{"), 1);
}

TEST_F(MetricsOfTrees, OrderDoesNotMatter) {
  const std::string one = together(a.values(), b.values()).text();
  EXPECT_EQ(one, together(b.values(), a.values()).text());
  EXPECT_EQ(one, together(MetricsValues(), together(a.values(), b.values())).text());
  EXPECT_EQ(MetricsValues().text(), "");
}

// Each tree has its own cohorts, and both are shown.
TEST_F(MetricsOfTrees, CohortsAreThoseOfAllTrees) {
  const Exposition m = all();
  for (const char* cohort : {"x", "y"})
    EXPECT_EQ(m(std::string(R"(kueue_cohort_subtree_quota{cohort=")") + cohort +
                R"(",flavor="default",replica_role="standalone",resource="cpu"})"),
              4);
  EXPECT_EQ(m(R"(kueue_build_info{git_commit="c0ffee",git_version="1.2"})"), 1);
  EXPECT_EQ(m.count("kueue_build_info{"), 1);
  EXPECT_EQ(m(R"(hindsight_stale_decisions{replica_role="standalone"})"), 0);
}

// Each is in one domain, also one that ended in a queue that has left.
TEST_F(MetricsOfTrees, WorkloadsAreAddedUp) {
  for (auto* tree : {&a, &b}) tree->w.confirm();
  a.w.finish("one");
  b.w.finish("two");
  b.w.submit({.name = "late", .cpu = 9000});
  b.w.settle();
  const Exposition m = all();
  EXPECT_EQ(m(R"(kueue_finished_workloads{cluster_queue="cq",replica_role="standalone"})"), 2);
  EXPECT_EQ(m(R"(kueue_local_queue_finished_workloads{name="lq",namespace="default",replica_role="standalone"})"), 2);
  EXPECT_EQ(m(R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="inadmissible"})"), 1);
  EXPECT_EQ(m.count("kueue_unadmitted_workloads{"), 1);
}

// BA-187: the labels are those of the LocalQueue where it is, also for what was counted where it was.
TEST(MetricsOfTreesChosen, LocalQueuesByTheirLabels) {
  MetricsOptions chosen;
  chosen.local_queue_selector = {{Symbol("team"), SelectorOperator::in, {"a"}}};
  Tree a("east/cohort/x", chosen), b("east/cohort/y", chosen);
  LocalQueueObserved labelled;
  labelled.meta.namespace_ = "default";
  labelled.meta.name = "lq";
  labelled.cluster_queue = "cq";
  const std::vector<Pair> labels{{"team", "a"}};
  labelled.labels = labels;

  a.w.set_up({{.name = "cq", .cohort = "x", .quotas = {{.nominal = 4000}}}});
  a.w.submit({.name = "one"});
  a.w.settle();
  const auto all = [&] { return Exposition(together(a.values(), b.values()).text()); };
  EXPECT_EQ(all().count("kueue_local_queue_"), 0);
  a.w.observe(labelled);
  const std::string admitted =
      R"(kueue_local_queue_admitted_workloads_total{name="lq",namespace="default",priority_class="",replica_role="standalone"})";
  EXPECT_EQ(all()(admitted), 1);

  a.depart("cq", "lq", {"one"}, "east/cohort/y");
  b.w.set_up({{.name = "cq", .cohort = "y", .quotas = {{.nominal = 4000}}}});
  EXPECT_EQ(all().count("kueue_local_queue_"), 0) << "it has no such label any more";
  b.w.observe(labelled);
  EXPECT_EQ(all()(admitted), 1);
  EXPECT_EQ(all().count("kueue_local_queue_status{"), 3);
}

// One domain alone says the same either way, but for its own numbers; and in the order that it always had.
TEST_F(MetricsOfTrees, OneDomainSaysTheSameEitherWay) {
  const std::string text = a.text();
  const Exposition direct(text), values(a.values().text());
  auto expected = direct.samples;
  EXPECT_EQ(expected.erase(R"(hindsight_epoch{replica_role="standalone"})"), 1U);
  EXPECT_EQ(expected.erase(R"(hindsight_sequence{replica_role="standalone"})"), 1U);
  EXPECT_EQ(values.samples, expected);

  std::size_t at = 0;
  for (const char* name : {"kueue_admission_attempts_total", "kueue_quota_reserved_wait_time_seconds", "kueue_build_info",
                           "hindsight_sequence", "hindsight_epoch", "hindsight_stale_decisions", "hindsight_repeated_preemptions",
                           "kueue_pending_workloads", "kueue_cluster_queue_info", "kueue_local_queue_pending_workloads",
                           "kueue_local_queue_status", "kueue_cohort_info", "kueue_cohort_subtree_quota"}) {
    const auto found = text.find(std::string("# TYPE ") + name + " ");
    ASSERT_NE(found, std::string::npos) << name;
    EXPECT_GE(found, at) << name;
    at = found;
  }
}

}  // namespace
}  // namespace hindsight::projections

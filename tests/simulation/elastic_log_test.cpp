// What the log tells of slices: each step as one event, counted once, and enough of it that whoever comes after a crash goes on in the same
// order (77 §3.6, §3.15).

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "admission/workload/workload_parent.hpp"
#include "connectors/manifests/json_views.hpp"
#include "events/memory_log.hpp"
#include "tests/simulation/elastic_story.hpp"
#include "tests/simulation/elastic_told.hpp"
#include "tests/simulation/mortal_plane.hpp"

namespace hindsight::simulation {
namespace {

std::string sizes_of(List<PodSetCount> counts) {
  std::string out;
  for (const auto& c : counts) out += (out.empty() ? "" : " ") + std::string(c.pod_set) + "=" + std::to_string(c.count);
  return out;
}

/// One line for each decided event about slices and pods of job `uid`; other events say nothing here.
struct SliceLine {
  Text uid;
  std::string operator()(const WorkloadRequested& e) const {
    return of(e.job, "requested " + std::string(e.name) + " for " + std::string(e.replaces.name) + " chain " + std::string(e.slice_name) +
                         " generation " + std::to_string(e.job_generation) + ": " + sizes_of(e.counts));
  }
  std::string operator()(const WorkloadRevised& e) const {
    return of(e.job,
              "revised " + std::string(e.workload.name) + " generation " + std::to_string(e.job_generation) + ": " + sizes_of(e.counts));
  }
  std::string operator()(const QuotaReserved& e) const {
    std::string out = "reserved " + std::string(e.workload.name) + " instead of " + std::string(e.replaces.name) + ":";
    for (const auto& a : e.assignments) out += " " + std::string(a.pod_set) + "=" + std::to_string(a.count);
    return out;
  }
  std::string operator()(const SliceReplaced& e) const {
    std::string out = "replaced " + std::string(e.workload.name) + " by " + std::string(e.replacement.name) + " chain " +
                      std::string(e.slice_name) + ": " + sizes_of(e.counts) + ",";
    for (const auto& d : e.delta) out += " " + std::string(d.resource) + " " + std::to_string(d.amount);
    return of(e.job, out);
  }
  std::string operator()(const PodsReleased& e) const {
    std::string out = "released by " + std::string(e.workload.name) + " chain " + std::string(e.slice_name) + ":";
    for (const auto& p : e.pods) out += " " + std::string(p.name) + "/" + std::string(p.pod_set);
    return of(e.job, out);
  }
  std::string operator()(const WorkloadFinished& e) const {
    return "finished " + std::string(e.workload.name) + " " + std::string(e.reason);
  }
  template <class E>
  std::string operator()(const E&) const {
    return "";
  }

 private:
  [[nodiscard]] std::string of(const JobRef& job, const std::string& line) const {
    return job.uid == uid ? line : "of another job: " + line;
  }
};

Lines slice_lines(const events::Log& log, Text uid) {
  Lines out;
  each_record(log, [&](const RecordView& record) {
    const auto* decisions = std::get_if<Decisions>(&record.body);
    if (decisions == nullptr) return;
    for (const Event& e : decisions->events)
      if (auto line = std::visit(SliceLine{uid}, e); !line.empty()) out.push_back(std::move(line));
  });
  return out;
}

/// Names of the pods of a job, as the state of a domain has them: "name", with " gated" where they wait still.
std::set<std::string> pods_of(const admission::LoopDriver& driver, std::string_view uid) {
  std::set<std::string> out;
  const auto index = driver.domain().find_parent(uid);
  const auto* parent = index ? driver.parent(*index) : nullptr;
  if (parent != nullptr)
    for (const auto& pod : parent->pods()) out.insert(pod.name + (pod.gated && !pod.released ? " gated" : ""));
  return out;
}

// EJ-136: resize, creation, reservation, replacement, shrinking in place, release of gates and finish are one event each, with job, chain,
// slice, generation, counts and difference; a fold from nothing gives the same slices, usage and released pods
TEST(ElasticLog, EachStepOfAChainIsOneEvent) {
  Story s = one_queue("5");
  s.job("train", "cq", 2, "1");
  const std::string uid = s.play().world->simulated().find("Job", "default", "train")->uid;
  s.step().pod("a-2", "train", uid, "Pending", true).pod("a-1", "train", uid, "Pending", true);
  s.step().parallelism("train", 4);
  for (const char* pod : {"b-1", "b-2", "b-3"}) s.pod(pod, "train", uid, "Pending", true);
  s.step().parallelism("train", 3);
  events::MemoryLog half;
  const auto running = s.play(&half);
  events::MemoryLog log;
  const auto r = s.step().finish("train").step().play(&log);
  ASSERT_EQ(objects(r, "train").size(), 2U);
  const std::string one = objects(r, "train")[0]->name, two = objects(r, "train")[1]->name;
  EXPECT_EQ(slice_lines(log, uid),
            (Lines{"requested " + one + " for  chain  generation 1: main=2", "reserved " + one + " instead of : main=2",
                   "released by " + one + " chain " + one + ": a-1/main a-2/main",
                   "requested " + two + " for " + one + " chain " + one + " generation 3: main=4",
                   "reserved " + two + " instead of " + one + ": main=4",
                   "replaced " + one + " by " + two + " chain " + one + ": main=4, cpu 2000",
                   "released by " + two + " chain " + one + ": b-1/main b-2/main", "revised " + two + " generation 4: main=3",
                   "finished " + two + " Succeeded"}));

  // The whole and its beginning, folded from nothing.
  const std::set<std::string> released{"a-1", "a-2", "b-1", "b-2", "b-3 gated"};
  for (const auto* played : {&running, &r}) {
    const events::Log& of = played == &r ? static_cast<const events::Log&>(log) : half;
    admission::LoopDriver driver(&events::read_settings);
    each_record(of, [&](const RecordView& record) { ASSERT_TRUE(driver.apply(record)); });
    EXPECT_EQ(driver.state_hash(), played->state_hash);
    EXPECT_EQ(pods_of(driver, uid), pods_of(played->engine->driver(), uid));
    EXPECT_EQ(pods_of(driver, uid), released);
    Lines folded;
    for (const auto& w : driver.parent(*driver.domain().find_parent(uid))->workloads())
      folded.push_back(w.name + " " + std::to_string(w.pod_sets.at(0).count) + (w.finished() ? " finished" : ""));
    EXPECT_EQ(folded, (Lines{one + " 2 finished", two + " 3" + (played == &r ? " finished" : "")}));
    const Amount in_use = driver.tree(Symbol("cq"))->quota()->usage(Symbol("cq"), Symbol("default"), Symbol("cpu"));
    EXPECT_EQ(in_use, played == &r ? 0 : 3'000);
  }
}

// EJ-54: a replacement that is decided when the old slice has ended already is void: the state stays as it is, and no second one is counted
TEST(ElasticLog, AReplacementThatHasHappenedIsNotCountedAgain) {
  Story s = one_queue("10");
  events::MemoryLog log;
  (void)s.job("train", "cq", 3, "1").step().parallelism("train", 5).step().play(&log);
  admission::LoopDriver driver(&events::read_settings);
  projections::Metrics metrics({});
  events::RecordBatch batch;
  ASSERT_TRUE(log.read(1, {.records = 100'000}, batch));
  events::RecordReader reader;
  std::vector<std::byte> found;  // the record of the replacement
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto record = reader.read(batch[i].bytes);
    ASSERT_TRUE(record);
    ASSERT_TRUE(driver.apply(**record));
    metrics.record(**record, driver);
    const auto* d = std::get_if<Decisions>(&(*record)->body);
    const auto replaces = [](const Event& e) { return std::holds_alternative<SliceReplaced>(e); };
    if (d != nullptr && std::any_of(d->events.begin(), d->events.end(), replaces))
      found.assign(batch[i].bytes.begin(), batch[i].bytes.end());
  }
  ASSERT_FALSE(found.empty());
  const std::string once = "kueue_replaced_workload_slices_total{cluster_queue=\"cq\",replica_role=\"standalone\"} 1\n";
  ASSERT_NE(metrics.text(driver).find(once), std::string::npos);
  const auto states = [&] {
    Lines out;
    for (std::uint32_t i = 0; i < driver.domain().parent_count(); ++i)
      if (const auto* parent = driver.parent(i); parent != nullptr) out.push_back(std::to_string(parent->hash()));
    return out;
  };
  const auto before = states();

  events::RecordReader again;
  const auto stored = again.read(found);
  ASSERT_TRUE(stored);
  const auto& decided = std::get<Decisions>((*stored)->body);
  // Written once more by an append that was repeated, at the same moment; and decided once more by somebody who had not seen the end of the
  // old slice.
  const auto repeat = [&](std::uint64_t base, Duration later) {
    const RecordView record{{"default", driver.domain().sequence() + 1, driver.domain().epoch(), driver.domain().now() + later, base},
                            Decisions{base, decided.step, decided.events}};
    ASSERT_TRUE(driver.apply(record));
    metrics.record(record, driver);
  };
  repeat(decided.base, Duration{});
  repeat(driver.domain().sequence(), Duration::seconds(1));
  EXPECT_EQ(states(), before);
  EXPECT_NE(metrics.text(driver).find(once), std::string::npos) << metrics.text(driver);
  EXPECT_FALSE(driver.decide().has_value());
}

bool holds(const connectors::simulated::StoredPointer& w, const char* type) {
  return connectors::manifests::condition_is(w->status(), type);
}

/// The Workloads of "train" in the cluster, oldest first.
std::vector<connectors::simulated::StoredPointer> slices_in(const connectors::simulated::SimulatedCluster& cluster) {
  std::vector<connectors::simulated::StoredPointer> out;
  for (const auto& o : cluster.store().owned_by("Job", "default", "train"))
    if (o->kind->type->kind == "Workload") out.push_back(o);
  return out;
}

// EJ-50, EJ-53, EJ-139: whenever the process is killed, its successor compares log and cluster and writes what is missing, the admission of
// the new slice first and the end of the old one only then; no slice is lost, none is made twice, and each thing is told once
TEST(ElasticLog, ACrashAtAnyRecordLeavesTheOrderOfAReplacement) {
  Story s = one_queue("10");
  s.job("train", "cq", 3, "1").step().parallelism("train", 10);
  const auto scenario = s.step().scenario();
  MortalPlane whole(scenario);
  whole.play();
  ASSERT_EQ(whole.refused, Lines{});
  const Json wanted = whole.view_of("train");
  ASSERT_EQ(wanted.size(), 3U) << "the job and two slices";
  ASSERT_GT(whole.records(), 15U);

  int between_the_writes = 0;
  for (std::uint64_t record = 1; record <= whole.records(); ++record)
    for (const bool after_writes : {false, true}) {
      const std::string when = "killed after record " + std::to_string(record) + (after_writes ? " and its writes" : "");
      MortalPlane plane(scenario, {}, {record, after_writes});
      bool started = false;
      plane.cluster().observe([&](const connectors::simulated::ObjectChange&) {
        const auto seen = slices_in(plane.cluster());
        bool live = false;
        for (const auto& slice : seen) {
          live = live || (holds(slice, "Admitted") && !holds(slice, "Finished"));
          if (!holds(slice, "Finished")) continue;
          const bool replaced = seen.size() == 2 && holds(seen[1], "Admitted") && holds(seen[1], "QuotaReserved");
          EXPECT_TRUE(replaced) << when << ": the old slice has ended, and the new one is not admitted";
        }
        started = started || live;
        EXPECT_EQ(live, started) << when << ": the job stands without an admitted slice";
      });
      plane.on_death = [&] {
        const auto left = slices_in(plane.cluster());
        between_the_writes += left.size() == 2 && holds(left[1], "Admitted") && !holds(left[0], "Finished") ? 1 : 0;
      };
      plane.play();
      EXPECT_TRUE(plane.died() || record == whole.records()) << when;
      EXPECT_EQ(plane.view_of("train"), wanted) << when;
      const auto told = [&](std::size_t n, const char* reason) {
        return plane.count("Workload " + slices_in(plane.cluster()).at(n)->name + " " + reason);
      };
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}})
        for (const char* reason : {"QuotaReserved", "Admitted"}) EXPECT_EQ(told(n, reason), 1U) << when;
      EXPECT_EQ(told(0, "WorkloadSliceReplaced"), 1U) << when;
      EXPECT_EQ(plane.count("Job train CreatedWorkload"), 2U) << when;
    }
  EXPECT_GT(between_the_writes, 0) << "else the order was never put to the test";
}

}  // namespace
}  // namespace hindsight::simulation

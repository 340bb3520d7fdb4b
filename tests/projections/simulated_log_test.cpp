// All read models on the log of the quick start: what they say must agree with each other at every moment.

#include <map>

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/describe.hpp"
#include "projections/objects.hpp"
#include "projections/tables.hpp"
#include "projections/text_tree.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

class QuickStartLog : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/quickstart"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  static Played* run;
};

Played* QuickStartLog::run = nullptr;

/// A cell of a table by heading.
std::string cell(const Table& table, const std::vector<Cell>& row, const std::string& heading) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].heading == heading) return row[i].text;
  throw std::runtime_error("no column " + heading);
}

// BA-2, BA-46: tables, objects and descriptions are made apart and tell one story
TEST_F(QuickStartLog, TablesObjectsAndDescriptionsAgreeAtEveryMoment) {
  for (events::Position p = 5; p <= run->end(); p += 17) {
    const auto& state = run->state(p);
    const auto workloads = workloads_table(state, {});
    const auto all = select_workloads(state, {});
    ASSERT_EQ(workloads.rows.size(), all.size()) << p;
    std::map<std::string, int> pending, admitted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Json object = workload_object(state, all[i]);
      const Json description = describe_workload(state, all[i]);
      EXPECT_EQ(object["metadata"]["name"], cell(workloads, workloads.rows[i], "NAME"));
      const std::string status = cell(workloads, workloads.rows[i], "STATUS");
      EXPECT_TRUE(status.starts_with(std::string(name_of(phase_of(*all[i].workload))))) << status;
      EXPECT_EQ(description["status"], status);
      EXPECT_FALSE(render_tree(description).empty());
      const std::string reserved_in = cell(workloads, workloads.rows[i], "RESERVED IN");
      const bool has_admission = object.contains("status") && object["status"].contains("admission");
      EXPECT_EQ(reserved_in, has_admission ? object["status"]["admission"]["clusterQueue"].get<std::string>() : "") << p;
      const Phase phase = phase_of(*all[i].workload);
      const std::string queue(queue_of(state, *all[i].workload).text());
      if (phase == Phase::pending) ++pending[queue];
      if (phase == Phase::admitted || phase == Phase::evicted) ++admitted[queue];
    }
    const auto queues = cluster_queues_table(state, {});
    for (const auto& row : queues.rows) {
      const std::string name = cell(queues, row, "NAME");
      EXPECT_EQ(cell(queues, row, "PENDING WORKLOADS"), std::to_string(pending[name])) << name << " at " << p;
      const auto* config = state.domain().catalog()->queue(Symbol(name));
      const Json object = cluster_queue_object(state, *config);
      EXPECT_EQ(object["status"].value("reservingWorkloads", 0), admitted[name]) << name << " at " << p;
    }
  }
}

TEST_F(QuickStartLog, HistoriesTellAWholeLife) {
  const auto lines = run->story("job/team-a/train-1");
  ASSERT_GT(lines.size(), 5U);
  EXPECT_EQ(lines.front(), "observed Job team-a/train-1: created for LocalQueue jobs, suspended: main x2 (cpu 2, memory 4Gi each)");
  EXPECT_TRUE(lines.back().ends_with("finished: Succeeded")) << lines.back();
  const auto has = [](const std::vector<std::string>& all, const std::string& part) {
    for (const auto& l : all)
      if (l.find(part) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(has(lines, "quota reserved in team-a: main x2 standard/cpu 4 standard/memory 8Gi; admitted"));
  const auto swept = run->story("job/team-a/sweep-1");
  EXPECT_TRUE(has(swept, ": preempted by ")) << ::testing::PrintToString(swept);
  EXPECT_FALSE(has(run->story("job/team-a/moonshot"), "quota reserved"));
}

// base-api §8: the sums of the metrics are those of the log
TEST_F(QuickStartLog, MetricsCountWhatTheLogHas) {
  std::map<std::string, int> reserved, preempted;
  int finished = 0;
  run->each([&](events::Position, const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const Event& e : d->events) {
      if (const auto* q = std::get_if<QuotaReserved>(&e)) ++reserved[std::string(q->cluster_queue)];
      if (const auto* w = std::get_if<WorkloadPreempted>(&e))
        ++preempted[std::string(w->preemptor_cluster_queue) + "/" + std::string(w->reason)];
      if (std::holds_alternative<WorkloadFinished>(e)) ++finished;
    }
  });
  ASSERT_FALSE(preempted.empty());
  const std::string text = run->metrics({.cluster_queue_resources = true});
  const auto sum = [&](const std::string& name, const std::string& label) {
    double out = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + "{") && line.find(label) != std::string::npos) out += std::stod(line.substr(line.rfind(' ') + 1));
    return static_cast<int>(out);
  };
  for (const auto& [queue, n] : reserved) {
    EXPECT_EQ(sum("kueue_quota_reserved_workloads_total", "cluster_queue=\"" + queue + "\""), n);
    EXPECT_EQ(sum("kueue_admitted_workloads_total", "cluster_queue=\"" + queue + "\""), n);
  }
  int preemptions = 0;
  for (const auto& [key, n] : preempted) preemptions += n;
  EXPECT_EQ(sum("kueue_preempted_workloads_total", ""), preemptions);
  EXPECT_EQ(sum("kueue_finished_workloads_total", ""), finished);
  EXPECT_EQ(sum("kueue_pending_workloads", ""), 1);             // moonshot
  EXPECT_EQ(sum("kueue_cluster_queue_resource_usage", ""), 0);  // all others have ended
  EXPECT_EQ(sum("kueue_cluster_queue_nominal_quota", "resource=\"cpu\""), 16);
}

}  // namespace
}  // namespace hindsight::projections

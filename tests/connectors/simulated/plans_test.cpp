#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/simulated/job_simulator.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

/// The applier's part against a simulated API server: plans from intents, writes, until nothing is missing.
class Applying {
 public:
  explicit Applying(bool webhooks) : cluster_(test::fresh(options(webhooks))), jobs_(cluster_) {}

  SimulatedCluster& cluster() { return cluster_; }
  [[nodiscard]] Json job() const { return cluster_.find("Job", "default", "j")->object; }
  [[nodiscard]] Json workload() const {
    const auto stored = cluster_.find("Workload", "default", "w");
    return stored ? stored->object : Json();
  }

  /// Sends the first missing write and plans anew; returns how many writes it took.
  int settle(const std::function<std::vector<Write>()>& plan) {
    for (int writes = 0; writes < 12; ++writes) {
      auto missing = plan();
      if (missing.empty()) return writes;
      send(std::move(missing.front()));
      if (testing::Test::HasFailure()) return -1;
    }
    ADD_FAILURE() << "does not come to rest";
    return -1;
  }

  void send(Write write) {
    const std::string what = write.name + "/" + write.subresource + " " + write.body;
    cluster_.submit(std::move(write), [&](const WriteAnswer& answer) {
      EXPECT_LT(answer.http_status, 300) << what << "\n" << answer.body;
    });
  }

 private:
  static ClusterOptions options(bool webhooks) {
    ClusterOptions out;
    out.webhooks = webhooks;
    return out;
  }

  SimulatedCluster cluster_;
  JobSimulator jobs_;
};

admission::WorkloadIntent pending_intent(const Json& workload) {
  admission::WorkloadIntent out;
  out.uid = workload["metadata"]["uid"];
  out.namespace_ = "default";
  out.name = "w";
  return out;
}

admission::WorkloadIntent admitted_intent(const Json& workload, std::int32_t count) {
  auto out = pending_intent(workload);
  const auto since = virtual_start;
  out.conditions = {{ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved in ClusterQueue q", since},
                    {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", since}};
  out.has_admission = true;
  out.cluster_queue = "q";
  out.assignments = {{"main", count, {{"cpu", "f"}}, {{"cpu", 1000 * count}}}};
  return out;
}

admission::WorkloadIntent evicted_intent(const Json& workload, bool released) {
  auto out = pending_intent(workload);
  const auto since = virtual_start;
  const auto reserved = released ? ConditionStatus::false_ : ConditionStatus::true_;
  out.conditions = {{ConditionType::quota_reserved, reserved, released ? "PendingEvaluation" : "QuotaReserved", "", since},
                    {ConditionType::evicted, ConditionStatus::true_, "Preempted", "made room", since}};
  if (!released) {
    auto admitted = admitted_intent(workload, 2);
    out.has_admission = true;
    out.cluster_queue = admitted.cluster_queue;
    out.assignments = admitted.assignments;
  }
  out.evictions = {{"Preempted", "", 1}};
  return out;
}

admission::JobIntent job_intent(const Json& job, const Json& workload, bool run, std::int32_t count) {
  admission::JobIntent out;
  out.uid = job["metadata"]["uid"];
  out.kind = "Job";
  out.group = "batch";
  out.namespace_ = "default";
  out.name = "j";
  out.run = run;
  out.workload = "w";
  out.workload_uid = workload["metadata"]["uid"];
  out.cluster_queue = "q";
  out.local_queue = "lq";
  admission::PodSetStart start;
  start.name = "main";
  start.count = count;
  start.node_labels = {{"pool", "a"}};
  out.pod_sets = {start};
  return out;
}

struct Variant {
  bool webhooks;
  bool runs;  ///< Somebody plays the Job controller.
};

class PlansOfConnectors : public testing::TestWithParam<Variant> {};

// BA-43, BA-169, BA-176: what the connectors want to write, an API server takes, from creation to the end, evictions included.
TEST_P(PlansOfConnectors, are_accepted_through_the_life_of_a_job) {
  Applying applying(GetParam().webhooks);
  Json made = test::job("j", GetParam().runs ? Json{{"hindsight.dev/run-seconds", "10"}} : Json());
  made["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1";
  made["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1";
  ASSERT_TRUE(applying.cluster().create(made).accepted());
  const Json original_template = applying.job()["spec"]["template"];

  admission::WorkloadCreateIntent create;
  create.job_uid = applying.job()["metadata"]["uid"];
  create.job_kind = "Job";
  create.job_group = "batch";
  create.namespace_ = "default";
  create.job_name = "j";
  create.name = "w";
  create.queue_name = "lq";
  auto creation = plan_create(create, applying.job());
  ASSERT_TRUE(creation) << creation.error().message;
  applying.send(std::move(*creation));
  ASSERT_FALSE(HasFailure());

  const auto write_workload = [&](const admission::WorkloadIntent& intent) {
    return applying.settle([&] { return plan_workload(intent, applying.workload()); });
  };
  const auto write_job = [&](const admission::JobIntent& intent) {
    return applying.settle([&] {
      auto plan = plan_job(intent, applying.job(), applying.workload());
      EXPECT_TRUE(plan) << plan.error().message;
      return plan ? std::move(*plan) : std::vector<Write>();
    });
  };

  for (int round = 0; round < 2; ++round) {
    const std::int32_t count = round == 0 ? 2 : 1;
    EXPECT_GE(write_workload(admitted_intent(applying.workload(), count)), 1);
    EXPECT_GE(write_job(job_intent(applying.job(), applying.workload(), true, count)), 1);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(applying.job()["spec"]["suspend"], false);
    EXPECT_EQ(applying.job()["spec"]["parallelism"], count);
    EXPECT_EQ(applying.job()["spec"]["template"]["spec"]["nodeSelector"]["pool"], "a");
    EXPECT_EQ(applying.job()["status"].contains("startTime"), GetParam().runs);

    auto evicted = evicted_intent(applying.workload(), false);
    evicted.assignments = admitted_intent(applying.workload(), count).assignments;
    write_workload(evicted);
    EXPECT_GE(write_job(job_intent(applying.job(), applying.workload(), false, count)), 1);
    write_workload(evicted_intent(applying.workload(), true));
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(applying.job()["spec"]["suspend"], true);
    EXPECT_EQ(applying.job()["spec"]["template"], original_template);
    EXPECT_EQ(applying.job()["spec"]["parallelism"], 2);
    EXPECT_FALSE(applying.workload()["status"].contains("admission"));
  }

  auto gone = pending_intent(applying.workload());
  gone.remove = true;
  applying.settle([&] { return applying.workload().is_null() ? std::vector<Write>() : plan_workload(gone, applying.workload()); });
  EXPECT_EQ(applying.cluster().find("Workload", "default", "w"), nullptr);
}

// CA-1, CA-5, CA-11, CA-20, CA-70, CA-111: the API server takes all that is written of a family
TEST_P(PlansOfConnectors, of_a_family_are_accepted) {
  Applying applying(GetParam().webhooks);
  auto& cluster = applying.cluster();
  Json parent = test::workload("w");
  parent["spec"]["queueName"] = "lq";
  parent["spec"]["priority"] = 5;
  parent["spec"]["preemptionGates"] = Json::parse(R"([{"name":"other"}])");
  ASSERT_TRUE(cluster.create(std::move(parent)).accepted());

  auto intent = pending_intent(applying.workload());
  intent.parent_markers = true;
  intent.options = {{"w-option-a", {"a"}, OptionPhase::pending, "", virtual_start},
                    {"w-option-b", {"b", "c"}, OptionPhase::deactivated, "createDelaySeconds 60", virtual_start}};
  const auto of_parent = [&] { return plan_workload(intent, applying.workload()); };
  EXPECT_EQ(applying.settle(of_parent), 2);
  EXPECT_TRUE(has_parent_markers(applying.workload()));
  EXPECT_EQ(applying.workload()["status"]["options"].size(), 2U);

  admission::OptionCreateIntent create;
  create.parent_uid = intent.uid;
  create.namespace_ = "default";
  create.parent_name = "w";
  create.name = "w-option-b";
  create.flavors = {"b", "c"};
  create.active = false;
  applying.send(plan_create_option(create, applying.workload()));
  const auto option = [&] { return cluster.find("Workload", "default", "w-option-b")->object; };
  ASSERT_TRUE(cluster.find("Workload", "default", "w-option-b"));
  EXPECT_EQ(option()["spec"]["active"], false);
  EXPECT_EQ(option()["spec"]["priority"], 5);
  EXPECT_EQ(option()["spec"]["preemptionGates"].size(), 2U);
  EXPECT_TRUE(is_option_of(option(), intent.uid));

  admission::WorkloadIntent switched;
  switched.uid = option()["metadata"]["uid"];
  switched.namespace_ = "default";
  switched.name = "w-option-b";
  switched.set_active = true;
  switched.gates = {{"kueue.x-k8s.io/concurrent-admission", true, virtual_start}};
  EXPECT_EQ(applying.settle([&] { return plan_workload(switched, option()); }), 2);
  EXPECT_EQ(option()["spec"]["active"], true);
  EXPECT_EQ(option()["status"]["preemptionGates"][0]["position"], "Open");

  admission::WorkloadReviseIntent revise;
  revise.uid = switched.uid;
  revise.namespace_ = "default";
  revise.name = "w-option-b";
  revise.queue_name = "other";
  revise.priority = 7;
  EXPECT_EQ(applying.settle([&] { return *plan_revise(revise, option(), Json::object()); }), 1);

  intent.parent_markers = false;
  intent.options.clear();
  EXPECT_EQ(applying.settle(of_parent), 2);
  EXPECT_FALSE(applying.workload()["status"].contains("options"));
  intent.remove = true;
  EXPECT_EQ(applying.settle([&] { return applying.workload().is_null() ? std::vector<Write>{} : of_parent(); }), 1);
  EXPECT_FALSE(cluster.find("Workload", "default", "w-option-b")) << "it goes with its Parent";
}

INSTANTIATE_TEST_SUITE_P(Variants, PlansOfConnectors,
                         testing::Values(Variant{false, false}, Variant{false, true}, Variant{true, false}, Variant{true, true}),
                         [](const auto& variant) {
                           return std::string(variant.param.webhooks ? "with_webhooks" : "without_webhooks") +
                                  (variant.param.runs ? "_and_pods" : "_and_no_pods");
                         });

// base-api §2.2, §2.4
TEST(PlansOfConnectors, for_queues_are_accepted) {
  Applying applying(true);
  ASSERT_TRUE(applying.cluster().create(test::kueue("ClusterQueue", "q", Json::object())).accepted());
  ASSERT_TRUE(applying.cluster().create(test::kueue("LocalQueue", "lq", {{"clusterQueue", "q"}})).accepted());
  for (const bool local : {false, true}) {
    admission::QueueStatusIntent intent;
    intent.local = local;
    intent.namespace_ = local ? "default" : "";
    intent.name = local ? "lq" : "q";
    intent.pending = 3;
    intent.active = true;
    intent.active_reason = "Ready";
    intent.active_message = "Can admit new workloads";
    intent.active_since = virtual_start;
    intent.reservation = {{"f", {{"cpu", {1500, 500}}, {"memory", {Amount{1} << 30, 0}}}}};
    intent.usage = intent.reservation;
    intent.weighted_share = 7;
    const int writes = applying.settle([&] {
      const auto stored = applying.cluster().find(local ? "LocalQueue" : "ClusterQueue", "default", intent.name);
      auto write = plan_queue_status(intent, stored->object);
      return write ? std::vector<Write>{std::move(*write)} : std::vector<Write>();
    });
    EXPECT_EQ(writes, 1);
  }
  EXPECT_EQ(applying.cluster().find("ClusterQueue", "", "q")->status()["pendingWorkloads"], 3);
}

}  // namespace
}  // namespace hindsight::connectors::simulated

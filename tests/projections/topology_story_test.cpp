// What the log of examples/topology tells: each row of the table in examples/README.md.

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/describe.hpp"
#include "projections/objects.hpp"
#include "projections/quota_report.hpp"
#include "projections/tables.hpp"
#include "projections/topologies.hpp"
#include "replay/verify.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

class TopologyStory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/topology"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  /// The Workload of a job as an object, after a second of virtual time.
  static Json object(const std::string& job, int second) {
    const auto& state = run->state(run->at(second));
    for (const auto& one : select_workloads(state, {}))
      if (one.workload->name.view().starts_with("job-" + job + "-")) return workload_object(state, one);
    throw std::runtime_error("no Workload of " + job);
  }
  /// Racks with the pods that stand there: "b0-r1 4".
  static std::map<std::string, int> racks(const std::string& job, int second) {
    std::map<std::string, int> out;
    const Json assignment = object(job, second)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"];
    EXPECT_EQ(assignment["levels"], Json::array({"kubernetes.io/hostname"}));
    for (const auto& slice : assignment["slices"]) {
      const auto one_of = [](const Json& values, std::size_t i) {
        return values.contains("universal")      ? values["universal"]
               : values["individual"].is_array() ? values["individual"][i]
                                                 : values["individual"]["roots"][i];
      };
      for (std::size_t i = 0; i < slice["domainCount"].get<std::size_t>(); ++i)
        out[one_of(slice["valuesPerLevel"][0], i).get<std::string>().substr(0, 5)] += one_of(slice["podCounts"], i).get<int>();
    }
    return out;
  }
  static std::string pending(const std::string& job, int second) {
    const Json whole = object(job, second);
    for (const auto& c : whole["status"]["conditions"])
      if (c["type"] == "QuotaReserved" && c["status"] == "False")
        return c["reason"].get<std::string>() + ": " + c["message"].get<std::string>();
    return {};
  }
  static Played* run;
};

Played* TopologyStory::run = nullptr;

using Racks = std::map<std::string, int>;

// TAS-59, TAS-60, TAS-61, TAS-69, TAS-110, TAS-111, TAS-121
TEST_F(TopologyStory, IsWhatTheTableSays) {
  EXPECT_EQ(racks("train-block", 0), (Racks{{"b0-r0", 8}, {"b0-r1", 8}}));
  EXPECT_EQ(racks("tune-rack", 1), (Racks{{"b0-r2", 6}}));
  EXPECT_EQ(racks("sweep", 2), (Racks{{"b0-r2", 4}})) << "the one host there that is left";
  EXPECT_EQ(racks("pairs", 3), (Racks{{"b1-r0", 8}, {"b1-r1", 8}, {"b1-r2", 4}}));
  EXPECT_EQ(pending("big-rack", 4),
            "WaitingForQuota: couldn't assign flavors to pod set main: topology \"fleet\" allows to fit only 2 out of 4 pod(s). Total "
            "nodes: 24; excluded: resource \"example.com/gpu\": 22");
  EXPECT_EQ(racks("urgent-rack", 6), (Racks{{"b1-r0", 4}}));
  for (const char* spared : {"train-block", "tune-rack", "sweep"}) EXPECT_EQ(pending(spared, 6), "") << spared;
  EXPECT_NE(pending("pairs", 6), "") << "it had to go";
  EXPECT_EQ(pending("too-large", 7),
            "TopologyPlacementFailed: couldn't assign flavors to pod set main: topology \"fleet\" allows to fit only 8 out of 33 pod(s). "
            "Total nodes: 24; excluded: resource \"example.com/gpu\": 19");
}

TEST_F(TopologyStory, HistoryNamesThePlaces) {
  const auto lines = run->story("job/research/tune-rack");
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("main x6 gpu-nodes/example.com/gpu 24 on b0-r2-n0: 2, b0-r2-n1: 2, b0-r2-n2: 2; admitted") != std::string::npos;
  })) << lines.size();
}

// At every moment what is free of a node, what is placed there and what others use is all that it has; domains are the sum of their nodes,
// and no host has more than it holds (TAS-31).
TEST_F(TopologyStory, NodesAndDomainsAddUp) {
  for (int second = 0; second <= 8; ++second) {
    const auto& state = run->state(run->at(second));
    const auto shares = node_shares(state);
    ASSERT_EQ(shares.size(), 24U);
    std::map<std::string, std::int64_t> pods;
    for (const auto& one : select_workloads(state, {})) {
      const auto& w = *one.workload;
      if (!w.reserved()) continue;
      for (const auto& p : w.admission->pod_sets)
        for (const auto n : p.topology->counts) pods["research/" + w.name.text()] += n;
    }
    NodeShare all;
    for (const auto& [name, share] : shares) {
      EXPECT_GE(share.free("example.com/gpu"), 0) << name << " at " << second;
      all.add(share);
    }
    EXPECT_EQ(all.whose, pods) << second;
    const auto& topologies = state.domain().catalog()->topologies;
    const Json described = describe_topology(state, topologies.begin()->first, topologies.begin()->second);
    std::int64_t in_blocks = 0, in_racks = 0, on_hosts = 0;
    for (const auto& row : described["flavors"][0]["domains"]) {
      const auto domain = row["domain"].get<std::string>();
      (domain.starts_with("    ") ? on_hosts : domain.starts_with("  ") ? in_racks : in_blocks) += row["podsPlaced"].get<std::int64_t>();
    }
    EXPECT_EQ(in_blocks, all.pods);
    EXPECT_EQ(in_racks, all.pods);
    EXPECT_EQ(on_hosts, all.pods);
  }
  const auto& state = run->state(run->at(5));
  const auto& nodes = state.domain().nodes();
  const Json node = describe_node(state, *nodes.at(Symbol("b0-r2-n3")));
  EXPECT_EQ(node["resources"][0],
            (Json{{"resource", "example.com/gpu"}, {"allocatable", "8"}, {"usedByOthers", "0"}, {"placed", "4"}, {"free", "4"}}));
  EXPECT_EQ(node["resources"][1]["free"], "28") << "slots";
  EXPECT_EQ(nodes_table(state, {}).rows.size(), 24U);
  EXPECT_EQ(topologies_table(state, {}).rows.at(0).at(3).text, "24");
}

// hindsight.topologyProfile goes from the configuration to the places of pods, and is part of the log: deciding again from it comes to the
// same places.
TEST(TopologyProfile, IsPartOfWhatDecisionsFollowFrom) {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: hall}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: a}, topologyName: hall}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: default
  annotations: {hindsight.dev/run-seconds: '60'}
  labels: {kueue.x-k8s.io/queue-name: lq-q}
spec:
  suspend: true
  parallelism: 6
  completions: 6
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]
)";
  text += queue_text({.name = "q", .cpu = "40", .flavor = "f"});
  const std::pair<const char*, const char*> nodes[] = {{"r1", "h1: 2"}, {"r1", "h2: 2"}, {"r1", "h3: 2"}, {"r2", "h4: 5"}, {"r2", "h5: 4"}};
  for (const auto& [rack, node] : nodes) {
    const std::string name(node, 2), cpus(node + 4);
    text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {pool: a, rack: " + rack +
            ", kubernetes.io/hostname: " + name + "}}\nstatus: {allocatable: {cpu: '" + cpus +
            "', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}\n";
  }
  const auto places = [&](const std::string& configuration) {
    Played run(text, configuration);
    EXPECT_TRUE(replay::verify(run.log, "default").value().clean()) << configuration;
    for (const auto& line : run.story("job/train"))
      if (const auto on = line.find(" on h"); on != std::string::npos) return line.substr(on + 4, line.find(';', on) - on - 4);
    return std::string("nowhere");
  };
  EXPECT_EQ(places(""), "h1: 2, h2: 2, h3: 2");
  EXPECT_EQ(places(R"({"hindsight": {"topologyProfile": "Kueue"}})"), "h1: 2, h2: 2, h3: 2");
  EXPECT_EQ(places(R"({"hindsight": {"topologyProfile": "Compact"}})"), "h4: 5, h5: 1");
}

// TAS-65: hindsight.topologyCapacity goes the same way, and `why` says what keeps a pod from racks whose hosts count one by one.
TEST(TopologyCapacity, HostsOfRacksCountOneByOneWhereThatIsConfigured) {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: hall}
spec: {levels: [{nodeLabel: rack}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: a}, topologyName: hall}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: default
  annotations: {hindsight.dev/run-seconds: '60'}
  labels: {kueue.x-k8s.io/queue-name: lq-q}
spec:
  suspend: true
  parallelism: 1
  completions: 1
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]
)";
  text += queue_text({.name = "q", .cpu = "40", .flavor = "f"});
  for (const std::string name : {"h1", "h2"})
    text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {pool: a, rack: r1, kubernetes.io/hostname: " + name +
            "}}\nstatus: {allocatable: {cpu: '1', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}\n";
  const auto started = [&](const std::string& configuration) {
    Played run(text, configuration);
    EXPECT_TRUE(replay::verify(run.log, "default").value().clean()) << configuration;
    const auto story = run.story("job/train");
    return std::any_of(story.begin(), story.end(), [](const std::string& line) { return line.find(" on r1: 1") != std::string::npos; });
  };
  EXPECT_TRUE(started(""));
  EXPECT_TRUE(started(R"({"hindsight": {"topologyCapacity": "Sum"}})"));
  EXPECT_FALSE(started(R"({"hindsight": {"topologyCapacity": "Nodes"}})"));
}

// Queues that share hosts are decided in one tree; what is said of a cohort is of that cohort all the same.
TEST(SharedHosts, EachCohortIsStillTold) {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: t}, topologyName: t}
---
apiVersion: v1
kind: Node
metadata: {name: n, labels: {pool: t, kubernetes.io/hostname: n}}
status: {allocatable: {cpu: 8, pods: 10}}
)";
  for (const char* name : {"red", "blue"})
    text += std::string("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: ") + name +
            "}\nspec: {cohortName: all-" + name +
            ", namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
            "8}]}]}]}\n";
  Played run(text);
  const auto& state = run.state(run.end());
  EXPECT_EQ(state.domain().root_of(Symbol("red")), state.domain().root_of(Symbol("blue")));
  for (const char* name : {"red", "blue"}) {
    const Symbol cohort(std::string("all-") + name);
    EXPECT_NE(tree_of_cohort(state, cohort), nullptr) << name;
    EXPECT_EQ(queues_of_tree(state, Symbol(name)), std::vector<Symbol>{Symbol(name)});
    const auto lines = quota_of_cohort(state, cohort);
    ASSERT_EQ(lines.size(), 1U) << name;
    EXPECT_EQ(lines[0].figures.subtree, 8'000) << name << ": the other cohort lends nothing";
  }
}

}  // namespace
}  // namespace hindsight::projections

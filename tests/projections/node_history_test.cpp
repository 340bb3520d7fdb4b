// `hindsight history node/N`: what one node was seen to be, who had places there, and which nodes give none to anybody (issue "Topology",
// point 5).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/history_short.hpp"
#include "projections/left_out_nodes.hpp"
#include "projections/node_history.hpp"
#include "projections/topologies.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

std::string node_line(const std::string& name, const std::string& more = {}, const std::string& rack = "rack: r1, ") {
  return "    - {apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {pool: a, " + rack + "kubernetes.io/hostname: " + name +
         "}}, " + more + "status: {allocatable: {cpu: '4', pods: '10'}, conditions: [{type: Ready, status: '" +
         (name == "n5" ? "False" : "True") + "'}]}}\n";
}

/// Two pods stand on n1; a pod of others comes and goes; n1 is cordoned, loses its Ready and comes back. n3 to n5 give no places.
const std::string scenario = R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: nodes}
spec:
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: hall}, spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels: {pool: a}, topologyName: hall}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 100}]}]}]}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}
)" + node_line("n1") + node_line("n2", "spec: {taints: [{key: mine, effect: NoSchedule}]}, ") +
                             node_line("n3", {}, "") + node_line("n4", "spec: {unschedulable: true}, ") + node_line("n5") + R"(
  - at: 1s
    apply:
    - {apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {hindsight.dev/run-seconds: '20'}}, spec: {suspend: true, parallelism: 2, completions: 2, template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}}}}
  - at: 30s
    patch:
    - {kind: Node, name: n1, merge: {spec: {unschedulable: true}}}
  - at: 31s
    patch:
    - {kind: Node, name: n1, merge: {spec: {unschedulable: null, taints: [{key: hot, value: very, effect: NoExecute}]}, metadata: {labels: {rack: r2}}}}
  - at: 32s
    delete:
    - {kind: Node, name: n1}
)";

class NodeStory : public ::testing::Test {
 protected:
  /// "decided Workload default/w: …" of one node, as the command prints it.
  Lines story(const std::string& node) {
    NodeHistory history(node);
    replay::Past past(run.log, "default");
    past.look_on([&](events::Position, const RecordView& r) { history.before(r, past.driver()); },
                 [&](events::Position offset, const RecordView& r) { history.after(offset, r, past.driver()); });
    EXPECT_TRUE(past.fold_to(run.end()));
    Lines out;
    for (const auto& e : condensed(history.entries())) {
      std::string object = e.entry.object;
      if (object.starts_with("Workload default/job-train")) object = "train";
      out.push_back((e.entry.decided ? "decided " : "observed ") + object + ": " + short_text(e));
    }
    return out;
  }
  Played run{scenario};
};

TEST_F(NodeStory, TellsWhatChangedAndWhoStoodThere) {
  const Lines lines = story("n1");
  const auto line = [&](std::size_t i) { return i < lines.size() ? lines[i] : std::string(); };
  // Its status is written after the node itself, as by a kubelet.
  EXPECT_EQ(line(0),
            "observed Node n1: seen: without a condition Ready, with nothing, labelled kubernetes.io/hostname=n1, pool=a, rack=r1");
  EXPECT_EQ(line(1), "observed Node n1: is Ready");
  EXPECT_EQ(line(2), "observed Node n1: allocatable nothing -> cpu 4, pods 10");
  EXPECT_EQ(line(3), "observed ResourceFlavor f: gives places on the node");
  EXPECT_EQ(line(4), "decided train: places for main x2");
  const auto after = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.find("train: main x2 have no") != l.npos; });
  ASSERT_NE(after, lines.end()) << ::testing::PrintToString(lines);
  EXPECT_EQ(Lines(after, lines.end()),
            (Lines{"decided train: main x2 have no places here any more: finished: Succeeded", "observed Node n1: cordoned",
                   "observed ResourceFlavor f: gives no places on the node any more: cordoned", "observed Node n1: not cordoned any more",
                   "observed Node n1: got taint hot=very:NoExecute", "observed Node n1: label rack: r1 -> r2",
                   "observed ResourceFlavor f: gives places on the node", "observed Node n1: deleted",
                   "observed ResourceFlavor f: gives no places on the node any more"}))
      << ::testing::PrintToString(lines);
}

TEST_F(NodeStory, OfANodeWhereNothingHappenedThereIsWhatWasSeen) {
  EXPECT_EQ(story("n3"),
            (Lines{"observed Node n3: seen: without a condition Ready, with nothing, labelled kubernetes.io/hostname=n3, pool=a",
                   "observed Node n3: is Ready", "observed Node n3: allocatable nothing -> cpu 4, pods 10"}));
  const Lines tainted = story("n2");
  EXPECT_NE(std::find(tainted.begin(), tainted.end(), "observed Node n2: has taint mine:NoSchedule"), tainted.end())
      << ::testing::PrintToString(tainted);
  EXPECT_EQ(story("none"), Lines{});
}

TEST_F(NodeStory, WordsThatNameANode) {
  for (const char* word : {"node/n1", "nodes/n1", "no/n1", "Node/n1"}) EXPECT_EQ(node_target(word).value_or(""), "n1") << word;
  for (const char* word : {"n1", "node/", "node/a/b", "job/n1", "node", "/n1"}) EXPECT_FALSE(node_target(word).has_value()) << word;
}

// TAS-17, TAS-65: nodes that give no places are told with the label that is missing; those of other flavors are none of them.
TEST_F(NodeStory, NodesThatGiveNoPlacesAreTold) {
  const auto& state = run.state(run.at(1));
  const auto& flavor = *state.domain().catalog()->flavor(Symbol("f"));
  std::map<std::string, Lines> groups;
  for (const auto& g : left_out_nodes(state, flavor)) groups[g.reason] = g.examples;
  EXPECT_EQ(groups, (std::map<std::string, Lines>{{"cordoned", {"n4"}}, {"no label rack", {"n3"}}, {"not ready", {"n5"}}}));
  const auto& topologies = state.domain().catalog()->topologies;
  const Json told = describe_topology(state, topologies.begin()->first, topologies.begin()->second);
  EXPECT_EQ(told["flavors"][0]["leftOut"], (Lines{"1 node gives no places: cordoned (n4)", "1 node gives no places: no label rack (n3)",
                                                  "1 node gives no places: not ready (n5)"}));
  const auto& nodes = state.domain().nodes();
  EXPECT_EQ(describe_node(state, *nodes.at(Symbol("n3")))["leftOutOf"], Lines{"f: no label rack"});
  EXPECT_FALSE(describe_node(state, *nodes.at(Symbol("n1"))).contains("leftOutOf"));
  const Json whole = topology_object(state, topologies.begin()->first, topologies.begin()->second);
  EXPECT_EQ(whole["status"]["hindsight"]["flavors"][0]["leftOut"][0],
            (Json{{"reason", "cordoned"}, {"nodes", 1}, {"examples", {"n4"}}, {"examplesLeftOut", 0}}));
}

}  // namespace
}  // namespace hindsight::projections

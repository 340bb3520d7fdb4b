// Requests for topologies that are not served as they are written are told, each with what is missing.

#include "simulation/topology_requests.hpp"

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"

namespace hindsight::simulation {
namespace {

using Notices = std::vector<std::string>;

/// A world in which the request is served, unless something is left out.
struct TopologyWorld {
  bool topology_name = true, topology = true, node = true;
  std::string asked = "kueue.x-k8s.io/podset-required-topology: rack";  ///< Annotations of the pod template.
  std::string own;                                                      ///< Annotations of the job.
  std::string queue = "lq";
  int jobs = 1;
  connectors::webhooks::GateValues gates;

  [[nodiscard]] Notices told() const {
    std::string text = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodeLabels: {pool: x}" +
                       std::string(topology_name ? ", topologyName: t" : "") + "}\n";
    if (topology)
      text +=
          "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: {levels: [{nodeLabel: rack}, {nodeLabel: "
          "host}]}\n";
    if (node)
      text +=
          "---\napiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {pool: x, rack: r, host: h}}\nstatus: {allocatable: {cpu: 8, pods: "
          "9}}\n";
    text +=
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec:\n  namespaceSelector: {}\n  "
        "resourceGroups:\n"
        "  - coveredResources: [cpu]\n    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 9}]}]\n"
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq, namespace: a}\nspec: {clusterQueue: q}\n";
    for (int i = 0; i < jobs; ++i)
      text += "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j" + std::to_string(i) +
              "\n  namespace: a\n  labels: {kueue.x-k8s.io/queue-name: " + queue + "}\n  annotations: {" + own +
              "}\nspec:\n  parallelism: 2\n  completions: 2\n  template:\n    metadata: {annotations: {" + asked +
              "}}\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]\n";
    auto input = connectors::manifests::read_text(text, "test.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    return topology_notices(connectors::simulated::scenario_of(std::move(input->manifests), "test"), gates);
  }
};

const std::string at_template = "Job a/j0: spec.template.metadata.annotations";
const std::string cannot = at_template + ": asks for a topology that ClusterQueue q cannot give: ";

TEST(TopologyRequests, ThoseThatAreServedAreNotTold) {
  EXPECT_EQ(TopologyWorld{}.told(), Notices{});
  EXPECT_EQ((TopologyWorld{.asked = "kueue.x-k8s.io/podset-preferred-topology: host"}.told()), Notices{});
  EXPECT_EQ((TopologyWorld{.asked = "kueue.x-k8s.io/podset-unconstrained-topology: 'true'"}.told()), Notices{});
  EXPECT_EQ((TopologyWorld{.topology_name = false, .topology = false, .node = false, .asked = ""}.told()), Notices{})
      << "nothing is asked for";
  EXPECT_EQ((TopologyWorld{.topology_name = false, .queue = "other"}.told()), Notices{}) << "no queue takes it";
}

TEST(TopologyRequests, WhatIsMissingIsNamed) {
  EXPECT_EQ((TopologyWorld{.topology_name = false}.told()), Notices{cannot + "ResourceFlavor f has no topologyName"});
  EXPECT_EQ((TopologyWorld{.topology = false}.told()), Notices{cannot + "ResourceFlavor f names Topology t, which is not there"});
  EXPECT_EQ((TopologyWorld{.node = false}.told()),
            Notices{cannot + "no Node has the labels of ResourceFlavor f and of the levels of Topology t"});
  EXPECT_EQ((TopologyWorld{.asked = "kueue.x-k8s.io/podset-required-topology: zone"}.told()),
            Notices{cannot + "Topology t has no level \"zone\", but rack, host"});
  EXPECT_EQ((TopologyWorld{.topology_name = false, .asked = "kueue.x-k8s.io/podset-unconstrained-topology: 'true'"}.told()),
            Notices{cannot + "ResourceFlavor f has no topologyName"});
}

TEST(TopologyRequests, WhatNobodyReadsIsTold) {
  EXPECT_EQ((TopologyWorld{.asked = "", .own = "kueue.x-k8s.io/podset-required-topology: rack"}.told()),
            Notices{"Job a/j0: metadata.annotations[kueue.x-k8s.io/podset-required-topology]: nobody reads it there; allowed: in the "
                    "metadata of the pod "
                    "template"});
  const auto misspelled = TopologyWorld{.asked = "kueue.x-k8s.io/podset-required-topolgy: rack"}.told();
  ASSERT_EQ(misspelled.size(), 1U);
  EXPECT_TRUE(misspelled[0].starts_with(at_template + "[kueue.x-k8s.io/podset-required-topolgy]: no annotation that is known; allowed: "))
      << misspelled[0];
  EXPECT_EQ((TopologyWorld{.gates = {{"TopologyAwareScheduling", false}}}.told()),
            Notices{at_template + ": asks for a topology, but feature gate TopologyAwareScheduling is off: nobody looks at it"});
}

// TAS-38 to TAS-45
TEST(TopologyRequests, WhatWebhooksRefuseIsTold) {
  const auto both =
      TopologyWorld{.asked = "kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-preferred-topology: rack"}.told();
  ASSERT_EQ(both.size(), 1U);
  EXPECT_NE(both[0].find("must not contain more than one topology annotation"), std::string::npos) << both[0];
  EXPECT_NE(both[0].find("(the webhooks of a cluster refuse the job)"), std::string::npos) << both[0];
  const auto slice = TopologyWorld{.asked = "kueue.x-k8s.io/podset-slice-required-topology: rack"}.told();
  ASSERT_EQ(slice.size(), 1U);
  EXPECT_NE(slice[0].find("podset-slice-size"), std::string::npos) << slice[0];
}

TEST(TopologyRequests, OnlySomeAreToldOneByOne) {
  const auto told = TopologyWorld{.node = false, .jobs = 12}.told();
  ASSERT_EQ(told.size(), topology_notices_max + 1);
  EXPECT_EQ(told.back(), "and 2 more requests for topologies that are not served as they stand");
}

}  // namespace
}  // namespace hindsight::simulation

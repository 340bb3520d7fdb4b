// More nodes, and the pods of jobs that stand on them.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/whatif/played_on.hpp"

namespace hindsight::whatif {
namespace {

using projections::Played;

std::string node_text(const std::string& name, const std::string& rack) {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {rack: " + rack + ", kubernetes.io/hostname: " + name +
         "}}\nstatus: {allocatable: {cpu: '4', pods: '10'}, conditions: [{type: Ready, status: 'True'}]}\n";
}

std::string placed_job(const std::string& name, int arrives, int pods) {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
         "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '100', hindsight.dev/arrive-seconds: '" +
         std::to_string(arrives) +
         "'}\n  labels: {kueue.x-k8s.io/queue-name: lq}\nspec:\n  suspend: true\n  parallelism: " + std::to_string(pods) +
         "\n  completions: " + std::to_string(pods) +
         "\n  template:\n    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}\n    spec:\n      restartPolicy: "
         "Never\n      containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]\n";
}

/// One rack with two nodes, and jobs that need a node for each pod; quota there is enough.
const std::string small_fleet =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: racks}\nspec: {levels: [{nodeLabel: rack}, {nodeLabel: "
    "kubernetes.io/hostname}]}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: hosts}\nspec: "
    "{nodeLabels: {rack: r1}, topologyName: racks}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: "
    "cq}\nspec:\n  namespaceSelector: {}\n  resourceGroups: [{coveredResources: [cpu], flavors: [{name: hosts, resources: [{name: cpu, "
    "nominalQuota: 100}]}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq, namespace: "
    "default}\nspec: {clusterQueue: cq}\n" +
    node_text("n1", "r1") + node_text("n2", "r1") + placed_job("first", 0, 2) + placed_job("second", 10, 2);

Changes with_nodes(const std::string& text) {
  Changes out;
  out.nodes.push_back(parse_node_change(text).value());
  return out;
}

TEST(MoreNodes, GiveRoomToAJobThatWaitedForSome) {
  const Played p(small_fleet);
  const PlayedOn c(p.log, p.at(5), with_nodes("2xn1"), false, Duration::seconds(600));
  EXPECT_GE((c.was("second").started - c.was("second").came).micros, Duration::seconds(85).micros);
  EXPECT_LT((c.would_be("second").started - c.would_be("second").came).micros, Duration::seconds(2).micros);
  EXPECT_NEAR(static_cast<double>((c.would_be("second").ended - c.would_be("second").started).micros) / 1e6, 100, 2);
  EXPECT_TRUE(c.verifies());
}

TEST(MoreNodes, AreNoHelpWhereOneIsTooFew) {
  const Played p(small_fleet);
  const PlayedOn c(p.log, p.at(5), with_nodes("1xn2"), false, Duration::seconds(600));
  EXPECT_GE((c.would_be("second").started - c.would_be("second").came).micros, Duration::seconds(85).micros);
  EXPECT_TRUE(c.verifies());
}

TEST(MoreNodes, CarryPodsOfWhomeverStartsThere) {
  const Played p(small_fleet);
  std::set<std::string> nodes, waiting;
  Responses responses;
  PlayOptions options{.from = p.at(5), .until = p.end(), .beyond = Duration::seconds(60)};
  options.on_record = [&](const RecordView& r, const admission::LoopDriver&) {
    const auto* o = std::get_if<Observation>(&r.body);
    const auto* pod = o == nullptr ? nullptr : std::get_if<PodObserved>(o);
    if (pod == nullptr) return;
    if (pod->topology_gated) waiting.emplace(pod->meta.name);
    if (!pod->node.empty()) nodes.emplace(pod->node);
  };
  Player player(p.log, "default", responses, with_nodes("2xn1"), options);
  const auto played = player.play();
  ASSERT_TRUE(played) << played.error().message;
  EXPECT_EQ(waiting.size(), 2U);  // of the second; the first is on record, which has no pods
  EXPECT_EQ(nodes, (std::set<std::string>{"n1-more-1", "n1-more-2"}));
  // They went with the end of their job, or are there while it runs: nobody lingers.
  for (std::uint32_t i = 0; i < player.driver().domain().parent_count(); ++i) {
    const auto* parent = player.driver().parent(i);
    if (parent == nullptr || !parent->job() || !parent->job()->finished) continue;
    EXPECT_TRUE(parent->pods().empty()) << parent->job()->name.text();
  }
}

TEST(MoreNodes, OfAJobWithVeryManyPodsAreKeptByTheAssignmentAlone) {
  std::string text = small_fleet.substr(0, small_fleet.find("---\napiVersion: batch/v1"));
  std::string big =
      "---\napiVersion: v1\nkind: Node\nmetadata: {name: big, labels: {rack: r1, kubernetes.io/hostname: big}}\nstatus: "
      "{allocatable: {cpu: '5000', pods: '5000'}, conditions: [{type: Ready, status: 'True'}]}\n";
  std::string job = placed_job("many", 0, World::pods_of_a_job_max + 1);
  job.replace(job.find("cpu: '4'"), 8, "cpu: 1m");
  const Played p(text + big + job);
  const PlayedOn c(p.log, 1, {}, true, Duration::seconds(600));
  EXPECT_EQ(c.report.without_pods, (std::set<std::string>{"default/many"}));
  EXPECT_TRUE(c.would_be("many").ended.is_set());
}

TEST(MoreNodes, AreReadAsTheyAreWritten) {
  const auto read = parse_node_change("12xgpu-x4");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->count, 12U);
  EXPECT_EQ(read->like, "gpu-x4");
  EXPECT_TRUE(parse_node_change("10000xa"));
  for (const char* bad : {"", "x", "4", "4x", "xnode", "-1xa", "0xa", "10001xa", "99999999999999999999xa", "4 xa", "1.5xa", "axb"}) {
    const auto refused = parse_node_change(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("allowed: COUNTxNODE"), std::string::npos) << refused.error().message;
  }
}

TEST(MoreNodes, ThatAreLikeNoneAreRefusedWithWhatThereIs) {
  const Played p(small_fleet);
  Responses responses;
  {
    Player player(p.log, "default", responses, with_nodes("2xn7"), {.from = p.at(5), .until = p.end()});
    const auto played = player.play();
    ASSERT_FALSE(played);
    EXPECT_EQ(played.error().message, "there is no node \"n7\" at that moment; there are: n1, n2");
  }
  {
    Changes changes = with_nodes("6000xn1");
    changes.nodes.push_back(changes.nodes.front());
    Player player(p.log, "default", responses, changes, {.from = p.at(5), .until = p.end()});
    const auto played = player.play();
    ASSERT_FALSE(played);
    EXPECT_EQ(played.error().message, "found 12000 more nodes together; allowed: at most 10000");
  }
  {
    const Played plain(projections::basics + projections::queue_text({.name = "cq"}) + projections::job_text({.name = "a"}));
    Player player(plain.log, "default", responses, with_nodes("2xn1"), {.from = plain.at(5), .until = plain.end()});
    const auto played = player.play();
    ASSERT_FALSE(played);
    EXPECT_NE(played.error().message.find("the log knows of no nodes at that moment"), std::string::npos) << played.error().message;
    EXPECT_NE(played.error().message.find("--set clusterqueue/NAME"), std::string::npos);
  }
}

TEST(MoreNodes, AreReadyWhateverTheOtherSuffers) {
  admission::NodeConfig sick;
  sick.name = Symbol("n1");
  sick.unschedulable = true;
  sick.taints.push_back({"node.kubernetes.io/unschedulable", "", TaintEffect::no_schedule});
  sick.taints.push_back({"gpu", "yes", TaintEffect::no_schedule});
  Arena arena;
  const NodeObserved node = new_node(sick, "n1-more-1", arena);
  EXPECT_TRUE(node.ready);
  EXPECT_FALSE(node.unschedulable);
  ASSERT_EQ(node.taints.size(), 1U);
  EXPECT_EQ(node.taints[0].key, "gpu");
}

}  // namespace
}  // namespace hindsight::whatif

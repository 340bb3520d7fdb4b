// What would let in a family of concurrent admission (8691): each change is played for the Parent and all of its Options, and repeated
// here.

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

const std::string family_scenario =
    "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: plays}\nspec:\n"
    "  config: {featureGates: {ConcurrentAdmission: true, TopologyAwareScheduling: true}}\n  steps:\n";

std::string applied(int second, const std::vector<std::string>& manifests) {
  std::string out = "  - at: " + std::to_string(second) + "s\n    apply:\n";
  for (const auto& m : manifests) out += "    - " + m + "\n";
  return out;
}

std::string a_flavor(const std::string& name, const std::string& topology = {}) {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + name + "}, spec: {nodeLabels: {flavor: " + name +
         "}" + (topology.empty() ? "" : ", topologyName: " + topology) + "}}";
}

std::string a_family_queue(const std::string& flavors) {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "
         "concurrentAdmission: "
         "{onSuccess: RemoveLower}, resourceGroups: [{coveredResources: [cpu], flavors: [" +
         flavors + "]}]}}";
}

std::string quota_of(const std::string& flavor, int cpu) {
  return "{name: " + flavor + ", resources: [{name: cpu, nominalQuota: " + std::to_string(cpu) + "}]}";
}

std::string a_local_queue(const std::string& policy) {
  return "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq, "
         "stopPolicy: " +
         policy + "}}";
}

std::string a_job(const std::string& name, int pods, const std::string& cpu, const std::string& annotations = {}) {
  const std::string count = std::to_string(pods);
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true, parallelism: " + count +
         ", completions: " + count + ", template: {metadata: {annotations: {" + annotations +
         "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}";
}

const Remedy* found(const Why& why, Remedy::Kind kind) {
  const auto it = std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == why.remedies.end() ? nullptr : &*it;
}

// ---- a LocalQueue that is stopped ---------------------------------------------------------------------------------------------------

std::string stopped_family(const std::string& policy, int spot) {
  return family_scenario +
         applied(0, {a_flavor("res"), a_flavor("spot"), a_family_queue(quota_of("res", 1) + ", " + quota_of("spot", spot)),
                     a_local_queue(policy)}) +
         applied(1, {a_job("j", 1, "4")}) + applied(10, {a_flavor("unused")});
}

TEST(FamilyPlays, AStoppedLocalQueueIsResumedForTheFamily) {
  Played run(stopped_family("Hold", 4));
  const Why why = run.why("job/j", run.at(10));
  ASSERT_EQ(why.phase, Phase::pending);
  ASSERT_EQ(why.options.size(), 2U) << to_text(why);
  ASSERT_EQ(why.remedies.size(), 1U) << to_text(why);
  EXPECT_EQ(remedy_text(why.remedies[0]), "if LocalQueue default/lq were not stopped (stopPolicy None)");
  ASSERT_TRUE(why.remedies[0].played.has_value());
  EXPECT_TRUE(why.remedies[0].played->before.empty());
  EXPECT_TRUE(why.remedies[0].played->after.empty()) << "its own Option is nobody else";
  for (const auto& option : why.options) EXPECT_TRUE(option.remedies.empty()) << "it is told once, for all of them: " << to_text(why);
  Played resumed(stopped_family("None", 4));
  EXPECT_EQ(resumed.why("job/j", resumed.at(10)).phase, Phase::admitted);
}

TEST(FamilyPlays, AStoppedLocalQueueIsNotAllThatAFamilyLacks) {
  Played run(stopped_family("Hold", 2));
  const Why why = run.why("job/j", run.at(10));
  EXPECT_TRUE(why.remedies.empty()) << to_text(why);
  Played resumed(stopped_family("None", 2));
  EXPECT_EQ(resumed.why("job/j", resumed.at(10)).phase, Phase::pending);
}

TEST(FamilyPlays, TheOptionThatWouldStartIsTold) {
  Played run(stopped_family("Hold", 4));
  const auto name = [&](const std::string& flavor) {
    return find_workload(run.state(run.at(10)), parse_target("job/j", "default").value()).value().workload->name + "-option-" + flavor;
  };
  const auto spot = run.why(std::string(name("spot")), run.at(10));
  EXPECT_NE(found(spot, Remedy::Kind::resume), nullptr) << to_text(spot);
  const auto res = run.why(std::string(name("res")), run.at(10));
  EXPECT_EQ(found(res, Remedy::Kind::resume), nullptr) << to_text(res);
}

// ---- a level of a topology that is too narrow -----------------------------------------------------------------------------------------

std::string two_racks(const std::string& level) {
  const auto node = [](const std::string& name, const std::string& rack) {
    return "{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {flavor: res, block: b1, rack: " + rack +
           ", kubernetes.io/hostname: " + name +
           "}}, status: {allocatable: {cpu: '4', pods: '10'}, conditions: [{type: Ready, status: 'True'}]}}";
  };
  const std::string topology =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: racks}, spec: {levels: [{nodeLabel: block}, {nodeLabel: "
      "rack}, "
      "{nodeLabel: kubernetes.io/hostname}]}}";
  return family_scenario +
         applied(0, {topology, node("n1", "r1"), node("n2", "r2"), a_flavor("res", "racks"), a_flavor("spot"),
                     a_family_queue(quota_of("res", 20) + ", " + quota_of("spot", 1)), a_local_queue("None")}) +
         applied(1, {a_job("j", 2, "3", "kueue.x-k8s.io/podset-required-topology: " + level)}) + applied(10, {a_flavor("unused")});
}

TEST(FamilyPlays, ALooserLevelLetsAnOptionIn) {
  Played run(two_racks("rack"));
  const Why why = run.why("job/j", run.at(10));
  ASSERT_EQ(why.phase, Phase::pending) << to_text(why);
  ASSERT_EQ(why.options.size(), 2U);
  const Remedy* looser = found(why.options[0], Remedy::Kind::looser_level);
  ASSERT_NE(looser, nullptr) << to_text(why);
  EXPECT_EQ(remedy_text(*looser), "if pod set main asked for required block instead of required rack");
  EXPECT_TRUE(looser->played.has_value());
  Played block(two_racks("block"));
  EXPECT_EQ(block.why("job/j", block.at(10)).phase, Phase::admitted);
}

}  // namespace
}  // namespace hindsight::projections

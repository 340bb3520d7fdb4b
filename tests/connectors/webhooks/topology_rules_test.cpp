// What pod templates and Workloads may ask of topologies, in the words of 2724 §2.9.

#include <gtest/gtest.h>

#include <string>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::job;
using test::kueue;
using test::refusal;

const std::string prefix = "kueue.x-k8s.io/";
const std::string annotations_field = "spec.template.metadata.annotations";

/// A suspended Job of that many pods whose template has these annotations, without their prefix.
Json asking(const std::map<std::string, std::string>& annotations, int pods = 6) {
  Json out = job("{}");
  out["spec"] = {{"suspend", true}, {"parallelism", pods}, {"completions", pods}};
  for (const auto& [key, value] : annotations) out["spec"]["template"]["metadata"]["annotations"][prefix + key] = value;
  return out;
}
std::string refused(const std::map<std::string, std::string>& annotations, int pods = 6) {
  return refusal({}, "CREATE", asking(annotations, pods));
}
std::string at_key(const std::string& key) { return annotations_field + "[" + prefix + key + "]: "; }

constexpr const char* label_key =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

// TAS-38, TAS-39, TAS-45
TEST(TopologyRules, OneLevelThatIsALabelKey) {
  EXPECT_EQ(refused({{"podset-required-topology", "cloud.com/block"}}), "");
  EXPECT_EQ(refused({{"podset-preferred-topology", "cloud.com/block"}}), "");
  for (const char* boolean : {"true", "false", "T", "0"}) EXPECT_EQ(refused({{"podset-unconstrained-topology", boolean}}), "") << boolean;
  EXPECT_EQ(refused({{"podset-required-topology", "a"}, {"podset-unconstrained-topology", "true"}}),
            annotations_field +
                ": Invalid value: must not contain more than one topology annotation: [\"kueue.x-k8s.io/podset-required-topology\", "
                "\"kueue.x-k8s.io/podset-preferred-topology\", \"kueue.x-k8s.io/podset-unconstrained-topology\"]");
  for (const char* key : {"podset-required-topology", "podset-preferred-topology"})
    EXPECT_EQ(refused({{key, "a b"}}), at_key(key) + "Invalid value: \"a b\": " + label_key);
  EXPECT_EQ(refused({{"podset-unconstrained-topology", "yes"}}),
            at_key("podset-unconstrained-topology") + "Invalid value: \"yes\": must be a boolean value");
}

// TAS-40, TAS-41, TAS-44
TEST(TopologyRules, SlicesHaveASizeThatDividesTheCount) {
  const auto slice = [](const std::string& size, int pods = 6) {
    return refused({{"podset-required-topology", "b"}, {"podset-slice-required-topology", "r"}, {"podset-slice-size", size}}, pods);
  };
  const std::string here = at_key("podset-slice-size");
  EXPECT_EQ(slice("2"), "");
  EXPECT_EQ(slice("6"), "");
  EXPECT_EQ(slice("two"), here + "Invalid value: \"two\": must be a numeric value");
  EXPECT_EQ(slice("2147483648"), here + "Invalid value: \"2147483648\": must be a numeric value");
  EXPECT_EQ(slice("0"), here + "Invalid value: \"0\": must be greater than or equal to 1");
  EXPECT_EQ(slice("7"), here + "Invalid value: \"7\": must not be greater than pod set count 6");
  EXPECT_EQ(slice("4"), here + "Invalid value: \"4\": must evenly divide the pod set count 6");
  EXPECT_EQ(refused({{"podset-slice-required-topology", "r"}}),
            here + "Required value: must be set when 'kueue.x-k8s.io/podset-slice-required-topology' is specified");
  EXPECT_EQ(refused({{"podset-slice-size", "2"}}),
            here + "Forbidden: may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is not specified");
  // Every size is either taken and divides, or refused.
  for (int pods = 1; pods <= 12; ++pods)
    for (int size = 1; size <= 14; ++size)
      EXPECT_EQ(slice(std::to_string(size), pods).empty(), size <= pods && pods % size == 0) << size << "/" << pods;
}

// TAS-42
TEST(TopologyRules, LayersOfSlices) {
  const std::string key = "podset-slice-required-topology-constraints", here = annotations_field + "[" + prefix + key + "]";
  const auto layers = [&](const std::string& text) { return refused({{key, text}}, 12); };
  EXPECT_EQ(layers(R"([{"topology":"block","size":6},{"topology":"rack","size":3},{"topology":"kubernetes.io/hostname","size":1}])"), "");
  EXPECT_TRUE(layers("{").starts_with(here + ": Invalid value: \"{\": must be a valid JSON array: ")) << layers("{");
  EXPECT_TRUE(layers(R"([{"topology":"r","size":"2"}])").find("must be a valid JSON array: ") != std::string::npos);
  for (const char* text :
       {"[]", R"([{"topology":"a","size":1},{"topology":"b","size":1},{"topology":"c","size":1},{"topology":"d","size":1}])"})
    EXPECT_NE(layers(text).find("topology constraints must contain between 1 and 3 entries"), std::string::npos) << text;
  EXPECT_EQ(layers(R"([{"topology":"a","size":6},{"topology":"b","size":4}])"),
            here + "[1].size: Invalid value: 4: must evenly divide the parent layer size 6");
  EXPECT_EQ(layers(R"([{"topology":"a","size":0}])"), here + "[0].size: Invalid value: 0: must be greater than or equal to 1");
  EXPECT_EQ(layers(R"([{"topology":"a b","size":1}])"), here + "[0].topology: Invalid value: \"a b\": " + label_key);
  EXPECT_NE(layers(R"([{"topology":"a","size":2},{"topology":"a","size":1}])")
                .find(here + "[1].topology: Duplicate value: \"a (also at index 0)\""),
            std::string::npos);
  EXPECT_EQ(layers(R"([{"topology":"a","size":13}])"), here + ": Invalid value: 13: must not be greater than pod set count 12");
  EXPECT_EQ(layers(R"([{"topology":"a","size":5}])"), here + ": Invalid value: 5: must evenly divide the pod set count 12");
  EXPECT_NE(refused({{key, R"([{"topology":"a","size":1}])"}, {"podset-slice-size", "1"}, {"podset-slice-required-topology", "r"}})
                .find(here + ": Forbidden: may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is specified"),
            std::string::npos);
  Around off;
  off.gates["TASMultiLayerTopology"] = false;
  EXPECT_EQ(refusal(off, "CREATE", asking({{key, R"([{"topology":"a","size":1}])"}})),
            here + ": Forbidden: the TASMultiLayerTopology feature gate must be enabled to use this annotation");
}

/// A JobSet of two replicated jobs with these annotations each.
Json job_set(const std::map<std::string, std::string>& leader, const std::map<std::string, std::string>& worker, int leaders = 1) {
  Json out = job("{}", "{}");
  out["apiVersion"] = "jobset.x-k8s.io/v1alpha2";
  out["kind"] = "JobSet";
  out["spec"]["suspend"] = true;
  const auto add = [&](const char* name, int replicas, const auto& annotations) {
    Json one = {{"name", name},
                {"replicas", replicas},
                {"template", {{"spec", {{"parallelism", 2}, {"completions", 1}, {"template", Json::object()}}}}}};
    for (const auto& [key, value] : annotations) one["template"]["spec"]["template"]["metadata"]["annotations"][prefix + key] = value;
    out["spec"]["replicatedJobs"].push_back(one);
  };
  add("leader", leaders, leader);
  add("worker", 4, worker);
  return out;
}

// TAS-43
TEST(TopologyRules, GroupsArePairsOfALeaderAndWorkers) {
  const std::map<std::string, std::string> grouped{{"podset-group-name", "g"}, {"podset-required-topology", "block"}};
  const auto field = [](int i) { return "spec.replicatedJobs[" + std::to_string(i) + "].template.spec.template.metadata.annotations"; };
  const auto group = [&](int i) { return field(i) + "[kueue.x-k8s.io/podset-group-name]: "; };
  const auto set = [&](const auto& leader, const auto& worker, int leaders = 1) {
    return refusal({}, "CREATE", job_set(leader, worker, leaders));
  };
  EXPECT_EQ(set(grouped, grouped), "");
  EXPECT_EQ(set(grouped, std::map<std::string, std::string>{}),
            group(0) + "Invalid value: \"g\": can only define groups of exactly 2 pod sets, got: 1 pod set(s)");
  const std::string sizes =
      "Invalid value: \"g\": can only define groups where at least one pod set has only 1 replica, got: 2 replica(s) and 4 replica(s) in "
      "the group";
  EXPECT_EQ(set(grouped, grouped, 2), "[" + group(0) + sizes + ", " + group(1) + sizes + "]");
  auto other = grouped;
  other["podset-required-topology"] = "rack";
  const auto differs = [&](int i, int with) {
    return field(i) +
           ": Invalid value: must specify 'kueue.x-k8s.io/podset-required-topology' or 'kueue.x-k8s.io/podset-preferred-topology' topology "
           "consistent with '" +
           field(with) + "' in group 'g'";
  };
  EXPECT_EQ(set(grouped, other), "[" + differs(0, 1) + ", " + differs(1, 0) + "]");
  auto number = grouped;
  number["podset-group-name"] = "12";
  EXPECT_NE(set(number, number).find(group(0) + "Invalid value: \"12\": must not be a number"), std::string::npos);
  EXPECT_NE(refused({{"podset-group-name", "g"}})
                .find("Forbidden: may not be set when neither 'kueue.x-k8s.io/podset-preferred-topology' nor "
                      "'kueue.x-k8s.io/podset-required-topology' is specified"),
            std::string::npos);
  EXPECT_NE(refused({{"podset-group-name", "g"},
                     {"podset-required-topology", "a"},
                     {"podset-slice-size", "1"},
                     {"podset-slice-required-topology", "r"}})
                .find(at_key("podset-group-name") + "Forbidden: may not be set when 'kueue.x-k8s.io/podset-slice-size' is specified"),
            std::string::npos);
}

TEST(TopologyRules, OffsetsOfIndexes) {
  EXPECT_EQ(refused({{"pod-index-offset", "1"}}), "");
  for (const char* bad : {"-1", "one", ""})
    EXPECT_EQ(refused({{"pod-index-offset", bad}}),
              at_key("pod-index-offset") + "Invalid value: \"" + bad + "\": must be a non-negative integer");
}

// TAS-38: changes are judged too; what was there before stands in nobody's way.
TEST(TopologyRules, ChangesAreJudged) {
  const Json good = asking({{"podset-required-topology", "block"}}), bad = asking({{"podset-required-topology", "a b"}});
  EXPECT_NE(refusal({}, "UPDATE", bad, good), "");
  EXPECT_EQ(refusal({}, "UPDATE", bad, bad), "");
  Json sliced = asking({{"podset-slice-required-topology", "r"}, {"podset-slice-size", "3"}}), shrunk = sliced;
  shrunk["spec"]["parallelism"] = 4;
  EXPECT_NE(refusal({}, "UPDATE", shrunk, sliced), "");
  shrunk["spec"]["suspend"] = false;  // admitted with fewer pods
  EXPECT_EQ(refusal({}, "UPDATE", shrunk, sliced), "");
  Around off;
  off.gates["TopologyAwareScheduling"] = false;
  EXPECT_EQ(refusal(off, "CREATE", bad), "");
}

// TAS-47, TAS-44
TEST(TopologyRules, WorkloadsWrittenByHand) {
  const auto with = [](const char* request, int count = 6) {
    Json out = kueue("Workload", R"({"spec":{"queueName":"q","podSets":[{"name":"main","template":{"spec":{"containers":[]}}}]}})");
    out["spec"]["podSets"][0]["count"] = count;
    out["spec"]["podSets"][0]["topologyRequest"] = Json::parse(request);
    return out;
  };
  const std::string here = "spec.podSets[0].topologyRequest.podSetSliceSize: ";
  const char* sliced = R"({"podSetSliceRequiredTopology":"r","podSetSliceSize":3})";
  EXPECT_EQ(refusal({}, "CREATE", with(sliced)), "");
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"podSetSliceRequiredTopology":"r"})")),
            here + "Required value: must be set when podSetSliceRequiredTopology is specified");
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"podSetSliceSize":3})")),
            here + "Forbidden: may not be set when podSetSliceRequiredTopology is not specified");
  EXPECT_EQ(refusal({}, "CREATE", with(sliced, 2)), here + "Invalid value: 3: must not be greater than pod set count 2");
  EXPECT_EQ(refusal({}, "CREATE", with(sliced, 7)), here + "Invalid value: 3: must evenly divide the pod set count 7");
  EXPECT_EQ(
      refusal({}, "CREATE", with(R"({"podsetSliceRequiredTopologyConstraints":[{"topology":"a","size":6},{"topology":"b","size":4}]})")),
      "spec.podSets[0].topologyRequest.podsetSliceRequiredTopologyConstraints[1].size: Invalid value: 4: must evenly divide the parent "
      "layer "
      "size 6");
  EXPECT_EQ(refusal({}, "UPDATE", with(sliced, 7), with(sliced, 7)), "");
  Around off;
  off.gates["TASValidateWorkloadSliceSize"] = false;
  EXPECT_EQ(refusal(off, "CREATE", with(sliced, 7)), "");
}

// Templates of any shape are judged without a crash.
TEST(TopologyRules, StrangeTemplates) {
  for (const char* template_ :
       {"null", "1", "[]", R"({"metadata":7})", R"({"metadata":{"annotations":[1]}})",
        R"({"metadata":{"annotations":{"kueue.x-k8s.io/podset-slice-size":5,"kueue.x-k8s.io/podset-group-name":null}}})"}) {
    Json strange = asking({});
    strange["spec"]["template"] = Json::parse(template_);
    EXPECT_EQ(refusal({}, "CREATE", strange), "") << template_;
  }
}

}  // namespace
}  // namespace hindsight::connectors::webhooks

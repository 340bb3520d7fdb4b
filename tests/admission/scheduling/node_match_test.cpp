#include "admission/model/node_match.hpp"

#include <gtest/gtest.h>

namespace hindsight::admission::testing {
namespace {

const Symbol arch("arch"), zone("zone"), size("size");

FlavorConfig labelled(std::vector<std::pair<Symbol, std::string>> labels) {
  FlavorConfig f;
  f.node_labels = std::move(labels);
  return f;
}

PodShape affinity(std::vector<OwnedTerm> terms) {
  PodShape s;
  s.has_affinity = true;
  s.affinity_terms = std::move(terms);
  return s;
}

OwnedTerm term(Symbol key, SelectorOperator op, std::vector<std::string> values) { return {{{key, op, std::move(values)}}}; }

// BA-81
TEST(NodeMatch, RestrictsOnlyByKeysOfTheFlavor) {
  const FlavorConfig f = labelled({{arch, "arm"}});
  PodShape s;
  s.node_selector = {{zone, "a"}};
  EXPECT_TRUE(matches_node_labels(f, s));
  s.node_selector = {{arch, "arm"}, {zone, "a"}};
  EXPECT_TRUE(matches_node_labels(f, s));
  s.node_selector = {{arch, "x86"}};
  EXPECT_FALSE(matches_node_labels(f, s));
  EXPECT_TRUE(matches_node_labels(labelled({}), s));
}

// BA-81
TEST(NodeMatch, LetsAnEmptiedTermMatch) {
  const FlavorConfig f = labelled({{arch, "arm"}});
  const OwnedTerm wrong = term(arch, SelectorOperator::in, {"x86"});
  EXPECT_FALSE(matches_node_labels(f, affinity({wrong})));
  EXPECT_TRUE(matches_node_labels(f, affinity({wrong, term(zone, SelectorOperator::in, {"a"})})));
  EXPECT_TRUE(matches_node_labels(f, affinity({wrong, OwnedTerm{}})));
  EXPECT_TRUE(matches_node_labels(f, affinity({})));
}

// BA-81
TEST(NodeMatch, AndsRequirementsAndOrsTerms) {
  const FlavorConfig f = labelled({{arch, "arm"}, {zone, "a"}});
  const OwnedRequirement arm{arch, SelectorOperator::in, {"arm", "x86"}};
  const OwnedRequirement not_a{zone, SelectorOperator::not_in, {"a"}};
  EXPECT_FALSE(matches_node_labels(f, affinity({{{arm, not_a}}})));
  EXPECT_TRUE(matches_node_labels(f, affinity({{{arm, not_a}}, {{arm}}})));
}

// BA-80: every operator of a node selector
TEST(NodeMatch, KnowsTheOperators) {
  const FlavorConfig f = labelled({{size, "8"}});
  using enum SelectorOperator;
  const auto holds = [&](SelectorOperator op, std::vector<std::string> values) {
    return matches_node_labels(f, affinity({term(size, op, std::move(values))}));
  };
  EXPECT_TRUE(holds(in, {"7", "8"}));
  EXPECT_FALSE(holds(in, {"7"}));
  EXPECT_TRUE(holds(not_in, {"7"}));
  EXPECT_FALSE(holds(not_in, {"8"}));
  EXPECT_TRUE(holds(exists, {}));
  EXPECT_FALSE(holds(does_not_exist, {}));
  EXPECT_TRUE(holds(gt, {"7"}));
  EXPECT_FALSE(holds(gt, {"8"}));
  EXPECT_TRUE(holds(lt, {"9"}));
  EXPECT_FALSE(holds(lt, {"8"}));
  EXPECT_FALSE(holds(gt, {"x"}));
  EXPECT_FALSE(holds(gt, {}));
}

FlavorConfig tainted(TaintEffect effect) {
  FlavorConfig f;
  f.taints = {{"k", "v", effect}};
  return f;
}

// BA-82
TEST(NodeMatch, IgnoresPreferNoSchedule) {
  EXPECT_EQ(first_untolerated_taint(tainted(TaintEffect::prefer_no_schedule), {}), nullptr);
  EXPECT_NE(first_untolerated_taint(tainted(TaintEffect::no_schedule), {}), nullptr);
  EXPECT_NE(first_untolerated_taint(tainted(TaintEffect::no_execute), {}), nullptr);
}

// BA-82
TEST(NodeMatch, TakesTolerationsOfPodsAndFlavor) {
  const auto tolerated = [](const OwnedToleration& t) {
    PodShape pods;
    pods.tolerations = {t};
    FlavorConfig own = tainted(TaintEffect::no_schedule);
    own.tolerations = {t};
    const bool by_pods = first_untolerated_taint(tainted(TaintEffect::no_schedule), pods) == nullptr;
    const bool by_flavor = first_untolerated_taint(own, {}) == nullptr;
    EXPECT_EQ(by_pods, by_flavor);
    return by_pods;
  };
  EXPECT_TRUE(tolerated({"k", "v", false, TaintEffect::no_schedule}));
  EXPECT_TRUE(tolerated({"k", "v", false, TaintEffect::unspecified}));
  EXPECT_TRUE(tolerated({"k", "", true, TaintEffect::unspecified}));
  EXPECT_TRUE(tolerated({"", "", true, TaintEffect::unspecified}));
  EXPECT_FALSE(tolerated({"k", "other", false, TaintEffect::unspecified}));
  EXPECT_FALSE(tolerated({"other", "v", false, TaintEffect::unspecified}));
  EXPECT_FALSE(tolerated({"k", "v", false, TaintEffect::no_execute}));
}

NodeConfig node(std::string name, std::vector<std::pair<Symbol, CompactText>> labels) {
  NodeConfig n;
  n.name = Symbol(name);
  n.labels = std::move(labels);
  return n;
}

// TAS-65: terms say something of labels, and of the name; one that says nothing matches no node, as for kube-scheduler.
TEST(NodeMatch, ATermMaySpeakOfTheNameOfANode) {
  using enum SelectorOperator;
  const NodeConfig n = node("n", {{arch, CompactText("arm")}});
  const OwnedRequirement named{Symbol("metadata.name"), in, {"n"}}, other{Symbol("metadata.name"), in, {"m"}};
  const OwnedRequirement not_n{Symbol("metadata.name"), not_in, {"n"}};
  EXPECT_TRUE(affine(affinity({{{}, {named}}}), n));
  EXPECT_FALSE(affine(affinity({{{}, {other}}}), n));
  EXPECT_FALSE(affine(affinity({{{}, {not_n}}}), n));
  EXPECT_TRUE(affine(affinity({{{}, {other}}, {{{arch, in, {"arm"}}}, {named}}}), n));
  EXPECT_FALSE(affine(affinity({{{{arch, in, {"x86"}}}, {named}}}), n));
  EXPECT_FALSE(affine(affinity({OwnedTerm{}}), n));
  EXPECT_TRUE(affine(affinity({}), n));
  EXPECT_FALSE(affine(affinity({{{}, {{Symbol("metadata.uid"), in, {"n"}}}}}), n));  // there is no such field of a node
}

// TAS-74
TEST(NodeMatch, WeightsOfPreferredTermsAddUp) {
  using enum SelectorOperator;
  PodShape s;
  s.preferred = {{50, {{{arch, in, {"arm"}}}, {}}}, {20, {{{zone, exists, {}}}, {}}}, {7, {{}, {{Symbol("metadata.name"), in, {"n"}}}}}};
  EXPECT_EQ(affinity_score(s, node("n", {{arch, CompactText("arm")}})), 57);
  EXPECT_EQ(affinity_score(s, node("m", {{zone, CompactText("a")}})), 20);
  EXPECT_EQ(affinity_score(s, node("m", {})), 0);
  EXPECT_EQ(affinity_score(PodShape{}, node("n", {})), 0);
}

}  // namespace
}  // namespace hindsight::admission::testing

// ClusterQueues with concurrent admission, in the words of 8691 §2.11.

#include <gtest/gtest.h>

#include <string>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::kueue;
using test::refusal;

class ConcurrentAdmissionRules : public ::testing::Test {
 protected:
  ConcurrentAdmissionRules() { around.gates["ConcurrentAdmission"] = true; }

  /// A ClusterQueue with these flavors, one list a resource group.
  static Json queue(const std::vector<std::vector<std::string>>& groups, const char* more) {
    Json out = kueue("ClusterQueue", R"({"spec":{}})");
    int resource = 0;
    for (const auto& flavors : groups) {
      const std::string name = resource == 0 ? "cpu" : "resource-" + std::to_string(resource);
      ++resource;
      Json group = {{"coveredResources", {name}}, {"flavors", Json::array()}};
      for (const auto& flavor : flavors)
        group["flavors"].push_back({{"name", flavor}, {"resources", Json::array({{{"name", name}, {"nominalQuota", 1}}})}});
      out["spec"]["resourceGroups"].push_back(group);
    }
    out["spec"].update(Json::parse(more));
    return out;
  }
  [[nodiscard]] std::string refused(const Json& object) const { return refusal(around, "CREATE", object); }
  [[nodiscard]] std::vector<std::string> warnings(const Json& object) const {
    const Answer answer = answer_validation(test::review("CREATE", object).dump(), around);
    const Json response = Json::parse(answer.body)["response"];
    EXPECT_EQ(response["allowed"], true) << answer.body;
    return response.value("warnings", std::vector<std::string>());
  }

  Around around;
};

constexpr const char* lower = R"({"concurrentAdmission":{"onSuccess":"RemoveLower"}})";
constexpr const char* retain = R"({"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}}})";

// CA-142: V1
TEST_F(ConcurrentAdmissionRules, NotWithStrictFifo) {
  EXPECT_EQ(refused(queue({{"a", "b"}}, lower)), "");
  EXPECT_EQ(refused(queue({{"a", "b"}}, retain)), "");
  for (const char* form : {lower, retain}) {
    Json strict = queue({{"a"}}, form);
    strict["spec"]["queueingStrategy"] = "StrictFIFO";
    EXPECT_EQ(refused(strict),
              "spec.queueingStrategy: Invalid value: \"StrictFIFO\": StrictFIFO queueing strategy cannot be used when "
              "ConcurrentAdmissionPolicy is "
              "defined");
    around.gates["ConcurrentAdmission"] = false;
    EXPECT_EQ(refused(strict), "");
    around.gates["ConcurrentAdmission"] = true;
  }
}

// V2
TEST_F(ConcurrentAdmissionRules, OneGroupUnlessOptionsAreExplicit) {
  const auto message = [](int groups) {
    return "spec.resourceGroups: Invalid value: " + std::to_string(groups) +
           ": must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined";
  };
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, lower)), message(2));
  EXPECT_EQ(refused(queue({}, retain)), message(0));
  EXPECT_EQ(
      refused(queue(
          {{"a"}, {"b"}},
          R"({"concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[{"name":"o","allowedResourceFlavors":["a","b"]}]}})")),
      "");
}

// V3
TEST_F(ConcurrentAdmissionRules, AtMostSixteenOptions) {
  std::vector<std::string> flavors;
  Json options = Json::array();
  for (int i = 0; i < 17; ++i) {
    flavors.push_back("f" + std::to_string(i));
    options.push_back({{"name", "o" + std::to_string(i)}, {"allowedResourceFlavors", {"f0"}}});
  }
  EXPECT_EQ(refused(queue({flavors}, lower)),
            "spec.resourceGroups[0].flavors: Invalid value: 17: cannot have more than 16 resource flavors in the ResourceGroup when "
            "ConcurrentAdmissionPolicy is defined");
  Json many = queue({flavors}, lower);
  many["spec"]["concurrentAdmission"]["explicitOptions"] = options;
  EXPECT_EQ(refused(many), "spec.concurrentAdmission.explicitOptions: Invalid value: 17: cannot have more than 16 explicit options");
  many["spec"]["concurrentAdmission"]["explicitOptions"].erase(0);
  EXPECT_EQ(refused(many), "");
  flavors.pop_back();
  EXPECT_EQ(refused(queue({flavors}, lower)), "");
}

// V4, V8: also when the flavor leaves the queue later.
TEST_F(ConcurrentAdmissionRules, FlavorsAreThoseOfTheQueue) {
  const char* kueue_form =
      R"({"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{"lastAcceptableFlavorName":"c"}}}})";
  const char* seed_form =
      R"({"concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"c"}}})";
  EXPECT_EQ(refused(queue({{"a", "c"}}, kueue_form)), "");
  EXPECT_EQ(refused(queue({{"a", "c"}}, seed_form)), "");
  EXPECT_EQ(refused(queue({{"b", "a"}}, kueue_form)),
            "spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName: Invalid value: \"c\": must be one of the "
            "flavors defined in "
            "the ClusterQueue: [b a]");
  EXPECT_EQ(refused(queue({{"b", "a"}}, seed_form)),
            "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor: Invalid value: \"c\": must be one of the flavors "
            "defined in the "
            "ClusterQueue: [b a]");
  EXPECT_NE(refusal(around, "UPDATE", queue({{"b", "a"}}, seed_form), queue({{"a", "c"}}, seed_form)), "");
  EXPECT_EQ(
      refused(queue(
          {{"a"}},
          R"({"concurrentAdmission":{"onSuccess":"RemoveOther","explicitOptions":[{"name":"o","allowedResourceFlavors":["a","x"]}]}})")),
      "spec.concurrentAdmission.explicitOptions[0].allowedResourceFlavors[1]: Invalid value: \"x\": must be one of the flavors defined in "
      "the "
      "ClusterQueue: [a]");
}

// V9, CA-145
TEST_F(ConcurrentAdmissionRules, WarnOfWhatIsProbablyNotMeant) {
  const auto with = [](const char* on_success, const char* options) {
    Json out = queue({{"a", "b", "c"}}, "{}");
    out["spec"]["concurrentAdmission"] = {{"onSuccess", on_success}, {"explicitOptions", Json::parse(options)}};
    return out;
  };
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(warnings(with(
                "RemoveLower",
                R"([{"name":"x","allowedResourceFlavors":["a","c"]},{"name":"y","allowedResourceFlavors":["b"],"createDelaySeconds":5}])")),
            Warnings{});
  EXPECT_EQ(warnings(with("RemoveLower", R"([{"name":"x","allowedResourceFlavors":["a"],"createDelaySeconds":5}])")),
            Warnings{"spec.concurrentAdmission.explicitOptions: every option has createDelaySeconds above 0: nothing is tried before the "
                     "first delay is over"});
  EXPECT_EQ(
      warnings(with("RemoveLower", R"([{"name":"x","allowedResourceFlavors":["c","a"]},{"name":"y","allowedResourceFlavors":["a"]}])")),
      Warnings{"spec.concurrentAdmission.explicitOptions[1]: option \"y\" stands after \"x\" but is preferred to it: the order of flavors "
               "in the "
               "ClusterQueue decides"});
  const char* deleted = R"([{"name":"x","allowedResourceFlavors":["a"],"deleteDelaySeconds":5}])";
  EXPECT_EQ(warnings(with("RemoveLower", deleted)), Warnings{});
  EXPECT_EQ(warnings(with("RemoveOther", deleted)), Warnings{"spec.concurrentAdmission.explicitOptions[0].deleteDelaySeconds: has no "
                                                             "effect with onSuccess RemoveOther: all other options end at once"});
}

// V10: both forms say the same or are refused (8691 §2.4).
TEST_F(ConcurrentAdmissionRules, BothFormsMustAgree) {
  const std::vector<std::pair<const char*, const char*>> same{
      {R"({"onSuccess":"RemoveOther"})", R"({"migration":{"mode":"RetainFirstAdmission"}})"},
      {R"({"onSuccess":"RemoveLower"})", R"({"migration":{"mode":"TryPreferredFlavors"}})"},
      {R"({"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"a"}})",
       R"({"migration":{"mode":"TryPreferredFlavors","constraints":{"lastAcceptableFlavorName":"a"}}})"}};
  for (std::size_t i = 0; i < same.size(); ++i)
    for (std::size_t j = 0; j < same.size(); ++j) {
      Json both = queue({{"a", "b"}}, "{}");
      both["spec"]["concurrentAdmission"] = Json::parse(same[i].first);
      both["spec"]["concurrentAdmissionPolicy"] = Json::parse(same[j].second);
      const std::string message = refused(both);
      EXPECT_EQ(message.empty(), i == j) << message;
      if (i == j) continue;
      EXPECT_NE(message.find("must say the same as spec.concurrentAdmissionPolicy"), std::string::npos) << message;
      EXPECT_NE(message.find("must say the same as spec.concurrentAdmission"), std::string::npos) << message;
    }
  Json options = queue({{"a", "b"}}, lower);
  options["spec"]["concurrentAdmission"]["explicitOptions"] = Json::parse(R"([{"name":"o","allowedResourceFlavors":["a"]}])");
  options["spec"]["concurrentAdmissionPolicy"] = Json::parse(R"({"migration":{"mode":"TryPreferredFlavors"}})");
  EXPECT_NE(refused(options), "");  // the other form cannot say that
}

}  // namespace
}  // namespace hindsight::connectors::webhooks

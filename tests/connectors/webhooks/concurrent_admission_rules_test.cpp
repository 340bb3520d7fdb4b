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

constexpr const char* variants_of =
    R"({"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{"explicitVariants":%}}}})";

/// The Kueue form with these attempts.
std::string with_variants(const std::string& list) {
  return std::string(variants_of).replace(std::string_view(variants_of).find('%'), 1, list);
}

// CA-142: 8691 V1
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

// CA-142: with its gate the same queue is taken.
TEST_F(ConcurrentAdmissionRules, WithStrictFifoWhereItsGateIsOn) {
  for (const char* form : {lower, retain}) {
    Json strict = queue({{"a"}}, form);
    strict["spec"]["queueingStrategy"] = "StrictFIFO";
    EXPECT_NE(refused(strict), "") << "it is off by default";
    around.gates["ConcurrentAdmissionStrictFIFO"] = true;
    EXPECT_EQ(refused(strict), "");
    around.gates["ConcurrentAdmissionStrictFIFO"] = false;
    EXPECT_NE(refused(strict), "");
    around.gates.erase("ConcurrentAdmissionStrictFIFO");
  }
}

// CA-146: both forms know the field, and say the same of it or are refused; an absent field says Always.
TEST_F(ConcurrentAdmissionRules, WhatAnUpgradeMayDo) {
  const auto both = [](const char* seed, const char* kueue_constraints) {
    Json out = queue({{"a", "b"}}, lower);
    out["spec"]["concurrentAdmission"].update(Json::parse(seed));
    out["spec"]["concurrentAdmissionPolicy"] = {
        {"migration", {{"mode", "TryPreferredFlavors"}, {"constraints", Json::parse(kueue_constraints)}}}};
    return out;
  };
  const std::vector<std::pair<const char*, const char*>> values{{"{}", "Always"},
                                                                {R"({"upgradeFungibility":"Always"})", "Always"},
                                                                {R"({"upgradeFungibility":"NoPreemption"})", "NoPreemption"},
                                                                {R"({"upgradeFungibility":"NoBorrowing"})", "NoBorrowing"}};
  for (const auto& [seed, one] : values)
    for (const auto& [kueue, other] : values) {
      const std::string message = refused(both(seed, kueue));
      EXPECT_EQ(message.empty(), std::string_view(one) == other) << seed << kueue << message;
    }
  const std::string tail = R"(.upgradeFungibility: Unsupported value: "Never": supported values: "Always", "NoPreemption", "NoBorrowing")";
  EXPECT_EQ(refused(queue({{"a"}}, R"({"concurrentAdmission":{"onSuccess":"RemoveLower","upgradeFungibility":"Never"}})")),
            "spec.concurrentAdmission" + tail);
  EXPECT_EQ(
      refused(queue(
          {{"a"}},
          R"({"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{"upgradeFungibility":"Never"}}}})")),
      "spec.concurrentAdmissionPolicy.migration.constraints" + tail);

  using Warnings = std::vector<std::string>;
  const auto other = [](const char* value) {
    return queue({{"a"}},
                 (R"({"concurrentAdmission":{"onSuccess":"RemoveOther","upgradeFungibility":")" + std::string(value) + "\"}}").c_str());
  };
  EXPECT_EQ(warnings(other("Always")), Warnings{});
  EXPECT_EQ(warnings(other("NoBorrowing")),
            Warnings{"spec.concurrentAdmission.upgradeFungibility: has no effect with onSuccess RemoveOther: "
                     "no option is tried after an admission"});
}

// 8691 V2
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
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, with_variants(R"([{"name":"o","allowedResourceFlavors":["a","b"]}])").c_str())), "");
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, with_variants("[]").c_str())), message(2));
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, R"({"concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[]}})")), message(2));
  around.gates["ConcurrentAdmission"] = false;
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, lower)), "");
}

// 8691 V3
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
  EXPECT_EQ(refused(queue({flavors}, retain)), "");
}

// 8691 V3: hindsight.maxOptions.
TEST_F(ConcurrentAdmissionRules, AtMostAsManyOptionsAsTheConfigurationSays) {
  const auto flavors = [](int n) {
    std::vector<std::string> out;
    for (int i = 0; i < n; ++i) out.push_back("f" + std::to_string(i));
    return out;
  };
  const auto variants = [](int n) {
    Json out = Json::array();
    for (int i = 0; i < n; ++i) out.push_back({{"name", "o" + std::to_string(i)}, {"allowedResourceFlavors", {"f0"}}});
    return with_variants(out.dump());
  };
  for (const int most : {1, 2, 17, 64}) {
    around.most_options = static_cast<std::size_t>(most);
    EXPECT_EQ(refused(queue({flavors(most)}, lower)), "") << most;
    if (most == 64) break;  // the definition takes no more
    EXPECT_EQ(refused(queue({flavors(most + 1)}, lower)), "spec.resourceGroups[0].flavors: Invalid value: " + std::to_string(most + 1) +
                                                              ": cannot have more than " + std::to_string(most) +
                                                              " resource flavors in the ResourceGroup when ConcurrentAdmissionPolicy is "
                                                              "defined");
  }
  around.most_options = 2;
  EXPECT_EQ(refused(queue({flavors(1)}, variants(2).c_str())), "");
  EXPECT_EQ(refused(queue({flavors(1)}, variants(3).c_str())),
            "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants: Invalid value: 3: cannot have more than 2 explicit "
            "options");
  EXPECT_EQ(refused(queue({flavors(3)}, variants(2).c_str())), "") << "what is in none of them does not count";
}

// 8691 V4, V8: also when the flavor leaves the queue later.
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
  EXPECT_EQ(refused(queue({{"a"}, {"b"}}, with_variants(R"([{"name":"o","allowedResourceFlavors":["b","x"]}])").c_str())),
            "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants[0].allowedResourceFlavors[1]: Invalid value: \"x\": "
            "must be one of the flavors defined in the ClusterQueue: [a b]");
  around.gates["ConcurrentAdmission"] = false;
  EXPECT_EQ(refused(queue({{"b", "a"}}, seed_form)), "");
}

// 8691 V6, V8: what is of another shape is refused whether the feature is on or off.
TEST_F(ConcurrentAdmissionRules, TheShapeIsThatOfTheDefinition) {
  const auto option = [](const char* options) {
    return R"({"concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":)" + std::string(options) + "}}";
  };
  const std::string list = "spec.concurrentAdmission.explicitOptions";
  const std::string variants = "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants";
  Json many = Json::array();
  for (int i = 0; i < 65; ++i) many.push_back({{"name", "o" + std::to_string(i)}, {"allowedResourceFlavors", {"a"}}});
  Json some = many;
  some.erase(some.begin() + 17, some.end());
  const std::vector<std::pair<std::string, std::string>> bad{
      {R"({"concurrentAdmission":{}})", "spec.concurrentAdmission.onSuccess: Required value"},
      {R"({"concurrentAdmission":{"onSuccess":""}})", "spec.concurrentAdmission.onSuccess: Unsupported value: \"\""},
      {R"({"concurrentAdmission":{"onSuccess":"Remove"}})", "spec.concurrentAdmission.onSuccess: Unsupported value: \"Remove\""},
      {R"({"concurrentAdmission":7})", "spec.concurrentAdmission: Invalid value: 7"},
      {R"({"concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{}}})",
       "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor: Required value"},
      {R"({"concurrentAdmissionPolicy":{}})", "spec.concurrentAdmissionPolicy.migration: Required value"},
      {R"({"concurrentAdmissionPolicy":{"migration":{}}})", "spec.concurrentAdmissionPolicy.migration.mode: Required value"},
      {R"({"concurrentAdmissionPolicy":{"migration":{"mode":"Try"}}})",
       "spec.concurrentAdmissionPolicy.migration.mode: Unsupported value: \"Try\""},
      {option(R"([{"allowedResourceFlavors":["a"]}])"), list + "[0].name: Required value"},
      {option(R"([{"name":"","allowedResourceFlavors":["a"]}])"), list + "[0].name: Invalid value: \"\""},
      {option(R"([{"name":"a.b","allowedResourceFlavors":["a"]}])"), list + "[0].name: Invalid value: \"a.b\""},
      {option(R"([{"name":"o","allowedResourceFlavors":["a"]},{"name":"o","allowedResourceFlavors":["b"]}])"),
       list + "[1]: Duplicate value"},
      {option(R"([{"name":"o"}])"), list + "[0].allowedResourceFlavors: Required value"},
      {option(R"([{"name":"o","allowedResourceFlavors":[]}])"), list + "[0].allowedResourceFlavors: Invalid value"},
      {option(R"([{"name":"o","allowedResourceFlavors":["a","a"]}])"), list + "[0].allowedResourceFlavors[1]: Duplicate value"},
      {option(R"([{"name":"o","allowedResourceFlavors":["a"],"createDelaySeconds":-1}])"),
       list + "[0].createDelaySeconds: Invalid value: -1"},
      {option(R"([{"name":"o","allowedResourceFlavors":["a"],"deleteDelaySeconds":-1}])"),
       list + "[0].deleteDelaySeconds: Invalid value: -1"},
      {option(R"([{"name":"o","allowedResourceFlavors":["a"],"deleteDelaySeconds":2147483648}])"), list + "[0].deleteDelaySeconds"},
      {option(many.dump().c_str()), list + ": Too many"},
      {with_variants(R"([{"name":"o","allowedResourceFlavors":["a"],"maxDeleteDelaySeconds":-1}])"),
       variants + "[0].maxDeleteDelaySeconds: Invalid value: -1"},
      {with_variants(some.dump()), variants + ": Too many"}};
  for (const bool on : {true, false}) {
    around.gates["ConcurrentAdmission"] = on;
    for (const auto& [more, says] : bad) {
      const std::string message = refused(queue({{"a", "b"}}, more.c_str()));
      EXPECT_NE(message.find(says), std::string::npos) << message << "\n" << says;
    }
  }
}

// 8691 V9, CA-145
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

// 8691 V9, CA-145: in the other form, and while the feature is off.
TEST_F(ConcurrentAdmissionRules, WarnOfVariants) {
  const std::string path = "spec.concurrentAdmissionPolicy.migration.constraints.explicitVariants";
  const auto odd = queue({{"a", "b"}}, with_variants(R"([{"name":"x","allowedResourceFlavors":["b"],"createDelaySeconds":5},
      {"name":"y","allowedResourceFlavors":["a"],"createDelaySeconds":5,"maxDeleteDelaySeconds":1}])")
                                           .c_str());
  EXPECT_EQ(warnings(odd),
            (std::vector<std::string>{
                path + ": every option has createDelaySeconds above 0: nothing is tried before the first delay is over",
                path + "[1]: option \"y\" stands after \"x\" but is preferred to it: the order of flavors in the ClusterQueue decides"}));
  around.gates["ConcurrentAdmission"] = false;
  EXPECT_EQ(warnings(odd), std::vector<std::string>{});
}

// 8691 V10: both forms say the same or are refused (8691 §2.4).
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
  EXPECT_NE(refused(options), "");  // the other form does not say that
  Json& migration = options["spec"]["concurrentAdmissionPolicy"]["migration"];
  migration["constraints"]["explicitVariants"] = options["spec"]["concurrentAdmission"]["explicitOptions"];
  EXPECT_EQ(refused(options), "");
  options["spec"]["concurrentAdmission"]["explicitOptions"][0].update(Json{{"deleteDelaySeconds", 5}, {"createDelaySeconds", 0}});
  EXPECT_NE(refused(options), "");
  migration["constraints"]["explicitVariants"][0]["maxDeleteDelaySeconds"] = 5;
  EXPECT_EQ(refused(options), "") << "a delay of 0 is none";
  options["spec"]["concurrentAdmission"]["explicitOptions"][0]["allowedResourceFlavors"] = {"b", "a"};
  EXPECT_NE(refused(options), "");
  migration["constraints"]["explicitVariants"][0]["allowedResourceFlavors"] = {"a", "b"};
  EXPECT_EQ(refused(options), "") << "their order means nothing";
  options["spec"]["concurrentAdmission"]["onSuccess"] = "RemoveOther";
  EXPECT_NE(refused(options), "");
  around.gates["ConcurrentAdmission"] = false;
  EXPECT_EQ(refused(options), "");
}

// 8691 V11, CA-119, CA-120: the policy comes, changes and goes at any time.
TEST_F(ConcurrentAdmissionRules, ThePolicyMayChange) {
  const char* target =
      R"({"concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"a"}}})";
  const char* options =
      R"({"concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[{"name":"o","allowedResourceFlavors":["a"]}]}})";
  const std::string variants = with_variants(R"([{"name":"o","allowedResourceFlavors":["a"]}])");
  for (const char* before : {"{}", lower, retain, target, options, variants.c_str()})
    for (const char* after : {"{}", lower, retain, target, options, variants.c_str()})
      EXPECT_EQ(refusal(around, "UPDATE", queue({{"a", "b"}}, after), queue({{"a", "b"}}, before)), "") << before << after;
}

}  // namespace
}  // namespace hindsight::connectors::webhooks

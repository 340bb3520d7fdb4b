// Families of concurrent admission: who is a Parent, which Options it gets, what they are made of, and what nobody gets by posing as one
// (8691 §2.5 to §2.9, §3.1).

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* parent_label = "kueue.x-k8s.io/concurrent-admission-parent";
constexpr const char* parent_annotation = "kueue.x-k8s.io/parent-option";
constexpr const char* allowed_annotation = "kueue.x-k8s.io/workload-allowed-resource-flavors";

bool is_marked(const Json& workload) {
  const Json& meta = workload["metadata"];
  return meta.value("labels", Json::object()).value(parent_label, "") == "true" &&
         meta.value("annotations", Json::object()).value(parent_annotation, "") == "true";
}

/// Is it a write that makes this Workload?
bool creates(const connectors::Write& write, const std::string& name) {
  return write.verb == connectors::Write::Verb::create && write.body.find('"' + name + '"') != std::string::npos &&
         write.type->kind == "Workload";
}

connectors::WriteAnswer not_now() {
  return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
}

Time second(int n) { return connectors::simulated::virtual_start + Duration::seconds(n); }

// CA-1: whoever looks at the cluster sees both markers of the Parent before its first Option, also of a Workload that no job owns
TEST(FamilyRules, AParentIsMarkedBeforeItsFirstOptionExists) {
  Story s(remove_lower, {{"res", 0}, {"spot", 8}});
  Lines options;
  s.on_start = [&](connectors::simulated::SimulatedCluster& cluster) {
    cluster.observe([&](const connectors::simulated::ObjectChange& change) {
      if (change.object->kind->type->kind != "Workload" || change.type != connectors::WatchEvent::Type::added) return;
      for (const auto& owner : change.object->metadata().value("ownerReferences", Json::array())) {
        if (owner["kind"] != "Workload") continue;
        options.push_back(change.object->name);
        const auto parent = cluster.find("Workload", "default", owner["name"].get<std::string>());
        ASSERT_TRUE(parent != nullptr);
        EXPECT_TRUE(is_marked(parent->object)) << change.object->name;
      }
    });
  };
  s.job("j").bare("w");
  const auto p = s.play();
  EXPECT_EQ(options.size(), 4U);
  EXPECT_EQ(p.end().options("w"), (Lines{"w-option-res", "w-option-spot"}));
  EXPECT_EQ(p.end().row("w"), "P/A") << "a Workload without a job counts, too";
  expect_sound(p);
}

// CA-2, CA-144: for twenty seconds the Parent is not marked, and for another twenty it has no Options; there is room for it all the time
TEST(FamilyRules, AParentWithoutOptionsIsNotInTheQueue) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}});
  s.job("j");
  for (const int at : {10, 21, 30, 41, 50}) s.at(at).patch("Job", "j", "{metadata: {labels: {seen: at-" + std::to_string(at) + "}}}");
  MortalPlane plane(s.scenario(), s.configuration());
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    if (write.type->kind != "Workload") return std::nullopt;
    if (now < second(20) && write.body.find(parent_label) != std::string::npos) return not_now();
    if (now < second(40) && write.verb == connectors::Write::Verb::create && write.body.find("-option-") != std::string::npos)
      return not_now();
    return std::nullopt;
  };
  Lines tried;
  plane.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events) {
        if (const auto* r = std::get_if<EntryRequeued>(&e)) tried.emplace_back(r->workload.name);
        if (const auto* r = std::get_if<QuotaReserved>(&e)) tried.emplace_back(r->workload.name);
      }
  };
  bool looked = false;
  plane.on_step = [&](std::size_t step) {
    const Moment m(plane.cluster());
    if (step > 4) return;
    looked = true;
    EXPECT_EQ(m.options("j"), Lines{}) << step;
    EXPECT_EQ(tried, Lines{}) << step;
    EXPECT_EQ(charged(plane.driver(), "cq"), "") << step;
    EXPECT_EQ(m.usage(), "") << step;
    EXPECT_NE(m.verdict(m.parent("j"), "QuotaReserved").substr(0, 4), "True") << step;
    EXPECT_TRUE(m.suspended("j")) << step;
  };
  plane.play();
  EXPECT_TRUE(looked);
  const Moment m(plane.cluster());
  EXPECT_EQ(m.row("j"), "A/D");
  for (const auto& name : tried) EXPECT_NE(name.find("-option-"), std::string::npos) << name;
}

// CA-3, CA-144: in the order of the queue, and whether or not it could ever fit
TEST(FamilyRules, EachFlavorGetsAnOption) {
  Story s(remove_lower, {{"z", 0}, {"m", 1}, {"a", 8}, {"b", 8}});
  s.pinned("j", "b", "4");
  const auto p = s.play();
  Lines flavors;
  for (const auto& o : p.at(0).parent("j")["status"]["options"]) {
    ASSERT_EQ(o["resourceFlavors"].size(), 1U);
    flavors.push_back(o["resourceFlavors"][0]);
  }
  EXPECT_EQ(flavors, (Lines{"z", "m", "a", "b"}));
  EXPECT_EQ(p.told(" CreatedVariant"), (Lines{"Workload j CreatedVariant: Variant Workload \"default/j-option-z\" created",
                                              "Workload j CreatedVariant: Variant Workload \"default/j-option-m\" created",
                                              "Workload j CreatedVariant: Variant Workload \"default/j-option-a\" created",
                                              "Workload j CreatedVariant: Variant Workload \"default/j-option-b\" created"}));
  EXPECT_EQ(p.at(0).row("j"), "P/P/P/A");
  EXPECT_EQ(p.at(0).verdict(p.at(0).option("j", "a"), "QuotaReserved"), "False/NoMatchingFlavor") << "no node of it suits the pod";
  expect_sound(p);
}

// CA-4, CA-144: exactly those that are written down, and nothing outside of them
TEST(FamilyRules, ExplicitOptionsAreAllThereIs) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: large, allowedResourceFlavors: [b, a]}, {name: small, "
      "allowedResourceFlavors: [c]}]}",
      {{"a", 0}, {"b", 0}, {"c", 0}, {"free", 100}});
  s.job("j").at(10).quota({{"a", 0}, {"b", 4}, {"c", 0}, {"free", 100}});
  const auto p = s.play();
  EXPECT_EQ(p.at(0).options("j"), (Lines{"j-option-large", "j-option-small"}));
  EXPECT_EQ(p.at(0).row("j"), "P/P") << "nobody goes where there is room but no Option";
  EXPECT_EQ(p.at(0).usage(), "");
  const Json& large = p.at(0).option("j", "large");
  EXPECT_EQ(large["spec"]["admissionConstraints"], Json::parse(R"({"allowedResourceFlavors": ["a", "b"]})"));
  EXPECT_EQ(large["metadata"]["annotations"][allowed_annotation], "a,b");
  EXPECT_EQ(p.at(0).parent("j")["status"]["options"][0]["resourceFlavors"], Json::parse(R"(["a", "b"])")) << "in the order of the queue";
  EXPECT_EQ(p.at(10).row("j"), "A/D");
  EXPECT_EQ(p.at(10).usage(), "b 4");
  expect_sound(p);
}

// CA-5, CA-12, CA-79: as it is created, before anybody has written a status
TEST(FamilyRules, AnOptionIsACopyOfItsParentWithoutItsMarkers) {
  Story s(remove_lower, {{"res", 0}});
  std::map<std::string, Json> born;
  s.on_start = [&](connectors::simulated::SimulatedCluster& cluster) {
    cluster.observe([&](const connectors::simulated::ObjectChange& change) {
      if (change.object->kind->type->kind == "Workload" && change.type == connectors::WatchEvent::Type::added)
        born.emplace(change.object->name, change.object->object);
    });
  };
  s.bare("w", 3, "2",
         "maximumExecutionTimeSeconds: 600, priority: 1000, priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: "
         "high}, preemptionGates: [{name: kueue.x-k8s.io/multikueue}]",
         "labels: {team: a, kueue.x-k8s.io/multikueue-origin: elsewhere}, annotations: {note: b}");
  const auto p = s.play();
  const Json& parent = p.end().object("Workload", "w");
  ASSERT_TRUE(born.contains("w-option-res"));
  const Json& option = born["w-option-res"];
  for (const char* field : {"podSets", "queueName", "priority", "priorityClassRef", "maximumExecutionTimeSeconds"})
    EXPECT_EQ(option["spec"].value(field, Json()), parent["spec"].value(field, Json())) << field;
  EXPECT_EQ(option["spec"]["podSets"][0]["count"], 3);
  EXPECT_EQ(option["spec"]["maximumExecutionTimeSeconds"], 600);
  std::set<std::string> gates;
  for (const auto& g : option["spec"]["preemptionGates"]) gates.insert(g["name"]);
  EXPECT_EQ(gates, (std::set<std::string>{"kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/concurrent-admission"}));
  const Json labels = option["metadata"].value("labels", Json::object());
  const Json annotations = option["metadata"].value("annotations", Json::object());
  EXPECT_EQ(labels.value("team", ""), "a");
  EXPECT_EQ(annotations.value("note", ""), "b");
  EXPECT_FALSE(labels.contains("kueue.x-k8s.io/multikueue-origin"));
  EXPECT_FALSE(labels.contains(parent_label));
  EXPECT_FALSE(annotations.contains(parent_annotation));
  EXPECT_EQ(option["metadata"].value("finalizers", Json::array()), Json::array());
  const Json owners = option["metadata"].value("ownerReferences", Json::array());
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_EQ(owners[0], (Json{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                             {"kind", "Workload"},
                             {"name", "w"},
                             {"uid", parent["metadata"]["uid"]},
                             {"controller", true},
                             {"blockOwnerDeletion", true}}));
  EXPECT_EQ(option.value("status", Json::object()), Json::object()) << "it begins with nothing";
}

// CA-6, 8691 §2.7: somebody else's Workload has the name of an Option. It is left alone, and the Option gets another name, once.
TEST(FamilyRules, AForeignObjectOfTheNameOfAnOptionIsLeftAlone) {
  Story s(remove_lower, {{"res", 0}, {"spot", 8}});
  s.in("nowhere").bare("w-option-spot", 1, "1").at(1).in("lq").bare("w").at(100);
  const auto p = s.play();
  const Moment& m = p.at(100);
  const Json& foreign = m.object("Workload", "w-option-spot");
  EXPECT_EQ(foreign["metadata"].value("ownerReferences", Json::array()), Json::array());
  EXPECT_EQ(foreign["metadata"].value("generation", 1), 1);
  ASSERT_EQ(m.options("w").size(), 2U);
  EXPECT_EQ(m.options("w")[0], "w-option-res");
  EXPECT_EQ(m.options("w")[1].substr(0, 14), "w-option-spot-");
  EXPECT_EQ(m.options("w")[1].size(), 14U + 5) << "five digits of the hash: " << m.options("w")[1];
  EXPECT_EQ(m.row("w"), "P/A");
  EXPECT_EQ(m.usage(), "spot 4");
}

// CA-6, CA-7: of three Options one cannot be made for a while, and the answer to another one is lost; each is made once
TEST(FamilyRules, OnlyWhatIsMissingIsMadeAgain) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 8}});
  s.bare("w");
  for (const int at : {5, 10, 15, 30}) s.at(at).patch("Workload", "w", "{metadata: {labels: {seen: at-" + std::to_string(at) + "}}}");
  MortalPlane plane(s.scenario(), s.configuration());
  std::map<std::string, int> taken;
  bool lost = false;
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    for (const std::string option : {"res", "od", "spot"}) {
      if (!creates(write, "w-option-" + option)) continue;
      if (option == "od" && now < second(10)) return not_now();
      ++taken[option];
      if (option == "spot" && !std::exchange(lost, true)) {
        plane.cluster().submit(write, [](const connectors::WriteAnswer&) {});
        return not_now();  // it was made, and nobody says so
      }
    }
    return std::nullopt;
  };
  plane.play();
  const Moment m(plane.cluster());
  EXPECT_EQ(m.options("w"), (Lines{"w-option-od", "w-option-res", "w-option-spot"}));
  EXPECT_EQ(m.row("w"), "P/P/A");
  EXPECT_EQ(taken["res"], 1);
  EXPECT_EQ(taken["od"], 1);
  EXPECT_LE(taken["spot"], 2);
}

// CA-8, 8691 §2.5: its own list and its own annotation count both
TEST(FamilyRules, AParentMayNarrowItsOptions) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}, {"spot", 4}});
  s.bare("both", 1, "1", "admissionConstraints: {allowedResourceFlavors: [od, spot]}",
         std::string("annotations: {") + allowed_annotation + ": 'res,spot'}");
  s.bare("none", 1, "1", "admissionConstraints: {allowedResourceFlavors: [elsewhere]}");
  s.at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).options("both"), Lines{"both-option-spot"});
  EXPECT_EQ(p.at(10).usage(), "spot 1");
  EXPECT_EQ(p.at(10).options("none"), Lines{});
  EXPECT_EQ(p.at(10).verdict(p.at(10).object("Workload", "none"), "QuotaReserved"), "False/Misconfigured");
  expect_sound(p);
}

// CA-8, CA-4: an explicit Option is cut down to what its Parent may have
TEST(FamilyRules, AnExplicitOptionIsCutDownToWhatItsParentMayHave) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: a, allowedResourceFlavors: [res, od]}, {name: b, "
      "allowedResourceFlavors: [spot]}]}",
      {{"res", 4}, {"od", 4}, {"spot", 4}});
  s.bare("w", 1, "1", "admissionConstraints: {allowedResourceFlavors: [od]}");
  const auto p = s.play();
  EXPECT_EQ(p.end().options("w"), Lines{"w-option-a"});
  EXPECT_EQ(p.end().option("w", "a")["spec"]["admissionConstraints"], Json::parse(R"({"allowedResourceFlavors": ["od"]})"));
  EXPECT_EQ(p.end().usage(), "od 1") << "res was free, and is not for it";
  expect_sound(p);
}

// CA-10: a Workload that names an owner who is nobody, and one that names a Workload that is no Parent
TEST(FamilyRules, ABorrowedOwnerReferenceIsWorthNothing) {
  const auto owned = [](const std::string& owner, const std::string& uid) {
    return "ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: " + owner + ", uid: " + uid +
           ", controller: true, blockOwnerDeletion: true}]";
  };
  Story s(remove_lower, {{"res", 8}, {"spot", 8}});
  s.queue("plain", "", {group({{"res", 8}})}).local_queue("lq-plain", "plain");
  s.in("lq-plain").bare("regular", 1, "1").in("lq").bare("real", 1, "1");
  const auto before = s.play();
  const std::string regular = before.end().object("Workload", "regular")["metadata"]["uid"];
  const std::string real = before.end().object("Workload", "real")["metadata"]["uid"];
  s.at(10).in("lq").bare("orphan", 1, "2", "", owned("gone", "no-such-uid"));
  s.bare("ward", 1, "2", "", owned("regular", regular));
  s.bare("intruder", 1, "2", "", owned("real", real));
  s.at(60);
  const auto p = s.play();
  const Moment& m = p.at(60);
  // Whatever has become of them: what is held in the queue is held by Options of Parents, and the family is what it was.
  std::set<std::string> parents;
  for (const auto& w : m.all("Workload"))
    if (is_marked(w)) parents.insert(w["metadata"]["uid"]);
  int reserving = 0;
  for (const auto& w : m.all("Workload")) {
    if (w.value("status", Json::object()).value("admission", Json::object()).value("clusterQueue", "") != "cq" || is_marked(w)) continue;
    ++reserving;
    const Json owners = w["metadata"].value("ownerReferences", Json::array());
    ASSERT_EQ(owners.size(), 1U) << w["metadata"]["name"];
    EXPECT_TRUE(parents.contains(owners[0]["uid"])) << w["metadata"]["name"];
    EXPECT_NE(w["metadata"]["name"].get<std::string>().find("-option-"), std::string::npos) << w["metadata"]["name"];
  }
  EXPECT_GE(reserving, 1);
  EXPECT_EQ(m.row("real"), "A/D");
  ASSERT_EQ(m.parent("real")["status"]["options"].size(), 2U);
  for (const char* forged : {"orphan", "ward", "intruder"})
    EXPECT_NE(m.verdict(m.object("Workload", forged), "QuotaReserved").substr(0, 4), m.options(forged).empty() ? "True" : "") << forged;
  expect_sound(p);
}

// CA-11: activity, constraints and markers of an Option are the controller's
TEST(FamilyRules, WhatAUserWritesToAnOptionIsTakenBack) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}, {"spot", 0}});
  s.job("j").at(10).patch_option("j", "res", "{spec: {active: false}}").patch_option("j", "spot", "{spec: {active: true}}");
  s.at(20).patch_option("j", "res", "{spec: {admissionConstraints: {allowedResourceFlavors: [od, spot]}}}");
  s.at(30).patch_option("j", "res", std::string("{metadata: {annotations: {") + allowed_annotation + ": 'od'}}}");
  s.at(40).patch_option(
      "j", "res", std::string("{metadata: {labels: {") + parent_label + ": 'true'}, annotations: {" + parent_annotation + ": 'true'}}}");
  s.at(50).patch_option("j", "od", "{spec: {active: false}}").at(60);
  const auto p = s.play();
  EXPECT_TRUE(p.at(10).active(p.at(10).option("j", "res")));
  EXPECT_FALSE(p.at(10).active(p.at(10).option("j", "spot")));
  const Json only_res = Json::parse(R"({"allowedResourceFlavors": ["res"]})");
  for (const int at : {20, 30, 40, 60}) {
    const Json& res = p.at(at).option("j", "res");
    EXPECT_EQ(res["spec"]["admissionConstraints"], only_res) << at;
    EXPECT_EQ(res["metadata"]["annotations"][allowed_annotation], "res") << at;
    EXPECT_FALSE(res["metadata"].value("labels", Json::object()).contains(parent_label)) << at;
    EXPECT_FALSE(res["metadata"]["annotations"].contains(parent_annotation)) << at;
    EXPECT_EQ(p.at(at).row("j"), "P/A/D") << at;
  }
  EXPECT_TRUE(p.at(60).active(p.at(60).option("j", "od"))) << "not even of the one that is admitted";
  EXPECT_EQ(p.count("j-option-res QuotaReserved"), 0U) << "there was room on od and spot, but not for it";
  expect_sound(p);
}

// CA-12: a job has one Workload, whatever becomes of Options
TEST(FamilyRules, AJobHasOneWorkload) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"od", 4}}).at(15).stops("j").at(16).runs("j").at(20);
  const auto p = s.play();
  for (const auto& [at, m] : p.moments) {
    int of_job = 0;
    for (const auto& w : m.all("Workload"))
      for (const auto& owner : w["metadata"].value("ownerReferences", Json::array())) of_job += owner["kind"] == "Job" ? 1 : 0;
    EXPECT_EQ(of_job, 1) << at;
  }
  // what starts and stops the job is told of its Parent
  EXPECT_EQ(p.count("Job j Started"), 2U);
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(p.end().row("j"), "A/D");
  expect_sound(p);
}

// CA-13, 8691 §2.5: of any Workload in any queue, in both forms, and only with the gate
TEST(FamilyRules, ARegularWorkloadMayNarrowItsFlavorsToo) {
  for (const bool on : {true, false}) {
    Story s("", {{"res", 100}, {"od", 100}, {"spot", 100}});
    if (!on) s.configure("{}");
    s.bare("listed", 1, "1", "admissionConstraints: {allowedResourceFlavors: [spot, od]}");
    s.bare("noted", 1, "1", "", std::string("annotations: {") + allowed_annotation + ": 'spot'}");
    s.bare("lost", 1, "1", "admissionConstraints: {allowedResourceFlavors: [elsewhere]}");
    const auto p = s.play();
    const auto flavor = [&](const char* name) {
      const Json status = p.end().object("Workload", name).value("status", Json::object());
      return status.contains("admission") ? status["admission"]["podSetAssignments"][0]["flavors"]["cpu"].get<std::string>() : "none";
    };
    EXPECT_EQ(flavor("listed"), on ? "od" : "res");
    EXPECT_EQ(flavor("noted"), on ? "spot" : "res");
    EXPECT_EQ(flavor("lost"), on ? "none" : "res");
    EXPECT_EQ(p.end().options("listed"), Lines{});
    expect_sound(p);
  }
}

// 8691 §2.1: with the gate off the fields are stored and mean nothing
TEST(FamilyRules, WithoutTheGateThereAreNoFamilies) {
  Story s(remove_lower, {{"res", 0}, {"spot", 8}});
  s.configure("{}").job("j");
  const auto p = s.play();
  EXPECT_EQ(p.end().object("ClusterQueue", "cq")["spec"]["concurrentAdmission"], Json::parse(R"({"onSuccess": "RemoveLower"})"));
  EXPECT_EQ(p.end().all("Workload").size(), 1U);
  EXPECT_FALSE(is_marked(p.end().parent("j")));
  EXPECT_EQ(p.end().usage(), "spot 4");
  expect_sound(p);
}

// 8691 §2.8: what an Option that is skipped says of a flavor that it may not have
TEST(FamilyRules, AConstrainedOptionSaysWhichFlavorsItSkipped) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: a, allowedResourceFlavors: [res]}, {name: b, "
      "allowedResourceFlavors: [spot]}]}",
      {{"res", 0}, {"spot", 8}});
  s.pinned("j", "elsewhere", "4");
  const auto p = s.play();
  const std::string said = p.end().condition(p.end().option("j", "a"), "QuotaReserved");
  EXPECT_EQ(said.substr(0, said.find(':')), "False/NoMatchingFlavor");
  EXPECT_NE(said.find("skipping flavor spot due to WorkloadAllowedResourceFlavorAnnotation annotation"), std::string::npos) << said;
}

// Of Workloads that name one owner 256 become Parents. One more waits and says why, and takes the place of one that goes.
TEST(FamilyRules, AnOwnerHasABoundedNumberOfFamilies) {
  constexpr int most = 256;
  Story s(remove_lower, {{"a", 0}});
  for (int i = 0; i <= most; ++i)
    s.apply(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w" + std::to_string(i) +
        ", namespace: default, ownerReferences: [{apiVersion: example.com/v1, kind: Thing, name: t, uid: some-thing, controller: true}]}, "
        "spec: {queueName: lq, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
        "i, resources: {requests: {cpu: '1'}}}]}}}]}}");
  const auto parents = [](const Moment& m) {
    int out = 0;
    for (const auto& w : m.all("Workload"))
      out += w["metadata"].value("annotations", Json::object()).contains("kueue.x-k8s.io/parent-option");
    return out;
  };
  s.at(10).remove("Workload", "w0").at(20);
  const auto p = s.play();
  EXPECT_EQ(parents(p.at(0)), most);
  const std::string last = "w" + std::to_string(most);
  EXPECT_EQ(p.at(0).condition(p.at(0).object("Workload", last), "QuotaReserved"),
            "False/Misconfigured: more than 256 Workloads of one owner are not supported with concurrent admission");
  EXPECT_EQ(parents(p.at(20)), most) << "the next one is a Parent now";
  EXPECT_TRUE(p.at(20).object("Workload", last)["metadata"]["annotations"].contains("kueue.x-k8s.io/parent-option"));
}

}  // namespace
}  // namespace hindsight::simulation

// Jobs that are part of other jobs, and who may say so (base-api §7.1 step 3, BA-171, JK-4, JK-7).

#include <gtest/gtest.h>

#include "connectors/json/keys.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::controller;
using test::defaulted;
using test::job;
using test::refusal;

constexpr const char* tenant = "system:serviceaccount:team:default";
const std::string made_by(keys::made_by);

Json reference(const char* version, const char* kind, const char* name, const char* uid) {
  return {{"apiVersion", version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true}};
}

Json child_of(Json owner) {
  Json out = job("{}", R"({"suspend":false})");
  out["metadata"]["ownerReferences"] = Json::array({std::move(owner)});
  return out;
}

/// JobSets, RayJobs and RayClusters that are queued, named after their kinds.
class Owners : public ::testing::Test {
 protected:
  Around around;
  void SetUp() override {
    around.objects["LocalQueue/ns/default"] = Json::object();
    for (const char* kind : {"JobSet", "RayJob", "RayCluster", "Job"})
      around.objects[std::string(kind) + "/ns/o"] = {
          {"metadata", {{"uid", std::string("u-") + kind}, {"labels", {{"kueue.x-k8s.io/queue-name", "q"}}}}}};
  }
};

const Json of_job_set = reference("jobset.x-k8s.io/v1alpha2", "JobSet", "o", "u-JobSet");

// Every pair of kinds, and no other one.
TEST(OwnerKinds, OnlyWhatAControllerMakesIsPartOfSomething) {
  const KindName kinds[] = {{"Job", "batch"}, {"JobSet", "jobset.x-k8s.io"}, {"RayCluster", "ray.io"}, {"RayJob", "ray.io"},
                            {"Pod", ""},      {"Job", "example.com"},        {"CronJob", "batch"}};
  std::string parts;
  for (const auto& owner : kinds)
    for (const auto& part : kinds)
      if (const auto how = ownership(owner, part); how != Ownership::none)
        parts += std::string(owner.kind) + ">" + std::string(part.kind) + (how == Ownership::when_leaving ? "? " : " ");
  EXPECT_EQ(parts, "Job>Pod JobSet>Job RayCluster>Job? RayCluster>Pod RayJob>Job RayJob>RayCluster ");
  EXPECT_EQ(group_of_version("batch/v1"), "batch");
  EXPECT_EQ(group_of_version("v1"), "");
}

TEST_F(Owners, WhatAControllerMakesIsLeftAlone) {
  for (const auto& owner : {of_job_set, reference("ray.io/v1", "RayJob", "o", "u-RayJob")})
    EXPECT_EQ(defaulted(around, child_of(owner)), child_of(owner)) << owner;
}

TEST_F(Owners, WhatAnybodyElseMakesIsQueuedByItselfAndSaysWhoMadeIt) {
  const Json made = defaulted(around, child_of(of_job_set), "CREATE", Json(), "", tenant);
  EXPECT_EQ(made["spec"]["suspend"], true);
  EXPECT_EQ(made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "default");
  EXPECT_EQ(made["metadata"]["annotations"][made_by], tenant);
  EXPECT_EQ(made["metadata"]["ownerReferences"], child_of(of_job_set)["metadata"]["ownerReferences"]);
  const Json nameless = defaulted(around, child_of(of_job_set), "CREATE", Json(), "", "");
  EXPECT_EQ(nameless["metadata"]["annotations"][made_by], "unknown");
}

// Half of a character would be no text, and the answer no JSON.
TEST_F(Owners, ALongNameOfAUserIsCutAtACharacter) {
  std::string user = "x";
  while (user.size() < 1'000) user += "\u00e4";
  const Json made = defaulted(around, child_of(of_job_set), "CREATE", Json(), "", user);
  EXPECT_EQ(made["metadata"]["annotations"][made_by], user.substr(0, 255));
}

// Without an owner whose controller makes such jobs there is nothing to say.
TEST_F(Owners, OtherJobsCarryNoName) {
  EXPECT_FALSE(defaulted(around, job("{}"), "CREATE", Json(), "", tenant)["metadata"].contains("annotations"));
  const Json of_cron_job = child_of(reference("batch/v1", "CronJob", "o", "u-Job"));
  EXPECT_FALSE(defaulted(around, of_cron_job, "CREATE", Json(), "", tenant)["metadata"].contains("annotations"));
}

// Its owner may be queued, or seen, or even made, only after the job: nobody looks at the job again then.
TEST_F(Owners, AnOwnerThatIsNotQueuedYetMakesNobodyAPart) {
  for (const char* what : {"not queued", "not there", "another one"}) {
    Json owner = of_job_set;
    if (what == std::string("not queued")) around.objects["JobSet/ns/o"]["metadata"].erase("labels");
    if (what == std::string("not there")) around.objects.erase("JobSet/ns/o");
    if (what == std::string("another one")) owner["uid"] = "another";
    const Json made = defaulted(around, child_of(owner), "CREATE", Json(), "", tenant);
    EXPECT_EQ(made["metadata"]["annotations"][made_by], tenant) << what;
    EXPECT_EQ(made["spec"]["suspend"], true) << what;
    SetUp();  // now it is there, and queued
    EXPECT_EQ(refusal(around, "UPDATE", made, made, tenant), "") << what;
    Json unmarked = made;
    unmarked["metadata"]["annotations"].erase(made_by);
    EXPECT_NE(refusal(around, "UPDATE", unmarked, made, tenant), "") << what;
    // Of what a controller makes nothing is said.
    EXPECT_FALSE(defaulted(around, child_of(owner))["metadata"].contains("annotations")) << what;
  }
}

// A reference to nothing that is turned into one to the owner piece by piece, with its uid in it from the beginning.
TEST_F(Owners, NobodyElseChangesAReferenceIntoOneToAnOwner) {
  const Json vague[] = {reference("example.com/v1", "Foo", "x", "u-JobSet"), reference("jobset.x-k8s.io/v1alpha2", "Foo", "o", "u-JobSet"),
                        reference("example.com/v1", "JobSet", "o", "u-JobSet"), reference("batch/v1", "Job", "o", "u-JobSet")};
  for (const auto& before : vague) {
    const Json made = defaulted(around, child_of(before), "CREATE", Json(), "", tenant);
    EXPECT_FALSE(made["metadata"].contains("annotations")) << before << " says nothing";
    EXPECT_EQ(refusal(around, "CREATE", made, Json(), tenant), "") << before;
    EXPECT_EQ(refusal(around, "UPDATE", child_of(of_job_set), child_of(before), tenant),
              "metadata.ownerReferences: Forbidden: found JobSet o as controller, set by \"system:serviceaccount:team:default\"; allowed: "
              "accounts in hindsight.controllers of the configuration")
        << before;
    EXPECT_EQ(refusal(around, "UPDATE", child_of(of_job_set), child_of(before)), "") << before;
  }
  // One that was no controller, another name, another uid.
  Json quiet = of_job_set;
  quiet["controller"] = false;
  EXPECT_NE(refusal(around, "UPDATE", child_of(of_job_set), child_of(quiet), tenant), "");
  EXPECT_NE(
      refusal(around, "UPDATE", child_of(of_job_set), child_of(reference("jobset.x-k8s.io/v1alpha2", "JobSet", "p", "u-JobSet")), tenant),
      "");
  EXPECT_NE(
      refusal(around, "UPDATE", child_of(of_job_set), child_of(reference("jobset.x-k8s.io/v1alpha2", "JobSet", "o", "other")), tenant), "");
  // The same owner in a newer version of its kind is the same.
  EXPECT_EQ(
      refusal(around, "UPDATE", child_of(reference("jobset.x-k8s.io/v1beta1", "JobSet", "o", "u-JobSet")), child_of(of_job_set), tenant),
      "");
}

// What says itself that it is no part of the job above makes nobody else one.
TEST_F(Owners, APartOfWhatIsMarkedIsNone) {
  auto& cluster = around.objects["RayCluster/ns/o"]["metadata"];
  cluster = {{"uid", "u-RayCluster"},
             {"deletionTimestamp", "2026-01-01T00:00:00Z"},
             {"ownerReferences", Json::array({reference("ray.io/v1", "RayJob", "o", "u-RayJob")})}};
  const Json cleaner = child_of(reference("ray.io/v1", "RayCluster", "o", "u-RayCluster"));
  EXPECT_EQ(defaulted(around, cleaner), cleaner);
  cluster["annotations"][made_by] = tenant;
  EXPECT_EQ(defaulted(around, cleaner)["spec"]["suspend"], true);
}

TEST_F(Owners, AKindThatMakesNoSuchThingIsNoOwner) {
  for (const auto& owner : {reference("batch/v1", "Job", "o", "u-Job"), reference("ray.io/v1", "RayCluster", "o", "u-RayCluster"),
                            reference("example.com/v1", "JobSet", "o", "u-JobSet")})
    EXPECT_EQ(defaulted(around, child_of(owner))["spec"]["suspend"], true) << owner;
}

// KubeRay cleans up behind a cluster that goes.
TEST_F(Owners, ARayClusterMakesJobsWhenItGoes) {
  const Json cleaner = child_of(reference("ray.io/v1", "RayCluster", "o", "u-RayCluster"));
  around.objects["RayCluster/ns/o"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(defaulted(around, cleaner), cleaner);
}

// The name of who made it counts, whoever wrote it: it only ever says less.
TEST_F(Owners, ANameThatIsThereMakesTheJobQueueByItself) {
  Json marked = child_of(of_job_set);
  marked["metadata"]["annotations"][made_by] = "me";
  EXPECT_EQ(defaulted(around, marked)["spec"]["suspend"], true);
}

TEST_F(Owners, NobodyElseBecomesAPartLater) {
  const Json before = job(R"({"labels":{"kueue.x-k8s.io/queue-name":"q"}})");
  Json now = before;
  now["metadata"]["ownerReferences"] = Json::array({of_job_set});
  EXPECT_EQ(refusal(around, "UPDATE", now, before), "");
  EXPECT_EQ(refusal(around, "UPDATE", now, before, tenant),
            "metadata.ownerReferences: Forbidden: found JobSet o as controller, set by \"system:serviceaccount:team:default\"; allowed: "
            "accounts in hindsight.controllers of the configuration");
  // What was there may stay or go.
  EXPECT_EQ(refusal(around, "UPDATE", now, now, tenant), "");
  EXPECT_EQ(refusal(around, "UPDATE", before, now, tenant), "");
  // An owner that makes no such thing says nothing.
  now["metadata"]["ownerReferences"] = Json::array({reference("batch/v1", "Job", "o", "u-Job")});
  EXPECT_EQ(refusal(around, "UPDATE", now, before, tenant), "");
}

TEST_F(Owners, NobodyElseTakesTheNameAway) {
  Json before = child_of(of_job_set);
  before["metadata"]["annotations"][made_by] = tenant;
  Json now = before;
  now["metadata"]["annotations"].erase(made_by);
  const std::string refused = "metadata.annotations[hindsight.dev/made-by]: Forbidden: only controllers may change who made the job";
  EXPECT_EQ(refusal(around, "UPDATE", now, before, tenant), refused);
  now["metadata"]["annotations"][made_by] = "other";
  EXPECT_EQ(refusal(around, "UPDATE", now, before, tenant), refused);
  EXPECT_EQ(refusal(around, "UPDATE", now, before), "");
  EXPECT_EQ(refusal(around, "UPDATE", before, before, tenant), "");
}

// Shapes that no API server lets in are no reason to fall over.
TEST_F(Owners, StrangeReferencesAreNone) {
  for (const char* text : {R"([1, null, "x", {}])", R"([{"controller": true}])", R"([{"controller": "yes", "kind": 5}])", R"({"a": 1})",
                           R"([{"controller": true, "kind": "JobSet", "apiVersion": 7, "name": null, "uid": []}])"}) {
    Json strange = job("{}", R"({"suspend":false})");
    strange["metadata"]["ownerReferences"] = Json::parse(text);
    EXPECT_EQ(defaulted(around, strange, "CREATE", Json(), "", tenant)["spec"]["suspend"], true) << text;
    EXPECT_EQ(refusal(around, "UPDATE", strange, job("{}", R"({"suspend":false})"), tenant), "") << text;
  }
}

}  // namespace
}  // namespace hindsight::connectors::webhooks

// What the bridge observes and writes, with a mirror in memory and a cluster that keeps the writes for the test to answer.

#include <algorithm>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors {
namespace {

using test::admission_of;
using test::asks_nothing;
using test::BridgeTest;
using test::status_of;

// BA-1: what we write into the status of a queue ourselves is no news.
TEST_F(BridgeTest, AQueueIsToldAgainOnlyWhenMoreThanItsStatusHasChanged) {
  const auto queue = [](const std::string& version, const std::string& stop, int pending) {
    return R"({"metadata":{"name":"cq","uid":"uid-cq","resourceVersion":")" + version +
           R"("},"spec":{"namespaceSelector":{},"stopPolicy":")" + stop + R"("},"status":{"pendingWorkloads":)" + std::to_string(pending) +
           "}}";
  };
  add(types::cluster_queue, queue("1", "None", 0));
  add(types::cluster_queue, queue("2", "None", 1));
  EXPECT_EQ(queues_seen_, 1);
  add(types::cluster_queue, queue("3", "Hold", 1));
  add(types::cluster_queue, queue("4", "None", 1));
  EXPECT_EQ(queues_seen_, 3);
  remove(types::cluster_queue, queue("5", "None", 1));
  add(types::cluster_queue, queue("6", "None", 0));
  EXPECT_EQ(queues_seen_, 4) << "after its end it is another one";
}

// EJ-131, EJ-132: a RayJob is told again when the cluster that it made has another size, and not for what else happens to that
TEST_F(BridgeTest, ARayJobIsToldAgainWhenItsClusterIsResized) {
  const std::string workers = R"("headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},"workerGroupSpecs":[{"groupName":"w",)"
                              R"("template":{"spec":{"containers":[{"name":"w"}]}},"replicas":)";
  const auto cluster = [&](const std::string& version, int generation, int replicas) {
    return R"({"kind":"RayCluster","metadata":{"namespace":"ns","name":"c","uid":"uid-c","resourceVersion":")" + version +
           R"(","generation":)" + std::to_string(generation) +
           R"(,"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob","name":"j","uid":"uid-j","controller":true}]},"spec":{)" +
           workers + std::to_string(replicas) + "}]}}";
  };
  add(types::ray_job, R"({"kind":"RayJob","metadata":{"namespace":"ns","name":"j","uid":"uid-j","resourceVersion":"1","generation":2,)"
                      R"("annotations":{"kueue.x-k8s.io/elastic-job":"true"}},"spec":{"submissionMode":"HTTPMode","rayClusterSpec":{)"
                      R"("enableInTreeAutoscaling":true,)" +
                          workers + R"(1}]}},"status":{"rayClusterName":"c"}})");
  using Lines = std::vector<std::string>;
  EXPECT_EQ(jobs_, Lines{"j v1 w=1"});
  jobs_.clear();
  add(types::ray_cluster, cluster("2", 1, 1));
  EXPECT_EQ(jobs_, (Lines{"c v2 w=1", "j v0 w=1"}));
  jobs_.clear();
  change(types::ray_cluster, cluster("3", 1, 1));
  EXPECT_EQ(jobs_, Lines{"c v3 w=1"}) << "only its status has changed";
  jobs_.clear();
  change(types::ray_cluster, cluster("4", 2, 5));
  EXPECT_EQ(jobs_, (Lines{"c v4 w=5", "j v0 w=5"}));
  jobs_.clear();
  remove(types::ray_cluster, cluster("5", 2, 5));
  EXPECT_EQ(jobs_, Lines{"j v0 w=1"}) << "the next one will be as the job says";
}

// BA-43, base-admission §3.7
TEST_F(BridgeTest, ALimitRangeGivesDefaultsToWhatIsPendingInItsNamespace) {
  add(types::workload, workload("a", "7", asks_nothing));
  add(types::workload, workload("far", "8", asks_nothing, "", "elsewhere"));
  ASSERT_EQ(seen_.size(), 2U);
  EXPECT_EQ(seen_[0].requests, "");
  seen_.clear();

  const auto range = limit_range(R"({"type":"Container","defaultRequest":{"cpu":"2"},"max":{"memory":"1Gi"}})");
  add(types::limit_range, range);
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0], (Seen{"a", 0, "cpu=2000 ", "", ""})) << "without a version, so that it is no repetition";

  seen_.clear();
  add(types::workload, workload("b", "9", R"({"name":"c","resources":{"requests":{"memory":"2Gi"}}})"));
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0].requests, "cpu=2000 memory=2147483648 ");
  EXPECT_EQ(seen_[0].limit_range_error,
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"memory\"]: requests must not be above the limitRange max");

  seen_.clear();
  remove(types::limit_range, range);
  ASSERT_EQ(seen_.size(), 2U);
  EXPECT_EQ(seen_[0], (Seen{"a", 0, "", "", ""}));
  EXPECT_EQ(seen_[1], (Seen{"b", 0, "memory=2147483648 ", "", ""}));
  EXPECT_TRUE(notices_.empty());
}

// §3.7: only of the class that changed
TEST_F(BridgeTest, ARuntimeClassAddsItsOverhead) {
  add(types::workload, workload("a", "7", asks_nothing, R"(,"runtimeClassName":"gvisor")"));
  add(types::workload, workload("b", "8", asks_nothing, R"(,"runtimeClassName":"other")"));
  seen_.clear();
  add(types::runtime_class, R"({"metadata":{"name":"gvisor"},"handler":"x","overhead":{"podFixed":{"cpu":"250m"}}})");
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0], (Seen{"a", 0, "cpu=250 ", "", ""}));
}

// What holds quota is charged as it was admitted: it is not observed anew.
TEST_F(BridgeTest, WhatIsAdmittedFinishedOrGoneIsNotSeenAnew) {
  const auto status = [](const std::string& object, const std::string& s) {
    return object.substr(0, object.size() - 1) + R"(,"status":)" + s + "}";
  };
  add(types::workload, status(workload("admitted", "1", asks_nothing), R"({"admission":{"clusterQueue":"cq"}})"));
  add(types::workload, status(workload("finished", "2", asks_nothing),
                              R"({"conditions":[{"type":"Finished","status":"True","reason":"Succeeded","message":"m"}]})"));
  add(types::workload, workload("gone", "3", asks_nothing));
  remove(types::workload, workload("gone", "3", asks_nothing));
  add(types::workload, workload("back", "4", asks_nothing));
  change(types::workload, status(workload("back", "5", asks_nothing), R"({"admission":{"clusterQueue":"cq"}})"));
  change(types::workload, workload("back", "6", asks_nothing));
  seen_.clear();
  add(types::limit_range, limit_range(R"({"type":"Container","default":{"cpu":"1"}})"));
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_[0].name, "back");
}

TEST_F(BridgeTest, ALimitRangeThatCannotBeReadIsTold) {
  add(types::limit_range, limit_range(R"({"type":"Container","default":{"cpu":"much"}})"));
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_NE(notices_[0].find("LimitRange ns/r: spec.limits[0].default.cpu: found \"much\""), std::string::npos) << notices_[0];
}

// BA-4, BA-146
TEST_F(BridgeTest, AFinalizerIsSetOnceAndTakenAwayFromWhatIsBeingDeleted) {
  const auto flavor = [](const std::string& version, const std::string& more) {
    return R"({"metadata":{"name":"f","uid":"u","resourceVersion":")" + version + "\"" + more + R"(},"spec":{}})";
  };
  const std::string ours = R"(,"finalizers":["example.com/x","kueue.x-k8s.io/resource-in-use"])";
  const std::string going = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  add(types::resource_flavor, flavor("1", R"(,"finalizers":["example.com/x"])"));
  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", true}});
  ASSERT_EQ(sent_.size(), 1U);
  const auto body = Json::parse(sent_[0].write.body);
  EXPECT_EQ(body, Json::parse(
                      R"({"metadata":{"uid":"u","resourceVersion":"1","finalizers":["example.com/x","kueue.x-k8s.io/resource-in-use"]}})"));
  answer(409);  // somebody was faster; the mirror brings what they wrote
  EXPECT_TRUE(sent_.empty());
  change(types::resource_flavor, flavor("2", ours));
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);

  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", false}});
  EXPECT_TRUE(sent_.empty()) << "it is not being deleted";
  change(types::resource_flavor, flavor("3", ours + going));
  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", false}});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["metadata"]["finalizers"], Json::parse(R"(["example.com/x"])"));
  answer(200, flavor("4", R"(,"finalizers":["example.com/x"])" + going));
  EXPECT_EQ(bridge_.outstanding(), 0U);
  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", true}});
  EXPECT_TRUE(sent_.empty()) << "too late";
}

// base-api §5: the Workload may come after the job that names it
TEST_F(BridgeTest, APrebuiltWorkloadGetsItsOwnerWhenItAppears) {
  bridge_.want({admission::WorkloadAdoptIntent{"ns", "w", "job-uid", "Job", "batch", "j"}});
  EXPECT_TRUE(sent_.empty());
  add(types::workload, workload("w", "7", asks_nothing));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body),
            Json::parse(R"({"metadata":{"uid":"uid-w","resourceVersion":"7","labels":{"kueue.x-k8s.io/job-uid":"job-uid"},
              "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"job-uid","controller":true,"blockOwnerDeletion":true}]}})"));
  answer(409);
  auto owned = Json::parse(workload("w", "8", asks_nothing));
  owned["metadata"]["ownerReferences"] =
      Json::parse(R"([{"apiVersion":"batch/v1","kind":"Job","name":"other","uid":"x","controller":true}])");
  change(types::workload, owned.dump());
  bridge_.retry();
  EXPECT_TRUE(sent_.empty()) << "somebody else was faster";
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// BA-148
TEST_F(BridgeTest, AWorkloadThatWasJustMadeIsNotMadeAgain) {
  const auto job = [](const std::string& version) {
    return R"({"kind":"Job","apiVersion":"batch/v1","metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":")" + version +
           R"("},"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"c"}]}}}})";
  };
  admission::WorkloadCreateIntent create;
  create.job_uid = "u";
  create.job_kind = "Job";
  create.job_group = "batch";
  create.job_name = "j";
  create.namespace_ = "ns";
  create.name = "job-j";
  create.queue_name = "lq";
  add(types::job, job("1"));
  bridge_.want({create});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.verb, Write::Verb::create);
  answer(201, workload("job-j", "2", asks_nothing));

  change(types::job, job("3"));  // its controller says Suspended, and the domain, which has not seen the Workload, asks again
  bridge_.want({create});
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  EXPECT_EQ(bridge_.conflicts(), 0U);

  add(types::workload, workload("job-j", "2", asks_nothing));
  remove(types::workload, workload("job-j", "4", asks_nothing));  // somebody takes it away, and it is to be made again
  bridge_.want({create});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.verb, Write::Verb::create);
}

TEST_F(BridgeTest, AJobThatShallGoIsDeletedInTheBackground) {
  add(types::job, R"({"metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":"3"},
    "spec":{"suspend":true,"template":{"spec":{"containers":[]}}}})");
  auto intent = job_intent();
  intent.remove = true;
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.verb, Write::Verb::delete_);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["propagationPolicy"], "Background");
  EXPECT_EQ(Json::parse(sent_[0].write.body)["preconditions"]["uid"], "u");
  answer(200);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// BA-131: that no start is under way is said when none is, and only of what the server has
TEST_F(BridgeTest, AStopThatSettlesWaitsForTheStartBeforeIt) {
  const auto job = [](const std::string& version, bool suspend) {
    return R"({"metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":")" + version + R"("},"spec":{"suspend":)" +
           (suspend ? "true" : "false") + R"(,"template":{"spec":{"containers":[]}}}})";
  };
  add(types::job, job("3", true));
  auto intent = job_intent();
  intent.run = true;
  intent.pod_sets = {{"main", 1, {}, {}, {}}};
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  intent.run = false;
  intent.settles = 17;
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U) << "the start is under way";
  answer(200, job("4", false));
  change(types::job, job("4", false));
  ASSERT_EQ(sent_.size(), 1U) << "it was stored: it is to be stopped";
  EXPECT_EQ(Json::parse(sent_[0].write.body)["spec"]["suspend"], true);
  answer(200, job("5", true));
  change(types::job, job("5", true));
  const Json nothing{{"metadata", {{"uid", "u"}, {"resourceVersion", "5"}}}};
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body), nothing) << "changes nothing, and needs the newest version";
  EXPECT_TRUE(settled_.empty());
  answer(409);
  change(types::job, job("6", true));
  ASSERT_EQ(sent_.size(), 1U);
  answer(0);  // nobody knows
  EXPECT_TRUE(settled_.empty());
  bridge_.retry();
  ASSERT_EQ(sent_.size(), 1U);
  answer(200, job("6", true));
  EXPECT_EQ(settled_, std::vector<std::uint64_t>{17});
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// MR-50, MR-96: a start with a plan that was not answered, or overtaken, counts as not done; the Job is looked at again before the next
// try, for it may have been stored. No record tells of it.
TEST_F(BridgeTest, AStartWithAPlanIsRepeatedUntilItShows) {
  const auto job = [](const std::string& version, const std::string& cpu, bool suspend) {
    return R"({"metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":")" + version + R"("},"spec":{"suspend":)" +
           (suspend ? "true" : "false") + R"(,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
           R"("}}}]}}}})";
  };
  add(types::job, job("3", "4", true));
  add(types::workload, workload("w", "5", R"({"name":"c","resources":{"requests":{"cpu":"4"}}})"));
  auto intent = job_intent();
  intent.run = true;
  intent.workload_uid = "uid-w";
  intent.pod_sets = {{"main", 1, {}, {}, {}}};
  intent.sizes = {{"main", "c", "cpu", 4000, 2000}};
  bridge_.want({intent});
  for (const int status : {0, 503, 500}) {
    ASSERT_EQ(sent_.size(), 1U) << status;
    EXPECT_EQ(Json::parse(sent_[0].write.body)["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
    answer(status);
    EXPECT_TRUE(sent_.empty()) << "it waits";
    bridge_.retry();
  }
  answer(409);
  EXPECT_TRUE(sent_.empty()) << "the newer version comes first";
  change(types::job, job("4", "4", true));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["metadata"]["resourceVersion"], "4");
  answer(0);
  change(types::job, job("5", "2", false));  // it had been stored all the same
  bridge_.retry();
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  EXPECT_EQ(refusals_seen_, 0);
}

// 5440 §2.2: what is wrong stands at the end, behind the whole value.
TEST_F(BridgeTest, ALongRefusalKeepsItsEnd) {
  add(types::workload, workload("w", "7", asks_nothing));
  admission::WorkloadIntent intent;
  intent.uid = "uid-w";
  intent.namespace_ = "ns";
  intent.name = "w";
  intent.set_active = false;
  bridge_.want({intent});
  answer(422, Json{{"kind", "Status"}, {"message", "spec.template: Invalid value: {" + std::string(100'000, 'x') + "}: field is immutable"}}
                  .dump());
  ASSERT_EQ(notices_.size(), 1U);
  const auto& notice = notices_.front();
  EXPECT_LE(notice.size(), limits::finding.size() + 30);
  EXPECT_EQ(notice.substr(0, 50), "write to ns/w was refused: spec.template: Invalid ");
  EXPECT_EQ(notice.substr(notice.size() - 20), ": field is immutable");
}

// No decision stands behind a finalizer or the status of a queue: nobody would ask for it again.
TEST_F(BridgeTest, ARefusedFinalizerStaysWanted) {
  add(types::resource_flavor, R"({"metadata":{"name":"f","uid":"u","resourceVersion":"1"},"spec":{}})");
  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", true}});
  answer(403);
  EXPECT_EQ(refusals_seen_, 0);
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(bridge_.outstanding(), 1U);
  bridge_.retry();
  EXPECT_EQ(sent_.size(), 1U);
}

// What is wanted of an object that goes away is wanted no more.
TEST_F(BridgeTest, NothingIsWantedOfWhatHasGone) {
  const std::string flavor = R"({"metadata":{"name":"f","uid":"u","resourceVersion":"1"},"spec":{}})";
  bridge_.want({admission::FinalizerIntent{ObjectKind::resource_flavor, "f", true}});
  EXPECT_EQ(bridge_.outstanding(), 1U);
  EXPECT_TRUE(sent_.empty());
  add(types::resource_flavor, flavor);  // now it can be written
  ASSERT_EQ(sent_.size(), 1U);
  answer(500);
  remove(types::resource_flavor, flavor);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// Tables by names and uids that users choose are as large as what there is: what is made, written, refused and deleted leaves nothing.
TEST_F(BridgeTest, WhatIsMadeAndDeletedLeavesNothingBehind) {
  const auto job = [](const std::string& n) {
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns-)" + n + R"(","name":"j","uid":"job-)" + n +
           R"(","resourceVersion":"1"},"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"c"}]}}}})";
  };
  const auto workload_of = [&](const std::string& n, const std::string& owner) {
    return R"({"metadata":{"namespace":"ns-)" + n + R"(","name":"w","uid":"w-)" + n +
           R"(","resourceVersion":"1","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":")" + owner +
           R"(","controller":true}]},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[)" +
           asks_nothing + R"(]}}}]}})";
  };
  const std::size_t before = bridge_.entries();
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    add(types::job, job(n));
    add(types::workload, workload_of(n, i % 2 == 0 ? "job-" + n : "nobody-" + n));
    auto stop = job_intent();
    stop.uid = "job-" + n;
    stop.namespace_ = "ns-" + n;
    stop.run = true;
    stop.workload_uid = "w-" + n;
    auto status = status_of("x", "because");
    status.uid = "w-" + n;
    status.namespace_ = "ns-" + n;
    status.name = "w";
    bridge_.want({stop, status});
    while (!sent_.empty()) answer(422);
    bridge_.want({admission::WorkloadAdoptIntent{"ns-" + n, "never-made", "job-" + n, "Job", "batch", "j"}});
    if (i % 3 == 0) bridge_.want({stop});
    remove(types::workload, workload_of(n, i % 2 == 0 ? "job-" + n : "nobody-" + n));
    remove(types::job, job(n));
    bridge_.want({stop, status});  // decided before it was known that they have gone
    while (!sent_.empty()) answer(404);
  }
  bridge_.drop_absent(0);
  EXPECT_EQ(bridge_.entries(), before);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// Which pod sets a job's Workload has is said by Workloads of its own namespace; uids are no secrets.
TEST_F(BridgeTest, CountsOfAJobAreNotTakenFromOtherNamespaces) {
  const auto ray = [](const std::string& ns, const std::string& count) {
    return R"({"metadata":{"namespace":")" + ns + R"(","name":"w","uid":"w-)" + ns +
           R"(","resourceVersion":"1","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u","controller":true}]},)" +
           R"("spec":{"queueName":"lq","podSets":[{"name":"main","count":)" + count + R"(,"template":{"spec":{"containers":[)" +
           asks_nothing + R"(]}}}]}})";
  };
  add(types::job, R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":"1"},)"
                  R"("spec":{"suspend":true,"parallelism":3,"template":{"spec":{"containers":[{"name":"c"}]}}}})");
  const auto told = jobs_.size();
  add(types::workload, ray("evil", "1"));
  EXPECT_EQ(jobs_.size(), told) << "it says nothing about the job";
  add(types::workload, ray("ns", "3"));
  EXPECT_EQ(jobs_.size(), told + 1);
}

std::string said_in(const Write& write) { return Json::parse(write.body)["status"]["conditions"][0]["message"]; }

// Another domain has the object now: what the one before wanted is not tried again, and what that one wants is.
TEST_F(BridgeTest, WhatWasWantedOfAnObjectThatDepartedIsForgotten) {
  add(types::workload, workload("w", "7", asks_nothing));
  bridge_.want({admission_of("w")});
  ASSERT_EQ(sent_.size(), 1U);
  bridge_.forget("uid-w");
  answer(409);
  EXPECT_EQ(bridge_.outstanding(), 0U) << "its answer was all that was waited for";
  change(types::workload, workload("w", "8", asks_nothing));
  EXPECT_TRUE(sent_.empty());

  bridge_.want({admission_of("w")});
  bridge_.forget("uid-w");
  bridge_.want({status_of("w", "of another tree")});
  answer(409);
  change(types::workload, workload("w", "9", asks_nothing));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(said_in(sent_[0].write), "of another tree");

  bridge_.want({status_of("x", "not in the mirror yet")});
  bridge_.forget("uid-x");
  EXPECT_EQ(bridge_.outstanding(), 1U);
}

// What was being written when its object departed is told when it is answered, before anybody decides about the object again.
TEST_F(BridgeTest, WhatDepartsWithAWriteUnderWayIsToldWhenThatIsAnswered) {
  add(types::workload, workload("w", "7", asks_nothing));
  add(types::workload, workload("v", "7", asks_nothing));
  bridge_.want({admission_of("v"), admission_of("w")});
  ASSERT_EQ(sent_.size(), 2U);
  bridge_.forget("uid-x");
  EXPECT_FALSE(bridge_.departing());
  bridge_.forget("uid-v");
  bridge_.forget("uid-w");
  EXPECT_TRUE(bridge_.departing());
  const auto told = seen_.size();
  answer(200, workload("v", "8", asks_nothing));
  ASSERT_EQ(seen_.size(), told + 1);
  EXPECT_EQ(seen_.back().version, 8U);
  EXPECT_TRUE(bridge_.departing());
  EXPECT_EQ(departures_, 0);
  answer(409);
  EXPECT_EQ(seen_.size(), told + 1) << "nothing was written";
  EXPECT_FALSE(bridge_.departing());
  EXPECT_EQ(departures_, 1);
  EXPECT_EQ(bridge_.outstanding(), 0U);
}

// One write for an admission, and on a busy server none for a reason that was overtaken. What lets work go on does not wait for what
// only tells why something waits.
TEST_F(BridgeTest, WhatOnlyTellsReadersGivesWay) {
  for (const char* name : {"a", "b", "c", "d", "e"}) add(types::workload, workload(name, "7", asks_nothing));
  add(types::cluster_queue, R"({"metadata":{"name":"cq","uid":"u","resourceVersion":"1"},"spec":{}})");
  admission::QueueStatusIntent counts;
  counts.name = "cq";
  counts.pending = 5;
  bridge_.want({status_of("a", "one"), status_of("b", "one"), status_of("c", "one"), status_of("d", "one"), counts});
  ASSERT_EQ(sent_.size(), 2U) << "as many as may be under way at a time";
  EXPECT_EQ(sent_[0].write.name, "a");
  EXPECT_EQ(sent_[1].write.name, "b");

  bridge_.want({admission_of("e")});
  ASSERT_EQ(sent_.size(), 3U) << "an admission waits for none of them";
  EXPECT_EQ(sent_[2].write.name, "e");
  bridge_.want({admission_of("c")});
  ASSERT_EQ(sent_.size(), 4U) << "nor when its own reason was still waiting";
  bridge_.want({status_of("d", "two")});
  bridge_.want({status_of("d", "three")});
  bridge_.retry();
  EXPECT_EQ(sent_.size(), 4U);

  auto told = Json::parse(workload("a", "8", asks_nothing));
  told["status"] = Json::parse(sent_[0].write.body)["status"];
  answer(200, told.dump());
  ASSERT_EQ(sent_.size(), 4U);
  EXPECT_EQ(sent_[3].write.type, &types::cluster_queue) << "what is in no namespace has its turn among the namespaces";
  EXPECT_EQ(Json::parse(sent_[3].write.body)["status"]["pendingWorkloads"], 5);
  counts.pending = 4;
  bridge_.want({counts});
  answer(409);  // of b, which waits for the mirror now
  ASSERT_EQ(sent_.size(), 3U) << "two admissions are under way, and one was told something since the last look at all";
  bridge_.retry();
  ASSERT_EQ(sent_.size(), 4U);
  EXPECT_EQ(sent_[3].write.name, "d") << "that of c is not told any more";
  EXPECT_EQ(said_in(sent_[3].write), "three") << "only the last is told";
  for (int others = 0; others < 2; ++others) answer(409);  // of the admissions
  answer(200, R"({"metadata":{"name":"cq","uid":"u","resourceVersion":"2"},"spec":{},"status":{"pendingWorkloads":5}})");
  bridge_.retry();
  const auto written = std::find_if(sent_.begin(), sent_.end(), [](const Sent& s) { return s.write.type == &types::cluster_queue; });
  ASSERT_NE(written, sent_.end());
  EXPECT_EQ(Json::parse(written->write.body)["status"]["pendingWorkloads"], 4);
}

// Of a busy server readers get a seventeenth of what is written, so that their share does not grow with its delay.
TEST_F(BridgeTest, WhileOtherWritesAreUnderWayReadersGetAFixedShare) {
  constexpr int admissions = 40;
  for (int i = 0; i < admissions; ++i) add(types::workload, workload("w" + std::to_string(i), "7", asks_nothing));
  for (const char* name : {"a", "b", "c", "d"}) add(types::workload, workload(name, "7", asks_nothing));
  for (int i = 0; i < admissions; ++i) bridge_.want({admission_of("w" + std::to_string(i))});
  bridge_.want({status_of("a", "one"), status_of("b", "one"), status_of("c", "one"), status_of("d", "one")});
  std::vector<int> told_after;
  for (int i = 1; i < admissions; ++i) {
    answer(404);
    if (sent_.back().write.name.size() > 1) continue;
    told_after.push_back(i);
    auto report = std::move(sent_.back());
    sent_.pop_back();
    report.done({404, ""});
  }
  answer(404);
  EXPECT_EQ(told_after, (std::vector<int>{16, 32}));
  EXPECT_EQ(sent_.size(), 2U) << "nothing else is under way, so both go that are left";
}

// Two parts of an object have one resourceVersion: written at the same time, the second would only come back as a conflict.
TEST_F(BridgeTest, AnObjectIsWrittenByOneWantAfterTheOther) {
  const std::string held = R"(,"finalizers":["kueue.x-k8s.io/resource-in-use"])";
  const auto queue = [](const std::string& version, const std::string& more) {
    return R"({"metadata":{"name":"cq","uid":"u","resourceVersion":")" + version + "\"" + more + R"(},"spec":{}})";
  };
  add(types::cluster_queue, queue("1", ""));
  admission::QueueStatusIntent counts;
  counts.name = "cq";
  counts.pending = 5;
  bridge_.want({admission::FinalizerIntent{ObjectKind::cluster_queue, "cq", true}, counts});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].write.subresource, "");
  answer(200, queue("2", held));
  ASSERT_EQ(sent_.size(), 1U) << "without a wait for the watch";
  const auto body = Json::parse(sent_[0].write.body);
  EXPECT_EQ(sent_[0].write.subresource, "status");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "2");
  EXPECT_EQ(body["status"]["pendingWorkloads"], 5);

  change(types::cluster_queue, queue("3", held));  // somebody else was faster, and is seen before the answer says so
  answer(409);
  ASSERT_EQ(sent_.size(), 1U) << "at once: no other version would come";
  EXPECT_EQ(Json::parse(sent_[0].write.body)["metadata"]["resourceVersion"], "3");
  answer(409);
  EXPECT_TRUE(sent_.empty()) << "now the mirror has to bring what was in the way";
}

// What somebody else has written since the decision is not undone (rule 5): the end of a Workload that was about to be evicted, or what the
// controller of a check says.
TEST_F(BridgeTest, AWorkloadIsNotWrittenOverWhatTheDomainHasNotSeen) {
  add(types::workload, workload("a", "7", asks_nothing));
  auto intent = status_of("a", "one");
  intent.seen_version = 7;
  auto ended = Json::parse(workload("a", "8", asks_nothing));
  ended["status"]["conditions"] = Json::parse(R"([{"type":"Finished","status":"True","reason":"Succeeded","message":""}])");
  change(types::workload, ended.dump());
  bridge_.want({intent});
  bridge_.retry();
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(bridge_.outstanding(), 1U);

  intent.seen_version = 8;
  intent.conditions.push_back({ConditionType::finished, ConditionStatus::true_, "Succeeded", "", {}});
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["metadata"]["resourceVersion"], "8");

  // a decision that was made before our own write is seen may be written over it
  auto written = ended;
  written["metadata"]["resourceVersion"] = "9";
  written["status"]["conditions"] = Json::parse(sent_[0].write.body)["status"]["conditions"];
  answer(200, written.dump());
  EXPECT_EQ(bridge_.outstanding(), 0U);
  intent.conditions[0].message = "two";
  bridge_.want({intent});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(Json::parse(sent_[0].write.body)["metadata"]["resourceVersion"], "9");
  answer(409);
  written["metadata"]["resourceVersion"] = "10";
  change(types::workload, written.dump());
  EXPECT_TRUE(sent_.empty()) << "that is not our own";
}

}  // namespace
}  // namespace hindsight::connectors

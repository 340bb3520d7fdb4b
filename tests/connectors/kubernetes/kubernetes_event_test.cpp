// Shows the Events that we write: names, places, cut messages.
#include "connectors/kubernetes/kubernetes_event.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "connectors/kubernetes/object_writer.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

constexpr ResourceType workload{"Workload", "kueue.x-k8s.io", "v1beta2", "workloads", true};
constexpr ResourceType cluster_queue{"ClusterQueue", "kueue.x-k8s.io", "v1beta2", "clusterqueues", false};

KubernetesEvent admitted() {
  KubernetesEvent event;
  event.type = &workload;
  event.namespace_ = "team";
  event.name = "job-a";
  event.uid = "u-1";
  event.reason = "Admitted";
  event.message = "Admitted by ClusterQueue q, wait time since reservation was 0s";
  event.first = Time::from_seconds(1000);
  event.last = Time::from_seconds(1000);
  return event;
}

TEST(KubernetesEvent, IsCreatedBesideItsObject) {
  const Write write = event_write(admitted());
  EXPECT_EQ(write.verb, Write::Verb::create);
  EXPECT_EQ(write.namespace_, "team");
  const auto body = nlohmann::json::parse(write.body);
  EXPECT_EQ(body["metadata"]["name"], write.name);
  EXPECT_TRUE(write.name.starts_with("job-a."));
  EXPECT_EQ(
      body["involvedObject"],
      nlohmann::json::parse(R"({"kind":"Workload","apiVersion":"kueue.x-k8s.io/v1beta2","namespace":"team","name":"job-a","uid":"u-1"})"));
  EXPECT_EQ(body["type"], "Normal");
  EXPECT_EQ(body["reason"], "Admitted");
  EXPECT_EQ(body["firstTimestamp"], "1970-01-01T00:16:40Z");
  EXPECT_EQ(body["count"], 1);
  EXPECT_FALSE(body.contains("action")) << "the reason says it all";
  EXPECT_EQ(request_for(write).path, "/api/v1/namespaces/team/events?fieldManager=hindsight");
}

TEST(KubernetesEvent, OfAClusterScopedObjectLiesInDefault) {
  KubernetesEvent event = admitted();
  event.type = &cluster_queue;
  event.namespace_ = "";
  event.is_warning = true;
  const Write write = event_write(event);
  EXPECT_EQ(write.namespace_, "default");
  const auto body = nlohmann::json::parse(write.body);
  EXPECT_FALSE(body["involvedObject"].contains("namespace"));
  EXPECT_EQ(body["type"], "Warning");
}

TEST(KubernetesEvent, ARepetitionPatchesTheFirst) {
  KubernetesEvent event = admitted();
  const Write first = event_write(event);
  event.count = 3;
  event.last = Time::from_seconds(1060);
  const Write third = event_write(event);
  EXPECT_EQ(third.verb, Write::Verb::merge_patch);
  EXPECT_EQ(third.name, first.name);
  EXPECT_EQ(nlohmann::json::parse(third.body), nlohmann::json::parse(R"({"count":3,"lastTimestamp":"1970-01-01T00:17:40Z"})"));
  event.reason = "Evicted";
  EXPECT_NE(event_write(event).name, first.name);
}

TEST(KubernetesEvent, HasALegalNameForTheLongestObject) {
  KubernetesEvent event = admitted();
  event.name = std::string(235, 'a') + "." + std::string(17, 'b');
  const Write write = event_write(event);
  EXPECT_LE(write.name.size(), 253U);
  EXPECT_EQ(write.name.find(".."), std::string::npos);
}

// 77 §2.6: some events say in a word of its own what was done to the object.
TEST(KubernetesEvent, SaysWhatWasDone) {
  KubernetesEvent event = admitted();
  event.reason = "WorkloadSliceReplaced";
  event.action = "Replaced";
  EXPECT_EQ(nlohmann::json::parse(event_write(event).body)["action"], "Replaced");
  event.count = 2;
  EXPECT_FALSE(nlohmann::json::parse(event_write(event).body).contains("action")) << "it is there from the first";
}

TEST(KubernetesEvent, SurvivesMessagesThatAreNoUtf8) {
  KubernetesEvent event = admitted();
  event.message = "bad \xff byte";
  EXPECT_TRUE(nlohmann::json::parse(event_write(event).body, nullptr, false).is_object());
}

// base-api §1: messages of events are cut to 1024 bytes and then end in " ...".
TEST(KubernetesEvent, HasAMessageOfAtMost1024Bytes) {
  EXPECT_EQ(nlohmann::json::parse(event_write([] {
                                    KubernetesEvent event = admitted();
                                    event.message = std::string(5000, 'x');
                                    return event;
                                  }())
                                      .body)["message"]
                .get<std::string>()
                .size(),
            1024U);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes

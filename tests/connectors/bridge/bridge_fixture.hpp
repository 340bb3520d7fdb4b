#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "connectors/json/json_value.hpp"

namespace hindsight::connectors::test {

/// A bridge with a mirror in memory and a cluster that keeps the writes for the test to answer.
class BridgeTest : public ::testing::Test, private Cluster {
 protected:
  explicit BridgeTest(BridgeOptions more = {}) : more_(std::move(more)) {}

  struct Sent {
    Write write;
    std::function<void(WriteAnswer)> done;
  };
  struct Seen {
    std::string name;
    std::uint64_t version = 0;
    std::string requests, limits_error, limit_range_error;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  void tell(WatchEvent::Type kind, const ResourceType& type, const std::string& object) {
    const WatchEvent event{kind, &type, object};
    mirror_.on_watch(event);
    bridge_.on_watch(event);
  }
  void add(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::added, type, object); }
  void change(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::modified, type, object); }
  void remove(const ResourceType& type, const std::string& object) { tell(WatchEvent::Type::deleted, type, object); }

  static std::string workload(const std::string& name, const std::string& version, const std::string& container,
                              const std::string& more = "", const std::string& ns = "ns") {
    return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"uid-)" + name + R"(","resourceVersion":")" +
           version +
           R"(","generation":1},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[)" +
           container + "]" + more + "}}}]}}";
  }
  static std::string limit_range(const std::string& limits) {
    return R"({"metadata":{"namespace":"ns","name":"r"},"spec":{"limits":[)" + limits + "]}}";
  }
  /// Of Job "j", uid "u": nothing yet.
  static admission::JobIntent job_intent() {
    admission::JobIntent out;
    out.uid = "u";
    out.kind = "Job";
    out.group = "batch";
    out.namespace_ = "ns";
    out.name = "j";
    return out;
  }
  /// The answer to the oldest write.
  void answer(int status, const std::string& body = "{}") {
    ASSERT_FALSE(sent_.empty());
    auto sent = std::move(sent_.front());
    sent_.pop_front();
    sent.done({status, body});
  }

  std::vector<Seen> seen_;
  std::vector<std::uint64_t> settled_;
  std::vector<std::string> jobs_;  ///< "name vVERSION pod-set=count", of the last pod set.
  int queues_seen_ = 0;
  int refusals_seen_ = 0;
  std::vector<std::string> refused_;  ///< "NAME STATUS MESSAGE by DECISION".
  std::vector<std::string> refused_uids_;
  int departures_ = 0;
  int synced_ = 0;
  std::vector<std::string> notices_;
  std::deque<Sent> sent_;
  std::size_t at_once_ = std::numeric_limits<std::size_t>::max();
  std::uint32_t write_limit_ = 0;
  std::vector<std::uint32_t> limits_told_;
  BridgeOptions more_;
  MemoryMirror mirror_;
  Bridge bridge_{*this, mirror_, [this](const Observation& o) { note(o); }, options()};

 private:
  void submit(Write write, std::function<void(WriteAnswer)> done) override { sent_.push_back({std::move(write), std::move(done)}); }
  [[nodiscard]] std::size_t writes_at_once() const override { return at_once_; }
  [[nodiscard]] std::uint32_t write_limit() const override { return write_limit_; }
  BridgeOptions options() {
    BridgeOptions out = more_;
    out.notice = [this](const std::string& text) { notices_.push_back(text); };
    out.departed = [this] { ++departures_; };
    return out;
  }
  void note(const Observation& o) {
    if (std::holds_alternative<ClusterQueueObserved>(o)) ++queues_seen_;
    if (std::holds_alternative<MirrorSynced>(o)) ++synced_;
    if (const auto* limit = std::get_if<WriteLimitObserved>(&o)) limits_told_.push_back(limit->writes);
    if (const auto* r = std::get_if<WriteRefused>(&o)) {
      ++refusals_seen_;
      refused_uids_.emplace_back(r->uid);
      refused_.push_back(std::string(r->name) + " " + std::to_string(r->http_status) + " " + std::string(r->message) + " by " +
                         std::to_string(r->decision_sequence));
    }
    if (const auto* j = std::get_if<JobObserved>(&o); j != nullptr && j->start_settled != 0) settled_.push_back(j->start_settled);
    if (const auto* j = std::get_if<JobObserved>(&o); j != nullptr && !j->pod_sets.empty())
      jobs_.push_back(std::string(j->meta.name) + " v" + std::to_string(j->meta.resource_version) + " " +
                      std::string(j->pod_sets.back().name) + "=" + std::to_string(j->pod_sets.back().count));
    const auto* w = std::get_if<WorkloadObserved>(&o);
    if (w == nullptr) return;
    Seen s{std::string(w->meta.name), w->meta.resource_version, "", std::string(w->pod_sets[0].limits_error),
           std::string(w->pod_sets[0].limit_range_error)};
    for (const auto& r : w->pod_sets[0].requests) s.requests += std::string(r.resource) + "=" + std::to_string(r.amount) + " ";
    seen_.push_back(std::move(s));
  }
};

inline const std::string asks_nothing = R"({"name":"c"})";

/// Why a Workload waits.
inline admission::WorkloadIntent status_of(const std::string& name, const std::string& why) {
  admission::WorkloadIntent out;
  out.uid = "uid-" + name;
  out.namespace_ = "ns";
  out.name = name;
  out.conditions = {{ConditionType::quota_reserved, ConditionStatus::false_, "Pending", why, Time::from_seconds(1)}};
  return out;
}

inline admission::WorkloadIntent admission_of(const std::string& name) {
  auto out = status_of(name, "");
  out.conditions = {{ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "", Time::from_seconds(2)}};
  out.has_admission = true;
  out.cluster_queue = "cq";
  return out;
}

}  // namespace hindsight::connectors::test

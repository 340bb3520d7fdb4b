// What the worked examples of 6915 §4 say beside what gates_test.cpp proves of them: usage, restarts, places in line, what the log ends
// with, and a Workload that is there already when it is written.

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "admission/domain/domain.hpp"
#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "connectors/bridge/bridge.hpp"
#include "connectors/bridge/memory_mirror.hpp"
#include "connectors/objects/resource_types.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "events/settings.hpp"
#include "tests/simulation/gate_story.hpp"

namespace hindsight::simulation {
namespace {

std::string gated_by(const char* annotation, const std::string& value) { return std::string(annotation) + ": '" + value + "'"; }

const Json& annotations_of(const Json& object) {
  static const Json none = Json::object();
  const auto it = object["metadata"].find("annotations");
  return it == object["metadata"].end() ? none : *it;
}

/// A domain that is folded from a log, and goes on from there.
class Folded {
 public:
  explicit Folded(const events::Log& log) : driver_(&events::read_settings) {
    events::RecordReader reader;
    events::RecordBatch batch;
    if (!log.read(1, {.records = 100'000}, batch)) throw std::runtime_error("the log cannot be read");
    for (const auto stored : batch) {
      const auto record = reader.read(stored.bytes);
      if (!record) throw std::runtime_error(record.error().message);
      if (const auto applied = driver_.apply(**record); !applied) throw std::runtime_error(applied.error().message);
      note((*record)->body);
    }
  }
  [[nodiscard]] admission::LoopDriver& driver() { return driver_; }

  /// A new writer begins, and decides until it has nothing more to say; the events for the cluster that come of it.
  Lines restart(std::string_view configuration = {}) {
    append(EpochStarted{"restart", "test", admission::rules_version}, driver_.domain().epoch() + 1);
    if (!configuration.empty()) append(Observation{ConfigurationObserved{configuration}}, driver_.domain().epoch());
    Lines out;
    for (auto step = driver_.decide(); step; step = driver_.decide())
      for (auto& line : append(Decisions{step->base, step->kind, step->events}, driver_.domain().epoch())) out.push_back(std::move(line));
    return out;
  }

  Lines pending;     ///< "reason: message" of each condition QuotaReserved=False that a controller decided.
  std::string last;  ///< "job j" if the last record is the deletion of that job; empty: it is another.

 private:
  Lines append(Body body, std::uint64_t epoch) {
    RecordView record;
    record.envelope.domain = "default";
    record.envelope.sequence = driver_.domain().sequence() + 1;
    record.envelope.epoch = epoch;
    record.envelope.time = driver_.domain().now();
    record.body = std::move(body);
    if (const auto applied = driver_.apply(record); !applied) throw std::runtime_error(applied.error().message);
    Lines out;
    for (const auto& e : connectors::record_events(record, driver_))
      out.push_back((e.is_warning ? "!" : "") + std::string(e.type->kind) + " " + e.name + " " + e.reason + ": " + e.message);
    return out;
  }
  void note(const Body& body) {
    last.clear();
    if (const auto* o = std::get_if<Observation>(&body))
      if (const auto* gone = std::get_if<ObjectDeleted>(o); gone != nullptr && gone->kind == ObjectKind::job)
        last = "job " + std::string(gone->name);
    const auto* d = std::get_if<Decisions>(&body);
    if (d == nullptr) return;
    for (const Event& e : d->events)
      if (const auto* c = std::get_if<ConditionChanged>(&e); c != nullptr && c->type == ConditionType::quota_reserved)
        pending.push_back(std::string(c->reason) + ": " + std::string(c->message));
  }

  admission::LoopDriver driver_;
};

// SG-23, SG-24, SG-30, SG-32, SG-35, SG-36
TEST(GateExamples, E1NothingIsMadeOverARestartAndNothingIsInUse) {
  Story s;
  s.job("prep", gated_by(scheduling, "example.com/mygate"), "100m").step().step().step();
  events::MemoryLog log;
  const auto held = s.play(&log);
  EXPECT_EQ(held.workloads("prep").size(), 0U) << "for half a minute";
  const Json queue = held.result.states["states"][3]["clusterQueues"]["cq"];
  for (const char* counter : {"pending", "reserving", "admitted"}) EXPECT_EQ(queue[counter], 0) << counter;
  for (const char* list : {"flavorsReservation", "flavorsUsage"})
    for (const auto& [flavor, resources] : queue[list].items())
      for (const auto& [resource, amounts] : resources.items()) EXPECT_EQ(amounts, Json::parse(R"(["0","0"])")) << list << resource;
  Folded after(log);
  EXPECT_EQ(after.restart(), Lines{}) << "neither told again nor made";
  for (const auto& intent : after.driver().all_intents())
    EXPECT_FALSE(std::holds_alternative<admission::WorkloadCreateIntent>(intent) || std::holds_alternative<admission::JobIntent>(intent));

  const auto released = s.step().release("prep").play();
  EXPECT_EQ(Played::condition(released.workloads("prep").at(0), "QuotaReserved"), "True/QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(Played::condition(released.workloads("prep").at(0), "Admitted"), "True/Admitted: The workload is admitted");
}

// SG-15, SG-20
TEST(GateExamples, E2ARefusedGateLeavesJobAndWorkloadAsTheyWere) {
  Story quiet;
  quiet.job("late", "").step();
  const auto before = quiet.play();
  for (const char* annotation : {scheduling, admission_}) {
    Story s;
    s.job("late", "").step().patch("late", "{metadata: {labels: {team: a}, annotations: {" + gated_by(annotation, "example.com/g") + "}}}");
    const auto refused = s.play();
    EXPECT_EQ(refused.result.refused.size(), 1U);
    EXPECT_EQ(refused.job("late"), before.job("late"));
    EXPECT_EQ(refused.workloads("late"), before.workloads("late"));
    EXPECT_EQ(refused.events, before.events);
  }
}

// SG-34, SG-60: one job was gated for a while, another came meanwhile; only one of them fits when the queue becomes free
TEST(GateExamples, E4AnAdmissionGateKeepsThePlaceInLineAndASchedulingGateDoesNot) {
  for (const char* annotation : {admission_, scheduling}) {
    Story s;
    s.job("first", "", "5").step().job("gated", gated_by(annotation, "audit.io/ok"), "3").step().job("later", "", "4");
    s.step().release("gated", annotation).step().remove("first");
    events::MemoryLog log;
    const auto r = s.step().play(&log);
    const bool by_admission = annotation == admission_;
    const std::string in = by_admission ? "gated" : "later", out = by_admission ? "later" : "gated";
    EXPECT_EQ(Played::condition(r.workloads(in).at(0), "Admitted"), "True/Admitted: The workload is admitted") << annotation;
    EXPECT_EQ(Played::condition(r.workloads(out).at(0), "QuotaReserved").substr(0, 21), "False/WaitingForQuota") << annotation;
    const Folded told(log);
    EXPECT_EQ(
        std::count(told.pending.begin(), told.pending.end(), "PendingEvaluation: AdmissionGatedBy cleared, waiting for quota reservation"),
        by_admission ? 1 : 0);
  }
}

// SG-47, SG-49
TEST(GateExamples, E5WhatReplacesTheFirstSliceIsNotGated) {
  Story s;
  s.job("e", gated_by(scheduling, "example.com/g") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20");
  s.step().patch("e", "{spec: {parallelism: 3}}").step().release("e").step().patch("e", "{spec: {parallelism: 4}}");
  const auto r = s.play();
  ASSERT_EQ(r.result.refused, Lines{});
  const auto w = r.workloads("e");
  ASSERT_EQ(w.size(), 2U);
  const std::string first = w[0]["metadata"]["name"];
  EXPECT_EQ(annotations_of(w[1])["kueue.x-k8s.io/workload-slice-replacement-for"], "default/" + first);
  EXPECT_EQ(annotations_of(w[1])["kueue.x-k8s.io/workload-slice-name"], first);
  for (const auto& slice : w)
    for (const char* annotation : {scheduling, admission_}) EXPECT_FALSE(annotations_of(slice).contains(annotation));
  EXPECT_EQ(Played::condition(w[0], "Finished").substr(0, 27), "True/WorkloadSliceReplaced:");
  EXPECT_EQ(r.count("SchedulingGated:"), 1U);
}

// SG-22, SG-27
TEST(GateExamples, E7TheLogOfADeletedJobEndsWithItsDeletion) {
  Story s;
  s.job("j", gated_by(scheduling, "example.com/g")).step().patch("j", "{spec: {suspend: false}}").step().remove("j");
  events::MemoryLog log;
  const auto r = s.play(&log);
  EXPECT_EQ(r.cluster().find("Job", "default", "j"), nullptr) << "no finalizer holds it";
  EXPECT_EQ(Folded(log).last, "job j");
}

/// An API server that keeps what is written, for the test to answer.
class Server final : public connectors::Cluster {
 public:
  struct Sent {
    connectors::Write write;
    std::function<void(connectors::WriteAnswer)> done;
  };
  std::deque<Sent> sent;

  void submit(connectors::Write write, std::function<void(connectors::WriteAnswer)> done) override {
    sent.push_back({std::move(write), std::move(done)});
  }
};

// SG-76: whoever comes second finds the Workload there: it is made, and nobody needs to hear of it (EJ-11: nor of a slice)
TEST(GateExamples, E8AWorkloadThatIsThereAlreadyCountsAsMade) {
  Server server;
  connectors::MemoryMirror mirror;
  Lines notices;
  int refusals = 0;
  connectors::BridgeOptions options;
  options.notice = [&notices](const std::string& text) { notices.push_back(text); };
  connectors::Bridge bridge(
      server, mirror, [&refusals](const Observation& o) { refusals += std::holds_alternative<WriteRefused>(o) ? 1 : 0; },
      std::move(options));
  const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u","resourceVersion":"3",
    "generation":1,"labels":{"kueue.x-k8s.io/queue-name":"lq"}},"spec":{"suspend":true,"parallelism":1,"template":{"spec":{
    "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";
  const connectors::WatchEvent seen{connectors::WatchEvent::Type::added, &connectors::types::job, job};
  mirror.on_watch(seen);
  bridge.on_watch(seen);

  admission::WorkloadCreateIntent intent;
  intent.job_uid = "u";
  intent.job_kind = "Job";
  intent.job_group = "batch";
  intent.namespace_ = "ns";
  intent.job_name = "j";
  intent.name = "job-j-12345";
  intent.queue_name = "lq";
  bridge.want({intent});
  ASSERT_EQ(server.sent.size(), 1U);
  auto creation = std::move(server.sent.front());
  server.sent.pop_front();
  EXPECT_EQ(creation.write.verb, connectors::Write::Verb::create);
  EXPECT_EQ(creation.write.name, "job-j-12345");
  creation.done({409, R"({"kind":"Status","reason":"AlreadyExists","message":"workloads \"job-j-12345\" already exists"})"});
  EXPECT_EQ(bridge.outstanding(), 0U) << "treated as done";
  bridge.retry();
  EXPECT_TRUE(server.sent.empty()) << "not written again";
  EXPECT_EQ(refusals, 0);
  EXPECT_EQ(notices, Lines{});
}

// SG-5: the example as it stands: the gate is switched on while the job runs that came with the annotation
TEST(GateExamples, E10SwitchedOnLateAGateIsIgnoredOnce) {
  constexpr const char* on = R"({"featureGates":{"SchedulingGatedBy":true}})";
  Story s;
  s.configure("").job("j", gated_by(scheduling, "example.com/g"));
  events::MemoryLog log;
  const auto off = s.play(&log);
  EXPECT_FALSE(off.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(Played::condition(off.workloads("j").at(0), "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_EQ(off.count("Gate"), 0U);
  Folded late(log);
  EXPECT_EQ(late.restart(on), Lines{"!Job j SchedulingGateIgnored: The job has a Workload already; its scheduling gate is ignored: "
                                    "example.com/g"});
  for (const auto& intent : late.driver().all_intents())
    if (const auto* job = std::get_if<admission::JobIntent>(&intent)) {
      EXPECT_TRUE(job->run) << "it keeps running";
    }
  EXPECT_EQ(late.restart(on), Lines{}) << "told once";
}

}  // namespace
}  // namespace hindsight::simulation

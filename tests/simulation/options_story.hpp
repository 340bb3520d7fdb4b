#pragma once

// Stories about families of concurrent admission (8691 §4): steps at any second, played with the admission webhooks, and how Parent,
// Options, job and queues stood after each of them.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "admission/domain/domain.hpp"
#include "admission/domain/loop_driver.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/workload/workload_parent.hpp"
#include "connectors/event_recorder/decision_events.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "events/memory_log.hpp"
#include "events/settings.hpp"
#include "projections/metrics.hpp"
#include "replay/verify.hpp"
#include "simulation/run_scenario.hpp"
#include "tests/simulation/log_records.hpp"

namespace hindsight::simulation {

using connectors::Json;
using Lines = std::vector<std::string>;
/// Flavors of a queue in their order, and how much of the resource each has.
using Quotas = std::vector<std::pair<std::string, int>>;

inline constexpr const char* remove_other = "concurrentAdmission: {onSuccess: RemoveOther}";
inline constexpr const char* remove_lower = "concurrentAdmission: {onSuccess: RemoveLower}";
inline constexpr const char* retain_first = "concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}";
inline constexpr const char* try_preferred = "concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors}}";

inline std::string down_to(const std::string& target) {
  return "concurrentAdmission: {onSuccess: RemoveBelowTarget, removeBelowTargetConfig: {targetResourceFlavor: " + target + "}}";
}
inline std::string acceptable_down_to(const std::string& target) {
  return "concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors, constraints: {lastAcceptableFlavorName: " + target + "}}}";
}
/// A resource group in flow style.
inline std::string group(const Quotas& quotas, const std::string& resource = "cpu") {
  std::string out = "{coveredResources: [" + resource + "], flavors: [";
  for (std::size_t i = 0; i < quotas.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::string("{name: ") + quotas[i].first + ", resources: [{name: " + resource +
           ", nominalQuota: " + std::to_string(quotas[i].second) + "}]}";
  return out + "]}";
}

/// How the objects of a cluster stood at one moment. Names of Workloads are told as "j" for the Parent of job j, "j-option-od" for an
/// Option.
class Moment {
 public:
  Moment() = default;
  explicit Moment(const connectors::simulated::SimulatedCluster& cluster) {
    for (const char* kind : {"Job", "Workload", "ClusterQueue", "LocalQueue"})
      for (const auto& [key, o] : cluster.store().of_kind(kind)) objects_[kind].push_back(o->object);
  }

  [[nodiscard]] const std::vector<Json>& all(const std::string& kind) const {
    static const std::vector<Json> none;
    const auto it = objects_.find(kind);
    return it == objects_.end() ? none : it->second;
  }
  /// Null: there is none.
  [[nodiscard]] const Json& object(const std::string& kind, const std::string& name) const {
    static const Json none;
    for (const auto& o : all(kind))
      if (o["metadata"]["name"] == name) return o;
    return none;
  }
  [[nodiscard]] const Json& parent(const std::string& job) const {
    static const Json none;
    for (const auto& w : all("Workload"))
      for (const auto& owner : w["metadata"].value("ownerReferences", Json::array()))
        if (owner["kind"] == "Job" && owner["name"] == job) return w;
    const Json& bare = object("Workload", job);
    return bare.is_null() ? none : bare;
  }
  [[nodiscard]] const Json& option(const std::string& job, const std::string& option) const {
    const Json& p = parent(job);
    return p.is_null() ? p : object("Workload", p["metadata"]["name"].get<std::string>() + "-option-" + option);
  }
  /// Names of all Workloads that the Parent owns.
  [[nodiscard]] Lines options(const std::string& job) const {
    Lines out;
    const Json& p = parent(job);
    if (p.is_null()) return out;
    for (const auto& w : all("Workload"))
      for (const auto& owner : w["metadata"].value("ownerReferences", Json::array()))
        if (owner["uid"] == p["metadata"]["uid"]) out.push_back(plain(w["metadata"]["name"]));
    return out;
  }

  /// "True/QuotaReserved: message" of a condition; empty: it is not there.
  [[nodiscard]] std::string condition(const Json& object, const std::string& type) const {
    if (object.is_null()) return "no such object";
    for (const auto& c : object.value("status", Json::object()).value("conditions", Json::array()))
      if (c["type"] == type)
        return c["status"].get<std::string>() + "/" + c["reason"].get<std::string>() + ": " + plain(c["message"].get<std::string>());
    return "";
  }
  /// "True/QuotaReserved"
  [[nodiscard]] std::string verdict(const Json& object, const std::string& type) const {
    const std::string all = condition(object, type);
    return all.substr(0, all.find(':'));
  }

  /// "P/R/A": status.options by rank; P pending, R pending with quota, A admitted, D deactivated, F finished.
  [[nodiscard]] std::string row(const std::string& job) const {
    std::string out;
    const Json& p = parent(job);
    if (p.is_null()) return "no such Parent";
    for (const auto& o : p.value("status", Json::object()).value("options", Json::array())) {
      std::string letter = o["state"].get<std::string>().substr(0, 1);
      if (letter == "P" && verdict(object("Workload", o["name"]), "QuotaReserved").substr(0, 4) == "True") letter = "R";
      out += (out.empty() ? "" : "/") + letter;
    }
    return out;
  }
  /// Why an Option is in its state, as the Parent tells it.
  [[nodiscard]] std::string why(const std::string& job, const std::string& option) const {
    const Json& p = parent(job);
    for (const auto& o : p.value("status", Json::object()).value("options", Json::array()))
      if (o["name"] == p["metadata"]["name"].get<std::string>() + "-option-" + option) return plain(o.value("message", ""));
    return "not listed";
  }
  /// "od 4, spot 4": what is reserved of each flavor of a queue; empty: nothing.
  [[nodiscard]] std::string usage(const std::string& queue = "cq") const {
    std::string out;
    for (const auto& [flavor, amount] : reserved(queue))
      if (amount != 0) out += (out.empty() ? "" : ", ") + flavor + " " + std::to_string(amount);
    return out;
  }
  [[nodiscard]] Quotas reserved(const std::string& queue) const {
    Quotas out;
    const Json& q = object("ClusterQueue", queue);
    for (const auto& f : q.value("status", Json::object()).value("flavorsReservation", Json::array())) {
      out.emplace_back(f["name"], 0);
      for (const auto& r : f["resources"]) out.back().second += std::stoi(r.value("total", "0"));
    }
    return out;
  }
  /// What the Workloads hold whose admission names the queue; a Parent holds nothing of its own.
  [[nodiscard]] std::map<std::string, int> held(const std::string& queue) const {
    std::map<std::string, int> out;
    for (const auto& w : all("Workload")) {
      const Json& status = w.value("status", Json::object());
      if (verdict(w, "QuotaReserved").substr(0, 4) != "True" || verdict(w, "Finished").substr(0, 4) == "True") continue;
      if (status["admission"]["clusterQueue"] != queue) continue;
      if (w["metadata"].value("labels", Json::object()).contains("kueue.x-k8s.io/concurrent-admission-parent")) continue;
      for (const auto& set : status["admission"]["podSetAssignments"])
        for (const auto& [resource, amount] : set["resourceUsage"].items())
          out[set["flavors"][resource].get<std::string>()] += std::stoi(amount.get<std::string>());
    }
    return out;
  }
  /// "pending 1, reserving 0, admitted 1"
  [[nodiscard]] std::string counters(const std::string& queue = "cq", const std::string& kind = "ClusterQueue") const {
    const Json status = object(kind, queue).value("status", Json::object());
    return "pending " + std::to_string(status.value("pendingWorkloads", 0)) + ", reserving " +
           std::to_string(status.value("reservingWorkloads", 0)) + ", admitted " + std::to_string(status.value("admittedWorkloads", 0));
  }
  /// "Preempted 1", "VariantEvicted/FlavorMigration 2": what a Workload says of its evictions.
  [[nodiscard]] Lines evictions(const Json& workload) const {
    Lines out;
    for (const auto& e :
         workload.value("status", Json::object()).value("schedulingStats", Json::object()).value("evictions", Json::array())) {
      const std::string cause = e.value("underlyingCause", "");
      out.push_back(e["reason"].get<std::string>() + (cause.empty() ? "" : "/" + cause) + " " + std::to_string(e["count"].get<int>()));
    }
    return out;
  }
  /// "cap Pending, slow Ready": the checks of a Workload in their order.
  [[nodiscard]] std::string checks(const Json& workload) const {
    std::string out;
    for (const auto& c : workload.value("status", Json::object()).value("admissionChecks", Json::array()))
      out += (out.empty() ? "" : ", ") + c["name"].get<std::string>() + " " + c["state"].get<std::string>();
    return out;
  }
  [[nodiscard]] bool active(const Json& workload) const { return workload["spec"].value("active", true); }
  [[nodiscard]] bool suspended(const std::string& job) const { return object("Job", job)["spec"]["suspend"].get<bool>(); }
  /// "Open", "Closed" (also if only the spec names the gate), or empty: it has no such gate.
  [[nodiscard]] std::string gate(const Json& option) const {
    constexpr const char* name = "kueue.x-k8s.io/concurrent-admission";
    for (const auto& g : option.value("status", Json::object()).value("preemptionGates", Json::array()))
      if (g["name"] == name) return g["position"];
    for (const auto& g : option["spec"].value("preemptionGates", Json::array()))
      if (g["name"] == name) return "Closed";
    return "";
  }

  /// With names and uids of Workloads replaced by plain names.
  [[nodiscard]] std::string plain(std::string text) const {
    const auto replace = [&text](const std::string& from, const std::string& to) {
      for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    };
    for (const auto& w : all("Workload")) replace(w["metadata"]["uid"], w["metadata"]["name"]);
    for (const auto& w : all("Workload"))
      for (const auto& owner : w["metadata"].value("ownerReferences", Json::array()))
        if (owner["kind"] == "Job") replace(w["metadata"]["name"], owner["name"]);
    return text;
  }

 private:
  std::map<std::string, std::vector<Json>> objects_;
};

/// Of each family: are two siblings admitted, or does its Parent hold what an Option holds? Empty: no.
inline std::string family_conflict(const admission::StateView& state) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    std::map<std::string, int> admitted;
    for (const auto& w : parent->workloads())
      if (w.is_made_as_option() && w.reserved() && w.admitted() && !w.finished() && ++admitted[std::string(w.option_of())] > 1)
        return "a second Option is admitted: " + std::string(w.name);
  }
  return "";
}

/// "od 4, spot 4": what the quota of a queue is charged, with what is kept for families that move (CA-59).
inline std::string charged(const admission::StateView& state, const std::string& queue) {
  std::string out;
  const auto& catalog = *state.domain().catalog();
  const Symbol name(queue);
  const auto* config = catalog.queue(name);
  const auto* tree = config == nullptr ? nullptr : state.tree(catalog.root_of(name));
  if (tree == nullptr || tree->quota() == nullptr) return out;
  for (const auto& g : config->groups)
    for (const auto& f : g.flavors) {
      std::int64_t amount = 0;
      for (const Symbol& r : g.resources) amount += tree->quota()->usage(name, f.flavor, r) / (r.text() == "cpu" ? 1000 : 1);
      if (amount != 0) out += (out.empty() ? "" : ", ") + std::string(f.flavor.text()) + " " + std::to_string(amount);
    }
  return out;
}

/// What a log folds to.
inline std::uint64_t folded_hash(const events::Log& log) {
  admission::LoopDriver driver(&events::read_settings);
  each_record(log, [&](const RecordView& record) {
    if (const auto applied = driver.apply(record); !applied) throw std::runtime_error(applied.error().message);
  });
  return driver.state_hash();
}

struct Told {
  double at = 0;     ///< Seconds since the start.
  std::string text;  ///< "Workload j-option-od ActivatedVariant: …"; a warning with a leading "!".
};

struct Played {
  ScenarioResult result;
  std::vector<std::pair<int, Moment>> moments;  ///< After each step.
  std::vector<Told> events;
  std::map<std::string, std::vector<Told>> charges;  ///< What each queue is charged (see `charged`), each time that it changed.
  Lines conflicts;
  std::shared_ptr<events::MemoryLog> log = std::make_shared<events::MemoryLog>();

  /// After the (last) step at that second.
  [[nodiscard]] const Moment& at(int second) const {
    const auto it = std::find_if(moments.rbegin(), moments.rend(), [&](const auto& m) { return m.first == second; });
    if (it == moments.rend()) throw std::runtime_error("no step at " + std::to_string(second));
    return it->second;
  }
  [[nodiscard]] const Moment& end() const { return moments.back().second; }
  /// Each state of the charges of a queue within these seconds.
  [[nodiscard]] Lines charged_between(double from, double to, const std::string& queue = "cq") const {
    Lines out;
    const auto it = charges.find(queue);
    if (it == charges.end()) return out;
    for (const auto& c : it->second)
      if (c.at >= from && c.at <= to) out.push_back(c.text);
    return out;
  }
  /// Events whose text has this part, from one second to another, both included.
  [[nodiscard]] Lines told(const std::string& part, double from = 0, double to = 1e9) const {
    Lines out;
    for (const auto& e : events)
      if (e.at >= from && e.at < to + 1 && e.text.find(part) != std::string::npos) out.push_back(e.text);
    return out;
  }
  [[nodiscard]] std::size_t count(const std::string& part, double from = 0, double to = 1e9) const { return told(part, from, to).size(); }
};

/// Calls `f` with each event that was decided from a second on, and its second.
template <class F>
void each_decided(const Played& p, F&& f, double from = 0) {
  each_record(*p.log, [&](const RecordView& record) {
    const double at = static_cast<double>((record.envelope.time - connectors::simulated::virtual_start).micros) / 1'000'000;
    const auto* d = std::get_if<Decisions>(&record.body);
    if (d == nullptr || at < from) return;
    for (const Event& e : d->events) f(e, at);
  });
}
/// How many events of a type were decided.
template <class E>
std::size_t decided(const Played& p, double from = 0, double to = 1e9) {
  std::size_t out = 0;
  each_decided(
      p, [&](const Event& e, double at) { out += std::holds_alternative<E>(e) && at < to + 1 ? 1 : 0; }, from);
  return out;
}
/// Names of those that a cycle looked at, in their order, from a second on; each once.
inline Lines looked_at(const Played& p, double from) {
  Lines out;
  const auto note = [&](Text name) {
    const std::string plain = p.end().plain(std::string(name));
    if (std::find(out.begin(), out.end(), plain) == out.end()) out.push_back(plain);
  };
  each_decided(
      p,
      [&](const Event& e, double) {
        if (const auto* r = std::get_if<EntryRequeued>(&e)) note(r->workload.name);
        if (const auto* r = std::get_if<QuotaReserved>(&e)) note(r->workload.name);
      },
      from);
  return out;
}
/// The metrics of a process that saw the whole story.
inline std::string metrics_of(const Played& p) {
  admission::LoopDriver driver(&events::read_settings);
  projections::Metrics metrics({});
  each_record(*p.log, [&](const RecordView& record) {
    if (const auto applied = driver.apply(record); !applied) throw std::runtime_error(applied.error().message);
    metrics.record(record, driver);
  });
  return metrics.text(driver);
}
/// Lines of metrics that have each of these parts.
inline Lines lines_with(const std::string& metrics, const Lines& parts) {
  Lines out;
  for (std::size_t at = 0; at < metrics.size();) {
    const auto end = std::min(metrics.find('\n', at), metrics.size());
    const std::string line = metrics.substr(at, end - at);
    at = end + 1;
    if (std::all_of(parts.begin(), parts.end(), [&](const std::string& part) { return line.find(part) != std::string::npos; }))
      out.push_back(line);
  }
  return out;
}

/// Nothing went wrong: no two siblings were admitted in any record, at each step usage equals what is held, no rule went in circles, and
/// the log folds to the state that the story ended with.
inline void expect_sound(const Played& p) {
  EXPECT_EQ(p.conflicts, Lines{});
  EXPECT_EQ(p.result.refused, Lines{});
  EXPECT_EQ(p.result.notices, Lines{});
  EXPECT_EQ(p.result.repeated_steps, 0U);
  EXPECT_EQ(folded_hash(*p.log), p.result.state_hash) << "the fold of the log";
  const auto verified = replay::verify(*p.log, "default");
  ASSERT_TRUE(verified.has_value()) << verified.error().message;
  EXPECT_TRUE(verified->clean()) << "decided again, by who asks only where something was decided: "
                                 << (verified->mismatches.empty() ? std::string("no mismatch")
                                                                  : "record " + std::to_string(verified->mismatches[0].offset) + ": " +
                                                                        verified->mismatches[0].difference.computed);
  for (const auto& [second, moment] : p.moments)
    for (const auto& q : moment.all("ClusterQueue")) {
      const std::string name = q["metadata"]["name"];
      std::map<std::string, int> used, held;
      const auto of_workloads = moment.held(name);
      for (const auto& [flavor, amount] : moment.reserved(name)) {  // those of the queue: one that was removed is shown no more
        if (amount != 0) used[flavor] = amount;
        if (const auto it = of_workloads.find(flavor); it != of_workloads.end()) held.insert(*it);
      }
      EXPECT_EQ(used, held) << "usage of " << name << " equals what is held, at " << second;
    }
}

/// A LocalQueue "lq" on a ClusterQueue "cq", whose flavors are those of `quotas` (none: the queue is made later); each job has one pod set.
class Story {
 public:
  /// `more`: further fields of the ClusterQueue's spec.
  explicit Story(const std::string& policy, const Quotas& quotas, const std::string& more = "") {
    for (const auto& [name, amount] : quotas) flavor(name);
    if (!quotas.empty()) queue("cq", policy, {group(quotas)}, more);
    local_queue("lq", "cq");
    priority_class("low", -10).priority_class("high", 1000);
  }

  Story& at(int second) {
    steps_.emplace_back().at = second;
    return *this;
  }
  /// Jobs and Workloads that follow wait in this LocalQueue.
  Story& in(const std::string& local_queue) {
    local_queue_ = local_queue;
    return *this;
  }
  Story& flavor(const std::string& name) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + name +
                 "}, spec: {nodeLabels: {flavor: " + name + "}}}");
  }
  Story& queue(const std::string& name, const std::string& policy, const Lines& groups, const std::string& more = "") {
    std::string list;
    for (const auto& g : groups) list += (list.empty() ? "" : ", ") + g;
    if (std::find(queues_.begin(), queues_.end(), name) == queues_.end()) queues_.push_back(name);
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name + "}, spec: {namespaceSelector: {}" +
                 (policy.empty() ? "" : ", " + policy) + (more.empty() ? "" : ", " + more) + ", resourceGroups: [" + list + "]}}");
  }
  Story& local_queue(const std::string& name, const std::string& queue) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
                 ", namespace: default}, spec: {clusterQueue: " + queue + "}}");
  }
  Story& priority_class(const std::string& name, int value) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: " + name +
                 "}, value: " + std::to_string(value) + "}");
  }
  /// `requests`: pairs of resource and amount in flow style; a mere number is cpu. `pod`: further fields of the pod's spec.
  Story& job(const std::string& name, const std::string& requests = "4", const std::string& labels = "", const std::string& pod = "") {
    const std::string asks = requests.find(':') == std::string::npos ? "cpu: '" + requests + "'" : requests;
    return apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                 ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + local_queue_ + (labels.empty() ? "" : ", " + labels) +
                 "}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {" + (pod.empty() ? "" : pod + ", ") +
                 "restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {" + asks + "}, limits: {" + asks +
                 "}}}]}}}}");
  }
  /// A job whose pod only goes to nodes of this flavor.
  Story& pinned(const std::string& name, const std::string& flavor, const std::string& cpu, const std::string& labels = "") {
    return job(name, cpu, labels, "nodeSelector: {flavor: " + flavor + "}");
  }
  /// A Workload that no job owns. `metadata` and `spec`: further fields in flow style.
  Story& bare(const std::string& name, int count = 1, const std::string& cpu = "4", const std::string& spec = "",
              const std::string& metadata = "") {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + name + ", namespace: default" +
                 (metadata.empty() ? "" : ", " + metadata) + "}, spec: {queueName: " + local_queue_ + (spec.empty() ? "" : ", " + spec) +
                 ", podSets: [{name: main, count: " + std::to_string(count) +
                 ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu +
                 "'}}}]}}}]}}");
  }
  Story& apply(const std::string& manifest) {
    steps_.back().apply.push_back(manifest);
    return *this;
  }
  Story& patch(const std::string& kind, const std::string& name, const std::string& merge, bool status = false) {
    steps_.back().patch.push_back("{kind: " + kind + ", namespace: default, name: " + name + (status ? ", subresource: status" : "") +
                                  ", merge: " + merge + "}");
    return *this;
  }
  Story& quota(const Quotas& quotas, const std::string& queue = "cq") {
    return patch("ClusterQueue", queue, "{spec: {resourceGroups: [" + group(quotas) + "]}}");
  }
  Story& policy(const std::string& policy, const std::string& queue = "cq") {
    return patch("ClusterQueue", queue, "{spec: {" + policy + "}}");
  }
  /// The pod of a started job runs and is ready.
  Story& runs(const std::string& job) {
    return patch("Job", job, "{status: {startTime: '2026-01-01T00:00:00Z', active: 1, ready: 1, conditions: null}}", true);
  }
  /// The job has stopped: the moment "Stop" of the examples.
  Story& stops(const std::string& job) {
    return patch(
        "Job", job,
        "{status: {startTime: null, active: 0, ready: 0, conditions: [{type: Suspended, status: 'True', reason: JobSuspended, message: "
        "Job suspended, lastProbeTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
        true);
  }
  Story& finish(const std::string& job, bool failed = false) {
    steps_.back().finish.push_back("{kind: Job, namespace: default, name: " + job + ", failed: " + (failed ? "true" : "false") + "}");
    return *this;
  }
  Story& remove(const std::string& kind, const std::string& name) {
    steps_.back().remove.push_back("{kind: " + kind + ", namespace: default, name: " + name + "}");
    return *this;
  }
  /// An AdmissionCheck whose controller is active.
  Story& check(const std::string& name) {
    return apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: " + name +
                 "}, spec: {controllerName: example.com/c}}")
        .patch("AdmissionCheck", name,
               "{status: {conditions: [{type: Active, status: 'True', reason: Active, message: ok, lastTransitionTime: "
               "'2026-01-01T00:00:00Z'}]}}",
               true);
  }
  /// State of a check of an Option.
  Story& checked(const std::string& job, const std::string& option, const std::string& check, const std::string& state,
                 const std::string& more = "") {
    return patch("Workload", name_of(job) + "-option-" + option,
                 "{status: {admissionChecks: [{name: " + check + ", state: " + state + ", message: m, lastTransitionTime: '" +
                     format_rfc3339(connectors::simulated::virtual_start + Duration::seconds(steps_.back().at)) + "'" +
                     (more.empty() ? "" : ", " + more) + "}]}}",
                 true);
  }
  /// A patch of a Parent, or of one of its Options.
  Story& patch_parent(const std::string& job, const std::string& merge, bool status = false) {
    return patch("Workload", name_of(job), merge, status);
  }
  Story& patch_option(const std::string& job, const std::string& option, const std::string& merge, bool status = false) {
    return patch("Workload", name_of(job) + "-option-" + option, merge, status);
  }
  Story& configure(const std::string& json) {
    configuration_ = json;
    return *this;
  }
  /// Of the Workload of a job, in the cluster. The story is played so far to learn it.
  [[nodiscard]] std::string name_of(const std::string& job) {
    auto& name = names_[job];
    if (name.empty()) {
      const Played p = play();
      const Json& parent = p.end().parent(job);
      if (parent.is_null()) throw std::runtime_error("no Workload of " + job);
      name = parent["metadata"]["name"];
    }
    return name;
  }
  /// Who looks on from the start.
  std::function<void(connectors::simulated::SimulatedCluster&)> on_start;

  [[nodiscard]] std::string text() const {
    std::string out =
        "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  config: " + configuration_ + "\n  steps:\n";
    for (const Step& s : steps_) {
      out += "  - at: " + std::to_string(s.at) + "s\n";
      for (const auto& [verb, items] : {std::pair{"apply", &s.apply}, {"patch", &s.patch}, {"finish", &s.finish}, {"delete", &s.remove}}) {
        if (!items->empty()) out += std::string("    ") + verb + ":\n";
        for (const auto& item : *items) out += "    - " + item + "\n";
      }
    }
    return out;
  }
  [[nodiscard]] connectors::manifests::Scenario scenario() const {
    auto input = connectors::manifests::read_text(text(), "story.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    return std::move(input->scenarios.front());
  }
  [[nodiscard]] const std::string& configuration() const { return configuration_; }

  [[nodiscard]] Played play() const {
    Played out;
    ScenarioOptions options;
    options.webhooks = true;
    options.log = out.log.get();
    const connectors::simulated::SimulatedCluster* cluster = nullptr;
    options.on_start = [&cluster, this](connectors::simulated::SimulatedCluster& c) {
      cluster = &c;
      if (on_start) on_start(c);
    };
    options.on_step = [&](std::size_t step, std::size_t) { out.moments.emplace_back(steps_[step - 1].at, Moment(*cluster)); };
    std::vector<Told> events;
    options.on_record = [&](const RecordView& record, const Engine& engine) {
      const double at = static_cast<double>((record.envelope.time - connectors::simulated::virtual_start).micros) / 1'000'000;
      for (const auto& e : connectors::record_events(record, engine.driver()))
        events.push_back({at, (e.is_warning ? "!" : "") + std::string(e.type->kind) + " " + e.name + " " + e.reason + ": " + e.message});
      for (const auto& name : queues_) {
        auto& charges = out.charges[name];
        if (auto now = charged(engine.driver(), name); charges.empty() || charges.back().text != now)
          charges.push_back({at, std::move(now)});
      }
      if (auto conflict = family_conflict(engine.driver()); !conflict.empty()) out.conflicts.push_back(std::move(conflict));
    };
    auto result = run_scenario(scenario(), options);
    if (!result) throw std::runtime_error(result.error().message);
    out.result = std::move(*result);
    for (auto& e : events) {
      for (auto m = out.moments.rbegin(); m != out.moments.rend(); ++m) e.text = m->second.plain(std::move(e.text));
      out.events.push_back(std::move(e));
    }
    return out;
  }

 private:
  struct Step {
    int at = 0;
    Lines apply, patch, finish, remove;
  };
  std::vector<Step> steps_{1};
  Lines queues_;
  std::string local_queue_ = "lq";
  std::map<std::string, std::string> names_;
  std::string configuration_ = R"({"featureGates": {"ConcurrentAdmission": true}})";
};

/// E1 up to the admission on od.
inline Story first_migration(const std::string& policy) {
  Story s(policy, {{"res", 0}, {"od", 0}, {"spot", 8}});
  s.job("j").at(1).runs("j").at(3600).quota({{"res", 0}, {"od", 4}, {"spot", 8}}).at(3605).stops("j").at(3606).runs("j");
  return s;
}

}  // namespace hindsight::simulation

// Families of concurrent admission (8691) as people see them: one job, whose Parent tells what becomes of it, and its Options beside it.

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/describe.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "projections/objects.hpp"
#include "projections/pending_workloads.hpp"
#include "projections/tables.hpp"
#include "projections/text_tree.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;
using Quotas = std::vector<std::pair<std::string, int>>;

std::string group(const Quotas& quotas) {
  std::string out = "[{coveredResources: [cpu], flavors: [";
  for (const auto& [flavor, cpu] : quotas)
    out += (out.back() == '[' ? "" : ", ") + std::string("{name: ") + flavor +
           ", resources: [{name: cpu, nominalQuota: " + std::to_string(cpu) + "}]}";
  return out + "]}]";
}

/// Steps of a scenario.
class Steps {
 public:
  explicit Steps(const Quotas& quotas, const std::string& policy = "{onSuccess: RemoveLower}", const std::string& more = "") {
    at(0);
    for (const auto& [flavor, cpu] : quotas)
      apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + flavor +
            "}, spec: {nodeLabels: {flavor: " + flavor + "}}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, " +
          (policy.empty() ? "" : "concurrentAdmission: " + policy + ", ") + more + "resourceGroups: " + group(quotas) + "}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}");
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: low}, value: -10}");
  }
  Steps& at(int second) {
    text_ += "  - at: " + std::to_string(second) + "s\n";
    verb_.clear();
    return *this;
  }
  Steps& apply(const std::string& manifest) { return put("apply", manifest); }
  Steps& job(const std::string& name, const std::string& cpu = "4", const std::string& labels = "", const std::string& pod = "") {
    return apply("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                 ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq" + labels +
                 "}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {" + pod +
                 "restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}");
  }
  Steps& quota(const Quotas& quotas) { return groups(group(quotas)); }
  Steps& groups(const std::string& groups) {
    return put("patch", "{kind: ClusterQueue, name: cq, merge: {spec: {resourceGroups: " + groups + "}}}");
  }
  Steps& runs(const std::string& job, bool runs = true) {
    const std::string status = runs ? "startTime: '2026-01-01T00:00:00Z', active: 1, ready: 1, conditions: null"
                                    : "startTime: null, active: 0, ready: 0, conditions: [{type: Suspended, status: 'True', reason: "
                                      "JobSuspended, message: m, lastProbeTime: '2026-01-01T00:00:00Z', lastTransitionTime: "
                                      "'2026-01-01T00:00:00Z'}]";
    return put("patch", "{kind: Job, namespace: default, name: " + job + ", subresource: status, merge: {status: {" + status + "}}}");
  }
  Steps& finish(const std::string& job) { return put("finish", "{kind: Job, namespace: default, name: " + job + ", failed: false}"); }
  Steps& check(const std::string& name) {
    apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: " + name +
          "}, spec: {controllerName: example.com/c}}");
    return put("patch", "{kind: AdmissionCheck, name: " + name +
                            ", subresource: status, merge: {status: {conditions: [{type: Active, status: 'True', reason: Active, message: "
                            "ok, lastTransitionTime: '2026-01-01T00:00:00Z'}]}}}");
  }
  Steps& checked(const std::string& workload, const std::string& check, const std::string& state) {
    return put("patch", "{kind: Workload, namespace: default, name: " + workload +
                            ", subresource: status, merge: {status: {admissionChecks: [{name: " + check + ", state: " + state +
                            ", message: m, lastTransitionTime: '2026-01-01T00:00:10Z'}]}}}");
  }
  [[nodiscard]] std::string text() const {
    return "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  config: {featureGates: "
           "{ConcurrentAdmission: "
           "true}}\n  steps:\n" +
           text_;
  }

 private:
  Steps& put(const std::string& verb, const std::string& item) {
    if (verb != verb_) text_ += "    " + verb + ":\n";
    verb_ = verb;
    text_ += "    - " + item + "\n";
    return *this;
  }
  std::string text_, verb_;
};

/// E1: on spot at once, on od from 3605 s, on res from 7203 s, done at 9000 s.
std::string first_story() {
  return Steps({{"res", 0}, {"od", 0}, {"spot", 8}})
      .job("j")
      .at(10)
      .runs("j")
      .at(3600)
      .quota({{"res", 0}, {"od", 4}, {"spot", 8}})
      .at(3605)
      .runs("j", false)
      .at(3610)
      .runs("j")
      .at(7200)
      .quota({{"res", 4}, {"od", 4}, {"spot", 8}})
      .at(7203)
      .runs("j", false)
      .at(7210)
      .runs("j")
      .at(9000)
      .finish("j")
      .text();
}

class Story {
 public:
  explicit Story(const std::string& scenario) : played(scenario) {}

  /// Of the Workload of a job: "job-j-1a2b3".
  std::string name_of(const std::string& job) {
    return find_workload(played.state(played.end()), parse_target("job/" + job, "default").value()).value().workload->name.text();
  }
  /// With the name of the Parent of job j as "J".
  std::string plain(std::string text) {
    if (name_.empty()) name_ = name_of("j");
    for (auto at = text.find(name_); at != std::string::npos; at = text.find(name_, at + 1)) text.replace(at, name_.size(), "J");
    return text;
  }
  Json describe(int second, const std::string& target = "job/j") {
    const auto& state = played.state(played.at(second));
    return describe_workload(state, find_workload(state, parse_target(target, "default").value()).value());
  }
  /// "0 J-option-res res Pending/ExceedsMaxQuota" for each Option.
  Lines lanes(int second) {
    Lines out;
    const Json described = describe(second);
    for (const auto& o : described["options"])
      out.push_back(plain(o["rank"].get<std::string>() + " " + o["name"].get<std::string>() + " " + o["flavors"].get<std::string>() + " " +
                          o["state"].get<std::string>()));
    return out;
  }
  Why why(int second, const std::string& target = "job/j") { return played.why(target, played.at(second)); }
  Lines pending(int second) {
    Lines out;
    const auto found = pending_in_cluster_queue(played.state(played.at(second)), "cq", {});
    for (const auto& p : *found)
      out.push_back((p.owner ? p.owner->name : p.name) + " " + std::to_string(p.position) + "/" + std::to_string(p.local_position));
    return out;
  }
  /// As they were then, to a process that counts from `since` on.
  std::string metrics(int second, int since = -1) {
    Metrics metrics({});
    const events::Position first = since < 0 ? 0 : played.at(since);
    replay::Past past(played.log, "default");
    past.look_on({}, [&](events::Position p, const RecordView& r) {
      if (p > first) metrics.record(r, past.driver());
    });
    EXPECT_TRUE(past.fold_to(played.at(second)));
    return metrics.text(past.driver());
  }

  Played played;

 private:
  std::string name_;
};

bool has(const Lines& lines, const std::string& line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); }
std::string all_of(const Lines& lines) { return joined(lines, "\n"); }

void expect_line(const std::string& text, const std::string& line) {
  EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << "missing: " << line << "\nin:\n" << text;
}
void expect_no(const std::string& text, const std::string& part) { EXPECT_EQ(text.find(part), std::string::npos) << text; }

// ---- metrics ------------------------------------------------------------------------------------------------------------------------

// CA-103, CA-104, CA-141
TEST(FamilyStory, MetricsCountOneJobThatMovedTwice) {
  Story s(first_story());
  const auto t = s.metrics(9'010);
  const auto one = [&](const std::string& name, int n) {
    expect_line(t, "kueue_" + name + R"({cluster_queue="cq",priority_class="",replica_role="standalone"} )" + std::to_string(n));
    expect_line(t, "kueue_local_queue_" + name + R"({name="lq",namespace="default",priority_class="",replica_role="standalone"} )" +
                       std::to_string(n));
  };
  one("quota_reserved_workloads_total", 1);
  one("admitted_workloads_total", 1);
  one("admission_wait_time_seconds_count", 1);
  one("quota_reserved_wait_time_seconds_count", 1);
  one("ready_wait_time_seconds_count", 1);
  one("ready_wait_time_seconds_sum", 10);
  one("admitted_until_ready_wait_time_seconds_count", 3);
  one("finished_workloads_total", 1);
  one("execution_time_seconds_count", 1);
  for (const char* name : {"evicted_workloads_total", "evicted_workloads_once_total"})
    expect_line(t, std::string("kueue_") + name +
                       R"({cluster_queue="cq",priority_class="",reason="FlavorMigration",replica_role="standalone",underlying_cause=""} )" +
                       (std::string_view(name) == "evicted_workloads_total" ? "2" : "1"));
  expect_no(t, "VariantEvicted");
  expect_no(t, "kueue_preempted_workloads_total");
  expect_line(t,
              R"(kueue_workload_eviction_latency_seconds_count{cluster_queue="cq",reason="FlavorMigration",replica_role="standalone"} 2)");
  for (const char* way :
       {R"(from_flavor="spot",replica_role="standalone",to_flavor="od")", R"(from_flavor="od",replica_role="standalone",to_flavor="res")"})
    expect_line(t, std::string(R"(kueue_concurrent_admission_migrations_total{cluster_queue="cq",)") + way + "} 1");
  expect_line(t, R"(kueue_concurrent_admission_options{cluster_queue="cq",replica_role="standalone",state="Finished"} 3)");
  expect_line(t, R"(kueue_concurrent_admission_options{cluster_queue="cq",replica_role="standalone",state="Pending"} 0)");
  expect_line(t, R"(kueue_finished_workloads{cluster_queue="cq",replica_role="standalone"} 1)");
  expect_no(t, "kueue_concurrent_admission_preemption_right_grants_total");
}

// CA-104: a process that begins in the middle of a migration knows it for one
TEST(FamilyStory, AMigrationIsNoAdmissionToWhoSeesItsEndOnly) {
  Story s(first_story());
  const auto t = s.metrics(4'000, 3'602);
  expect_line(
      t,
      R"(kueue_concurrent_admission_migrations_total{cluster_queue="cq",from_flavor="spot",replica_role="standalone",to_flavor="od"} 1)");
  expect_no(t, "kueue_admitted_workloads_total");
  expect_no(t, "kueue_quota_reserved_workloads_total");
}

// CA-103: a family waits once, whatever it has of Options
TEST(FamilyStory, GaugesCountAFamilyOnce) {
  Story s(Steps({{"res", 1}, {"od", 0}, {"spot", 0}}).job("first", "1").at(1).job("j").text());
  const auto t = s.metrics(10);
  expect_line(t, R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="inadmissible"} 1)");
  expect_line(t, R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="active"} 0)");
  expect_line(t, R"(kueue_local_queue_pending_workloads{name="lq",namespace="default",replica_role="standalone",status="inadmissible"} 1)");
  expect_line(t, R"(kueue_admitted_active_workloads{cluster_queue="cq",replica_role="standalone"} 1)");
  expect_line(t, R"(kueue_reserving_active_workloads{cluster_queue="cq",replica_role="standalone"} 1)");
  expect_line(
      t,
      R"(kueue_unadmitted_workloads{cluster_queue="cq",reason="NoReservation",replica_role="standalone",underlying_cause="ExceedsMaxQuota"} 1)");
  expect_line(t, R"(kueue_concurrent_admission_options{cluster_queue="cq",replica_role="standalone",state="Admitted"} 1)");
  expect_line(t, R"(kueue_concurrent_admission_options{cluster_queue="cq",replica_role="standalone",state="Deactivated"} 2)");
  expect_line(t, R"(kueue_concurrent_admission_options{cluster_queue="cq",replica_role="standalone",state="Pending"} 3)");
}

// CA-141: nothing of it without families
TEST(FamilyStory, WithoutFamiliesThereAreNoSuchMetrics) {
  Story s(Steps({{"res", 4}}, "").job("j").text());
  expect_no(s.metrics(10), "concurrent_admission");
}

/// E9: each of two flavors is filled by somebody of low priority; a family has to preempt.
std::string preempting_story() {
  return Steps({{"res", 1}, {"spot", 1}}, "{onSuccess: RemoveOther}", "preemption: {withinClusterQueue: LowerPriority}, ")
      .job("a", "1", ", kueue.x-k8s.io/priority-class: low", "nodeSelector: {flavor: res}, ")
      .job("b", "1", ", kueue.x-k8s.io/priority-class: low", "nodeSelector: {flavor: spot}, ")
      .at(5)
      .runs("a")
      .runs("b")
      .at(10)
      .job("j", "1")
      .at(20)
      .runs("a", false)
      .at(30)
      .text();
}

// CA-65, CA-70, CA-103: the family that was preempted counts, not its Option, and the right counts when it is given
TEST(FamilyStory, PreemptionsCountFamilies) {
  Story s(preempting_story());
  const auto t = s.metrics(21);
  expect_line(t, R"(kueue_preempted_workloads_total{preempting_cluster_queue="cq",reason="InClusterQueue",replica_role="standalone"} 1)");
  expect_line(
      t,
      R"(kueue_evicted_workloads_total{cluster_queue="cq",priority_class="low",reason="Preempted",replica_role="standalone",underlying_cause=""} 1)");
  expect_line(t, R"(kueue_concurrent_admission_preemption_right_grants_total{cluster_queue="cq",replica_role="standalone"} 1)");
  expect_no(t, "kueue_concurrent_admission_migrations_total");
}

// ---- descriptions -------------------------------------------------------------------------------------------------------------------

// CA-100, CA-101, CA-102
TEST(FamilyStory, AParentIsDescribedWithItsOptionsByRank) {
  Story s(first_story());
  EXPECT_EQ(s.lanes(100), (Lines{"0 J-option-res res Pending/ExceedsMaxQuota", "1 J-option-od od Pending/ExceedsMaxQuota",
                                 "2 J-option-spot spot Admitted"}));
  auto d = s.describe(100);
  EXPECT_EQ(s.plain(d["family"]["runsOn"]), "J-option-spot (flavor spot)");
  EXPECT_EQ(d["family"]["firstAdmitted"], "2026-01-01T00:00:00Z");
  EXPECT_FALSE(d["family"].contains("migration"));

  EXPECT_EQ(s.lanes(3602), (Lines{"0 J-option-res res Pending/ExceedsMaxQuota", "1 J-option-od od Migrating",
                                  "2 J-option-spot spot Evicted/FlavorMigration"}));
  d = s.describe(3602);
  EXPECT_EQ(s.plain(d["family"]["migration"]), "from J-option-spot to J-option-od, as soon as the job has stopped");
  EXPECT_EQ(d["family"]["keptForIt"], "od/cpu 4");

  EXPECT_EQ(s.lanes(4000),
            (Lines{"0 J-option-res res Pending/ExceedsMaxQuota", "1 J-option-od od Admitted", "2 J-option-spot spot Inactive"}));
  d = s.describe(4000);
  EXPECT_FALSE(d["family"].contains("migration"));
  EXPECT_FALSE(d["family"].contains("keptForIt"));
  EXPECT_NE(d["options"][2]["why"].get<std::string>().find("being lower priority than admitted Variant"), std::string::npos);
  EXPECT_NE(render_tree(d).find("Options:\n  RANK"), std::string::npos) << render_tree(d);

  d = s.describe(4000, s.name_of("j") + "-option-od");
  EXPECT_EQ(s.plain(d["optionOf"]), "J");
  EXPECT_EQ(d["allowedFlavors"], "od");
  EXPECT_FALSE(d.contains("options"));
}

// CA-9, CA-28: what time brings about
TEST(FamilyStory, DelaysOfOptionsAreTold) {
  Story s(Steps({{"res", 0}, {"od", 4}},
                "{onSuccess: RemoveLower, explicitOptions: [{name: best, deleteDelaySeconds: 600, allowedResourceFlavors: [res]}, {name: "
                "late, createDelaySeconds: 60, allowedResourceFlavors: [od]}]}")
              .job("j")
              .at(100)
              .runs("j")
              .at(1000)
              .text());
  auto d = s.describe(10);
  EXPECT_EQ(d["options"][1]["state"], "Inactive");
  EXPECT_EQ(d["options"][1]["notBefore"], "2026-01-01T00:01:00Z (in 59s)");
  EXPECT_FALSE(d["options"][0].contains("until"));
  EXPECT_TRUE(has(s.why(10).options[1].facts, "it is not tried before 2026-01-01T00:01:00Z: createDelaySeconds")) << to_text(s.why(10));
  d = s.describe(100);
  EXPECT_FALSE(d["options"][1].contains("notBefore"));
  EXPECT_EQ(d["options"][1]["state"], "Admitted");
  EXPECT_EQ(d["options"][0]["until"], "2026-01-01T00:11:00Z (in 9m20s)");
  d = s.describe(1000);
  EXPECT_EQ(d["options"][0]["state"], "Inactive");
  EXPECT_NE(d["options"][0]["why"].get<std::string>().find("deleteDelaySeconds"), std::string::npos);
  EXPECT_EQ(s.why(1000).options[0].headline, "It is not active: DeleteDelay");
}

// CA-73: who may preempt
TEST(FamilyStory, TheRightToPreemptIsTold) {
  Story s(preempting_story());
  const auto d = s.describe(11);
  EXPECT_EQ(s.plain(d["family"]["rightToPreempt"]),
            "J-option-res since 2026-01-01T00:00:10Z, until 2026-01-01T00:05:10Z (in 5m) unless it gets quota");
  const auto why = s.why(11);
  EXPECT_TRUE(has(why.facts, "Option " + s.name_of("j") +
                                 "-option-res has the right of the family to preempt since 2026-01-01T00:00:10Z, until "
                                 "2026-01-01T00:05:10Z unless it gets quota before"))
      << to_text(why);
  EXPECT_EQ(why.options[0].reason, "WaitingForPreemptedWorkloads");
  const auto& gated = why.options[1].preemption;
  ASSERT_FALSE(gated.empty());
  EXPECT_NE(gated.front().find("it would have to preempt default/" + s.name_of("b")), std::string::npos) << all_of(gated);
  EXPECT_NE(gated.front().find("has not got the right"), std::string::npos) << all_of(gated);
  // what one Option preempted is not told of the other
  const std::string other = to_text(why.options[1]);
  EXPECT_EQ(other.find("preempted default/" + s.name_of("a")), std::string::npos) << other;
}

// ---- history ------------------------------------------------------------------------------------------------------------------------

// CA-102, CA-130: the lines of a job name the Option that each of them is about
TEST(FamilyStory, TheHistoryOfAJobHasItsOptions) {
  Story s(first_story());
  Lines lines;
  for (const auto& line : s.played.story("job/j")) lines.push_back(s.plain(line));
  for (const char* line : {
           "decided Workload default/J: becomes a Parent: its Options are queued in its place",
           "observed Workload default/J-option-od: created in LocalQueue lq of ClusterQueue cq, priority 0: main x1 (cpu 4 each), as an "
           "Option of default/J for flavor od",
           "decided Workload default/J: admitted by its Option default/J-option-spot",
           "decided Workload default/J-option-od: goes before default/J-option-spot in cq, kept for it: main x1 od/cpu 4",
           "decided Workload default/J: evicted: VariantEvicted, Admitted variant was evicted",
           "decided Workload default/J: admitted by its Option default/J-option-res",
           "decided Workload default/J-option-spot: finished: Succeeded",
       })
    EXPECT_TRUE(has(lines, line)) << "missing: " << line << "\nin:\n" << all_of(lines);
  // the same by the name of the Parent; an Option has its own, and what names it
  Lines of_parent, of_option;
  for (const auto& line : s.played.story(s.name_of("j"))) of_parent.push_back(s.plain(line));
  EXPECT_EQ(of_parent, lines);
  for (const auto& line : s.played.story(s.name_of("j") + "-option-res")) of_option.push_back(s.plain(line));
  EXPECT_TRUE(has(of_option, "decided Workload default/J: admitted by its Option default/J-option-res")) << all_of(of_option);
  EXPECT_FALSE(has(of_option, "decided Workload default/J: admitted by its Option default/J-option-spot")) << all_of(of_option);
}

// ---- why ----------------------------------------------------------------------------------------------------------------------------

// CA-106
TEST(FamilyStory, AWaitingFamilySaysWhatEachOptionWaitsFor) {
  Story s(Steps({{"res", 4}, {"spot", 2}}).job("other").at(1).job("j").at(10).text());
  const auto why = s.why(10);
  EXPECT_EQ(why.phase, Phase::pending);
  EXPECT_EQ(why.headline, "It waits: none of its 2 Options is admitted");
  EXPECT_EQ(why.reason, "WaitingForQuota");
  ASSERT_EQ(why.options.size(), 2U);
  EXPECT_EQ(why.options[0].headline, "It waits: WaitingForQuota");
  EXPECT_EQ(why.options[1].headline, "It waits: ExceedsMaxQuota");
  // only what it may be assigned, and who has that
  ASSERT_EQ(why.options[0].trials.size(), 1U);
  EXPECT_EQ(why.options[0].trials[0].flavor.text(), "res");
  ASSERT_EQ(why.options[0].users.size(), 1U);
  EXPECT_EQ(why.options[0].users[0].own[0].name, s.name_of("other") + "-option-res");
  ASSERT_FALSE(why.options[1].remedies.empty());
  EXPECT_EQ(remedy_text(why.options[1].remedies.back()),
            "if in ClusterQueue cq the nominalQuota of cpu in flavor spot were 4 instead of 2");
  const auto text = s.plain(to_text(why));
  EXPECT_NE(text.find("Options, the best first:\n  Workload default/J-option-res (Job/j, flavor res): Pending\n"), std::string::npos)
      << text;
  EXPECT_EQ(to_json(why)["options"].size(), 2U);
  // by itself
  const auto own = s.why(10, s.name_of("j") + "-option-spot");
  EXPECT_EQ(s.plain(own.facts.front()), "it is an Option of default/J, number 2 of 2, the best first");
}

// CA-44, CA-47
TEST(FamilyStory, AMigrationIsExplained) {
  Story s(first_story());
  auto why = s.why(3602);
  EXPECT_EQ(s.plain(why.headline), "Its Option J-option-spot was evicted: FlavorMigration");
  Lines facts;
  for (const auto& f : why.facts) facts.push_back(s.plain(f));
  EXPECT_TRUE(has(facts, "no Option of it is admitted until its job has stopped: its pods are still active")) << all_of(facts);
  EXPECT_TRUE(has(facts, "its job moves to Option J-option-od, flavor od, as soon as it has stopped on J-option-spot")) << all_of(facts);
  EXPECT_TRUE(has(facts, "kept for it: od/cpu 4")) << all_of(facts);
  why = s.why(4000);
  EXPECT_EQ(s.plain(why.headline), "It is admitted in ClusterQueue cq by its Option J-option-od, flavor od");
  EXPECT_EQ(why.options[2].headline, "It is not active: Policy");
  EXPECT_EQ(why.options[0].trials[0].verdict, FlavorTrial::Verdict::exceeds_maximum);
}

/// E7: two groups, of which the second has one flavor for both Options. Nothing is free of it beside what j has.
std::string shared_flavor_story(const std::string& checks = "") {
  return Steps({{"res", 0}, {"od", 8}, {"default-cpu", 10}},
               "{onSuccess: RemoveLower, explicitOptions: [{name: reservation, allowedResourceFlavors: [res, default-cpu]}, {name: "
               "on-demand, "
               "allowedResourceFlavors: [od, default-cpu]}]}",
               checks)
      .check("slow")
      .groups(
          "[{coveredResources: [memory], flavors: [{name: res, resources: [{name: memory, nominalQuota: 4}]}, {name: od, resources: "
          "[{name: memory, "
          "nominalQuota: 8}]}]}, {coveredResources: [cpu], flavors: [{name: default-cpu, resources: [{name: cpu, nominalQuota: 10}]}]}]")
      .at(1)
      .job("j", "10', memory: '8")
      .at(10)
      .text();
}

// CA-51: what the running Option has of a flavor that both use does not stand in the way
TEST(FamilyStory, WhatTheFamilyHoldsIsNotInTheWayOfAnUpgrade) {
  Story s(shared_flavor_story());
  const auto why = s.why(10);
  ASSERT_EQ(why.options.size(), 2U);
  EXPECT_EQ(why.options[1].phase, Phase::admitted);
  const Why& better = why.options[0];
  EXPECT_EQ(better.headline, "It waits: ExceedsMaxQuota");
  ASSERT_EQ(better.trials.size(), 2U) << to_text(why);
  EXPECT_EQ(better.trials[0].missing, 4);
  EXPECT_EQ(better.trials[1].flavor.text(), "default-cpu");
  EXPECT_EQ(better.trials[1].verdict, FlavorTrial::Verdict::fits);
  ASSERT_EQ(better.remedies.size(), 1U) << to_text(why);
  EXPECT_EQ(remedy_text(better.remedies[0]), "if in ClusterQueue cq the nominalQuota of memory in flavor res were 8 instead of 4");
  for (const auto& u : better.users)
    for (const auto& h : u.own) EXPECT_EQ(h.name.find(s.name_of("j")), std::string::npos) << to_text(why);
}

// CA-44: with as much quota as is told the job moves, and what it leaves is not said to be evicted
TEST(FamilyStory, WhatAnUpgradeWouldTakeIsPlayed) {
  const auto story = [](int res) {
    Steps steps({{"res", 0}, {"od", 4}});
    steps.job("j").at(10).runs("j").at(20).quota({{"res", res}, {"od", 4}});
    if (res == 4) steps.at(25).runs("j", false).at(30).runs("j");
    return steps.at(40).check("another").text();
  };
  Story s(story(3));
  const auto why = s.why(40);
  ASSERT_EQ(why.options.size(), 2U);
  ASSERT_EQ(why.options[0].remedies.size(), 1U) << to_text(why);
  const Remedy& raise = why.options[0].remedies[0];
  EXPECT_EQ(remedy_text(raise), "if in ClusterQueue cq the nominalQuota of cpu in flavor res were 4 instead of 3");
  ASSERT_TRUE(raise.played.has_value());
  EXPECT_TRUE(raise.played->evicted.empty()) << raise.played->evicted[0];
  Story moved(story(4));
  EXPECT_EQ(moved.plain(moved.why(40).headline), "It is admitted in ClusterQueue cq by its Option J-option-res, flavor res");
}

// CA-46: with checks it holds its quota beside the one that runs until they are done, and needs room for that
TEST(FamilyStory, AnUpgradeWithChecksNeedsRoomBesideWhatRuns) {
  Story s(shared_flavor_story("admissionChecksStrategy: {admissionChecks: [{name: slow, onFlavors: [res]}]}, "));
  const auto why = s.why(10);
  ASSERT_EQ(why.options.size(), 2U);
  const Why& better = why.options[0];
  ASSERT_EQ(better.trials.size(), 2U) << to_text(why);
  EXPECT_EQ(better.trials[0].verdict, FlavorTrial::Verdict::exceeds_maximum);
  EXPECT_EQ(better.trials[1].verdict, FlavorTrial::Verdict::short_now);
  EXPECT_EQ(better.trials[1].missing, 10'000);
  ASSERT_EQ(better.remedies.size(), 1U) << to_text(why);
  EXPECT_EQ(
      remedy_text(better.remedies[0]),
      "if in ClusterQueue cq the nominalQuota of cpu in flavor default-cpu were 20 instead of 10 and nominalQuota of memory in flavor "
      "res were 8 instead of 4");
}

// CA-45, CA-81: checks that run beside each other
TEST(FamilyStory, OptionsThatWaitForChecksAreTold) {
  Steps steps({{"res", 0}, {"a", 4}, {"b", 4}}, "{onSuccess: RemoveLower}",
              "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [a, b]}]}, ");
  Story s(steps.check("cap").at(1).job("j").at(10).text());
  EXPECT_EQ(s.lanes(10),
            (Lines{"0 J-option-res res Pending/ExceedsMaxQuota", "1 J-option-a a QuotaReserved", "2 J-option-b b QuotaReserved"}));
  const auto why = s.why(10);
  EXPECT_EQ(why.phase, Phase::pending) << "the job does not run on a reservation";
  EXPECT_EQ(why.options[1].headline, "It holds quota in ClusterQueue cq and waits for its admission checks");
  EXPECT_NE(why.options[1].facts.front().find("admission check cap is Pending"), std::string::npos) << to_text(why);
  // CA-105 lists it where its Option waits, CA-103 counts it as one that holds quota
  EXPECT_EQ(s.pending(10), Lines{"j 0/0"});
  expect_line(s.metrics(10), R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="inadmissible"} 0)");
  expect_line(s.metrics(10), R"(kueue_reserving_active_workloads{cluster_queue="cq",replica_role="standalone"} 1)");
}

// ---- lists --------------------------------------------------------------------------------------------------------------------------

// CA-105
TEST(FamilyStory, AFamilyWaitsOnceAndOneThatRunsDoesNot) {
  Story s(Steps({{"res", 0}, {"spot", 4}}).job("j").at(1).job("second").at(2).job("third").at(10).text());
  EXPECT_EQ(s.pending(10), (Lines{"second 0/0", "third 1/1"}));
  const auto& state = s.played.state(s.played.at(10));
  const auto in_local = *pending_in_local_queue(state, "default", "lq", {.offset = 1});
  ASSERT_EQ(in_local.size(), 1U);
  EXPECT_EQ(in_local[0].name, s.name_of("third"));
  // and so does the description of the queue; places of Options agree with it
  const auto d = s.describe(10, s.name_of("third") + "-option-spot");
  EXPECT_EQ(d["queue"]["position"], 1);
  EXPECT_EQ(d["queue"]["waiting"], 2);
  const auto& then = s.played.state(s.played.at(10));
  const auto queue = describe_cluster_queue(then, *then.domain().catalog()->queue(Symbol("cq")));
  ASSERT_EQ(queue["pending"].size(), 2U);
  EXPECT_EQ(queue["pending"][0]["workload"], "default/" + s.name_of("second"));
  EXPECT_EQ(queue["pendingWorkloads"], 2);
  EXPECT_EQ(queue["concurrentAdmission"]["onSuccess"], "RemoveLower");
  EXPECT_EQ(queue["concurrentAdmission"]["upgradeFungibility"], "Always");
}

// CA-146: the description of a queue says what an upgrade may do.
TEST(FamilyStory, TheQueueSaysWhatAnUpgradeMayDo) {
  for (const std::string value : {"Always", "NoPreemption", "NoBorrowing"}) {
    Story s(Steps({{"res", 4}}, "{onSuccess: RemoveLower, upgradeFungibility: " + value + "}").job("j").text());
    const auto& state = s.played.state(s.played.end());
    const auto queue = describe_cluster_queue(state, *state.domain().catalog()->queue(Symbol("cq")));
    EXPECT_EQ(queue["concurrentAdmission"]["upgradeFungibility"], value);
  }
}

TEST(FamilyStory, OptionsAreMarkedInTables) {
  Story s(first_story());
  const auto& state = s.played.state(s.played.at(100));
  auto table = workloads_table(state, {.namespace_ = "default"});
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.columns.back().heading, "OPTION OF");
  EXPECT_EQ(s.plain(table.rows[1].back().text), "J");
  Story plain(Steps({{"res", 4}}, "").job("j").text());
  table = workloads_table(plain.played.state(plain.played.end()), {.namespace_ = "default"});
  EXPECT_NE(table.columns.back().heading, "OPTION OF");
}

// 8691 §2.5, §2.6
TEST(FamilyStory, ObjectsHaveWhatMakesThemAFamily) {
  Story s(first_story());
  const auto& state = s.played.state(s.played.at(100));
  const auto parent = workload_object(state, find_workload(state, parse_target("job/j", "default").value()).value());
  EXPECT_EQ(parent["metadata"]["labels"]["kueue.x-k8s.io/concurrent-admission-parent"], "true");
  EXPECT_EQ(parent["status"]["options"].size(), 3U);
  EXPECT_EQ(parent["status"]["options"][2]["state"], "Admitted");
  const auto option = workload_object(
      state, find_workload(state, {"Workload", "default", parent["status"]["options"][2]["name"].get<std::string>()}).value());
  EXPECT_EQ(option["metadata"]["ownerReferences"][0]["uid"], parent["metadata"]["uid"]);
  EXPECT_EQ(option["metadata"]["ownerReferences"][0]["kind"], "Workload");
  EXPECT_EQ(option["spec"]["admissionConstraints"]["allowedResourceFlavors"].dump(), R"(["spot"])");
  const auto queue = cluster_queue_object(state, *state.domain().catalog()->queue(Symbol("cq")));
  EXPECT_EQ(queue["spec"]["concurrentAdmission"]["onSuccess"], "RemoveLower");
}

}  // namespace
}  // namespace hindsight::projections

// Gate annotations as the webhooks judge them (6915 §2.2, §3.B, §3.C).

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::kueue;
using test::refusal;

constexpr const char* scheduling = "kueue.x-k8s.io/scheduling-gated-by";
constexpr const char* admission = "kueue.x-k8s.io/admission-gated-by";
constexpr const char* absent = nullptr;

Around both_on() {
  Around around;
  around.gates["SchedulingGatedBy"] = true;
  return around;
}

Json gated(const std::string& kind, const char* annotation, const char* value) {
  Json object =
      kind == "Workload"
          ? kueue("Workload", R"({"spec":{"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})")
          : test::job("{}");
  if (kind == "JobSet") {
    object["apiVersion"] = "jobset.x-k8s.io/v1alpha2";
    object["kind"] = "JobSet";
  }
  if (value != nullptr) object["metadata"]["annotations"][annotation] = value;
  return object;
}

std::string of(const char* annotation, const std::string& error) {
  return "metadata.annotations[" + std::string(annotation) + "]: " + error;
}

const std::string g1 = "must be a domain-prefixed path (such as \"acme.io/foo\")";
const std::string g2 =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric "
    "character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string g3 = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

std::string invalid(const std::string& found, const std::string& message) { return "Invalid value: \"" + found + "\": " + message; }

struct Creation {
  std::string value, error;
};

// SG-7, SG-8, SG-9, SG-10, SG-11, SG-14
TEST(GateRules, OneNameIsADomainPrefixedPath) {
  const std::string longest = "a.io/" + std::string(58, 'x');
  const std::vector<Creation> rows{{"example.com/mygate", ""},
                                   {"localhost/x", ""},
                                   {"a.io/x/y", ""},
                                   {"a.io/A-Z.a_z~%!$&'()*+;=:", ""},
                                   {longest, ""},
                                   {longest + "x", "Too long: may not be more than 63 bytes"},
                                   {"not a domain", invalid("not a domain", g1)},
                                   {"example.com/", invalid("example.com/", g1)},
                                   {"/g", invalid("/g", g1)},
                                   {"Example.com/g", invalid("Example.com", g2)},
                                   {" example.com/g", invalid(" example.com", g2)},
                                   {"example.com/a b", invalid("a b", g3)},
                                   {"example.com/g ", invalid("g ", g3)},
                                   {"a.io/x,b.io/y", invalid("a.io/x,b.io/y", "only one gate is supported")},
                                   {"", "Required value"}};
  for (const char* kind : {"Job", "JobSet"})
    for (const auto& [value, error] : rows)
      EXPECT_EQ(refusal(both_on(), "CREATE", gated(kind, scheduling, value.c_str())), error.empty() ? "" : of(scheduling, error))
          << kind << " " << value;
  EXPECT_EQ(refusal(both_on(), "CREATE", gated("Job", scheduling, "Example.com/a b")),
            "[" + of(scheduling, invalid("Example.com", g2)) + ", " + of(scheduling, invalid("a b", g3)) + "]");
}

// SG-11, SG-61, SG-63, SG-92
TEST(GateRules, AListOfNamesIsJudgedNameByName) {
  const std::vector<Creation> rows{{"a.io/x", ""},
                                   {"a.io/x, b.io/y ,c.io/z", ""},
                                   {"", ""},
                                   {"   ", invalid("   ", "cannot contain empty gate names")},
                                   {"a.io/x,,b.io/y", invalid("a.io/x,,b.io/y", "cannot contain empty gate names")},
                                   {"a.io/x,", invalid("a.io/x,", "cannot contain empty gate names")},
                                   {"a.io/x, a.io/x,a.io/x", invalid("a.io/x, a.io/x,a.io/x", "duplicate gate name: a.io/x")},
                                   {"a.io/x,nonsense", invalid("nonsense", g1)}};
  for (const char* kind : {"Job", "JobSet", "Workload"})
    for (const auto& [value, error] : rows)
      EXPECT_EQ(refusal({}, "CREATE", gated(kind, admission, value.c_str())), error.empty() ? "" : of(admission, error))
          << kind << " " << value;
}

struct Update {
  const char* annotation;
  const char* before;
  const char* now;
  std::string error;
};

// SG-15, SG-16, SG-17, SG-18, SG-20, SG-21, SG-61, SG-63
TEST(GateRules, AGateIsSetAtCreationAndCanOnlyGo) {
  const std::string g5 = "Forbidden: cannot add admission gate after creation";
  const std::string g6 = "Forbidden: can only remove gates, not add new ones";
  const std::string g9 = "Forbidden: cannot add scheduling gate after creation";
  const std::string g10 = "Forbidden: scheduling gate can only be removed, not modified";
  const std::vector<Update> rows{{scheduling, absent, "a.io/x", g9},
                                 {scheduling, absent, "", g9},
                                 {scheduling, "a.io/x", "b.io/x", g10},
                                 {scheduling, "a.io/x", "", g10},
                                 {scheduling, "a.io/x", absent, ""},
                                 {scheduling, "a.io/x", "a.io/x", ""},
                                 {scheduling, "not valid", "not valid", ""},
                                 {admission, absent, "a.io/x", g5},
                                 {admission, "", "a.io/x", g5},
                                 {admission, "a.io/x,b.io/y", "b.io/y", ""},
                                 {admission, "a.io/x,b.io/y", "b.io/y, a.io/x", ""},
                                 {admission, "a.io/x,b.io/y", "", ""},
                                 {admission, "a.io/x", absent, ""},
                                 {admission, "a.io/x", "a.io/x,c.io/z,d.io/z", g6},
                                 {admission, "nonsense", "nonsense", invalid("nonsense", g1)}};
  for (const char* kind : {"Job", "JobSet", "Workload"})
    for (const auto& row : rows) {
      if (std::string_view(kind) == "Workload" && row.annotation == scheduling) continue;
      for (const bool suspended : {true, false}) {
        Json now = gated(kind, row.annotation, row.now), before = gated(kind, row.annotation, row.before);
        if (std::string_view(kind) != "Workload") now["spec"]["suspend"] = before["spec"]["suspend"] = suspended;
        EXPECT_EQ(refusal(both_on(), "UPDATE", now, before), row.error.empty() ? "" : of(row.annotation, row.error))
            << kind << ": " << (row.before == absent ? "absent" : row.before) << " -> " << (row.now == absent ? "absent" : row.now);
      }
    }
}

// SG-1, SG-2, SG-3, SG-4
TEST(GateRules, EachAnnotationHasItsOwnFeatureGate) {
  Around off;
  off.gates["AdmissionGatedBy"] = false;
  EXPECT_EQ(refusal(off, "CREATE", gated("Job", admission, "this is invalid")), "");
  EXPECT_EQ(refusal(off, "CREATE", gated("Job", scheduling, "this is invalid")), "");
  EXPECT_EQ(refusal({}, "CREATE", gated("Job", scheduling, "this is invalid")), "") << "off unless switched on";
  EXPECT_NE(refusal({}, "CREATE", gated("Job", admission, "this is invalid")), "") << "on unless switched off";
  off.gates["SchedulingGatedBy"] = true;
  EXPECT_EQ(refusal(off, "CREATE", gated("Job", scheduling, "this is invalid")), of(scheduling, invalid("this is invalid", g1)));
}

Json ray(const std::string& kind) {
  const Json cluster = Json::parse(R"({
    "headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},
    "workerGroupSpecs":[{"groupName":"a","template":{"spec":{"containers":[{"name":"w"}]}}}]})");
  Json object{{"apiVersion", "ray.io/v1"}, {"kind", kind}, {"metadata", {{"name", "r"}, {"namespace", "ns"}}}};
  object["spec"] = kind == "RayCluster" ? cluster : Json{{"rayClusterSpec", cluster}};
  object["spec"]["suspend"] = true;
  return object;
}

// SG-13: of Jobs and JobSets the annotations are judged with and without a queue name; of Ray's kinds where they are managed, by a queue
// name or because all are
TEST(GateRules, QueuedOrNotAJobsAnnotationIsJudged) {
  Around all = both_on();
  all.without_queue_name = true;
  for (const char* annotation : {scheduling, admission}) {
    const std::string error = of(annotation, invalid("nonsense", g1));
    for (const char* kind : {"Job", "JobSet"})
      for (const bool queued : {false, true}) {
        Json object = gated(kind, annotation, "nonsense");
        if (queued) object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q";
        EXPECT_EQ(refusal(both_on(), "CREATE", object), error) << kind << queued;
      }
    for (const char* kind : {"RayCluster", "RayJob"}) {
      Json object = ray(kind);
      object["metadata"]["annotations"][annotation] = "nonsense";
      EXPECT_EQ(refusal(all, "CREATE", object), error) << kind;
      EXPECT_EQ(refusal(both_on(), "CREATE", object), "") << kind << " that nobody here manages";
      object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q";
      EXPECT_EQ(refusal(both_on(), "CREATE", object), error) << kind;
      Json added = object, before = object;
      added["metadata"]["annotations"][annotation] = "a.io/x";
      before["metadata"].erase("annotations");
      EXPECT_NE(refusal(both_on(), "UPDATE", added, before), "") << kind << ": set at creation only";
      EXPECT_EQ(refusal(both_on(), "CREATE", added), "") << kind;
    }
  }
}

// SG-12
TEST(GateRules, AllErrorsAreToldTogether) {
  Json job = gated("Job", scheduling, "");
  job["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "0";
  EXPECT_EQ(refusal(both_on(), "CREATE", job),
            "[metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"0\": should be greater than 0, " +
                of(scheduling, "Required value") + "]");
}

// SG-22
TEST(GateRules, DeletionIsNeverBlocked) {
  Json leaving = gated("Job", scheduling, "b.io/x");
  leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(refusal(both_on(), "UPDATE", leaving, gated("Job", scheduling, "a.io/x")), "");
}

}  // namespace
}  // namespace hindsight::connectors::webhooks

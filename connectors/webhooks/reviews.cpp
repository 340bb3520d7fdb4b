#include "connectors/webhooks/reviews.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_text.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/webhooks/conversion.hpp"
#include "connectors/webhooks/rules/concurrent_admission_rules.hpp"
#include "connectors/webhooks/rules/definition_rules.hpp"
#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::member;
using manifests::Problem;
using manifests::text;

constexpr std::string_view kueue_group = "kueue.x-k8s.io";

// What reading and answering takes at most, as measured (tests/connectors/webhooks/review_memory_test.cpp): for strings the copies of the
// parser, the tree and the answer; for each value its places in the trees, most for members of objects. A tenth is for what the heap leaves
// unused, which differs from process to process.
constexpr std::size_t bytes_per_byte = 6;
constexpr std::size_t bytes_per_value_reviewed = 160;
constexpr std::size_t bytes_per_value_converted = 24;

/// How many values there are at most: each but the first stands behind one of these.
std::size_t structure_of(std::string_view piece) {
  std::size_t n = 0;
  for (const char c : piece)
    n += static_cast<std::size_t>(c == ',') + static_cast<std::size_t>(c == '[') + static_cast<std::size_t>(c == '{') +
         static_cast<std::size_t>(c == ':');
  return n;
}

Answer bad_review(std::string message) { return {400, to_text({{"error", std::move(message)}})}; }

/// A review that was asked for, taken apart. Errors: invalid.
struct Review {
  Json whole;
  const Json& request() const { return member(whole, "request"); }
};

Result<void> judge_review(const Json& whole, std::string_view kind, std::string_view group) {
  const std::string wanted = std::string(group) + "/v1";
  if (member(whole, "kind") != kind || member(whole, "apiVersion") != wanted)
    return fail(ErrorKind::invalid, "review: found apiVersion " + manifests::shortened(member(whole, "apiVersion")) + ", kind " +
                                        manifests::shortened(member(whole, "kind")) + "; allowed: " + wanted + ", " + std::string(kind));
  const Json& request = member(whole, "request");
  if (!request.is_object() || text(request, "uid").empty())
    return fail(ErrorKind::invalid,
                "request.uid: found " + manifests::shortened(member(request, "uid")) + "; allowed: a text that is not empty");
  return {};
}

Answer answer_with(const Review& review, Json response) {
  response["uid"] = member(review.request(), "uid");
  return {200,
          to_text({{"apiVersion", member(review.whole, "apiVersion")}, {"kind", member(review.whole, "kind")}, {"response", response}})};
}

/// Who writes.
std::string_view user_of(const Json& request) { return text(member(request, "userInfo"), "username"); }

/// The kind that a request of an AdmissionReview is about.
Result<const Kind*> kind_of_request(const Json& request) {
  const Json& named = member(request, "kind");
  const Kind* kind = manifests::find_kind(text(named, "kind"));
  if (kind == nullptr || kind->type->group != text(named, "group") || kind->type->version != text(named, "version"))
    return fail(ErrorKind::invalid,
                "request.kind: found " + manifests::shortened(named) + "; allowed: kinds that this webhook is registered for");
  return kind;
}

Result<Review> read_admission_review(std::string_view body) {
  auto whole = manifests::parse_json(body);
  if (!whole) return fail(ErrorKind::invalid, "AdmissionReview: " + whole.error().message);
  if (auto good = judge_review(*whole, "AdmissionReview", "admission.k8s.io"); !good) return tl::unexpected(good.error());
  Review review{std::move(*whole)};
  const Json& request = review.request();
  const auto operation = text(request, "operation");
  if ((operation == "CREATE" || operation == "UPDATE") && !member(request, "object").is_object())
    return fail(ErrorKind::invalid, "request.object: found " + manifests::shortened(member(request, "object")) + "; allowed: an object");
  if (operation == "UPDATE" && !member(request, "oldObject").is_object())
    return fail(ErrorKind::invalid,
                "request.oldObject: found " + manifests::shortened(member(request, "oldObject")) + "; allowed: an object");
  return review;
}

/// Several as "[e1, e2]", equal ones once.
std::string list_of(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  for (const auto& problem : problems)
    if (std::string one = describe(problem); known.insert(one).second) texts.push_back(std::move(one));
  if (texts.size() == 1) return texts.front();
  std::string all = "[";
  for (const auto& one : texts) all.append(all.size() == 1 ? "" : ", ").append(one);
  return all + "]";
}

/// Somebody who writes v1beta1 does not know the policy and cannot have meant to take it away (8691 V12).
void keep_policy(const Json& request, Json& object) {
  constexpr const char* policy = "concurrentAdmissionPolicy";
  const Json& old_policy = member(member(request, "oldObject"), "spec", policy);
  if (old_policy.is_null() || text(member(request, "requestKind"), "version") != "v1beta1") return;
  if (const auto spec = object.find("spec"); spec != object.end() && spec->is_object() && !spec->contains(policy))
    (*spec)[policy] = old_policy;
}

/// Whether an object fits its table; tells what does not.
bool fits(const Kind& kind, const Json& object, std::vector<Problem>& problems) {
  manifests::check(*kind.schema, object, "", manifests::UnknownFields::ignored, problems);
  return problems.empty();
}

/// What the reader would set aside because it goes beyond a limit is better refused: it would be a job that never starts, or a queue
/// without quota. What was stored so before may still be changed, so that its finalizers, say, can go. Of everything else the API says what
/// it takes.
void check_limits(const Kind& kind, Json object, const Json& old_object, Findings& findings) {
  if (!object["metadata"].contains("name")) object["metadata"]["name"] = "generated";  // the server gives it a name later
  const auto refusal = find_unreadable(*kind.type, to_text(object));
  if (!refusal || !refusal->beyond_limit) return;
  if (old_object.is_object())
    if (const auto before = find_unreadable(*kind.type, to_text(old_object)); before && before->field == refusal->field) return;
  findings.forbidden(refusal->field.empty() ? "object" : refusal->field, "found " + refusal->found + ", allowed: " + refusal->allowed);
}

/// Of jobs that are none of ours nobody asks whether we can read them.
bool is_queued(const Json& job, const Surroundings& around) {
  const Json& metadata = member(job, "metadata");
  return !text(member(metadata, "labels"), keys::queue_name).empty() ||
         (around.manages_jobs_without_queue_name() && around.manages_namespace(text(metadata, "namespace")));
}

/// What a definition would refuse that leaves its rules to us. Where it keeps them, as for writes in v1beta1, nothing of it comes here.
void check_as_definition(const Kind& kind, const Json& request, Findings& findings) {
  if (text(member(request, "requestKind"), "version") == "v1beta1") return;
  check_definition_rules(kind, ObjectView(member(request, "object")), ObjectView(member(request, "oldObject")), findings);
}

/// We let an object change that is being deleted, so that a wrong one can go; a definition judges it as any.
std::vector<Problem> judge_leaving(const Kind& kind, const Json& request) {
  std::vector<Problem> problems;
  Findings findings(problems);
  check_as_definition(kind, request, findings);
  return problems;
}

std::vector<Problem> judge(const Kind& kind, const Json& request, const Surroundings& around) {
  std::vector<Problem> problems;
  Findings findings(problems);
  if (kind.type->group != kueue_group) {
    check_job_webhook_rules(kind, ObjectView(member(request, "object")), ObjectView(member(request, "oldObject")), around, user_of(request),
                            findings);
    if (problems.empty() && is_queued(member(request, "object"), around))
      check_limits(kind, member(request, "object"), member(request, "oldObject"), findings);
    return problems;
  }
  // The rules take no other shape than that of the table. Of the new object the API server has made sure; the old one may have been stored
  // under an older definition, and then there is nothing to compare with.
  Json object = member(request, "object"), old_object = member(request, "oldObject");
  use_newer_fields(object);
  if (!fits(kind, object, problems)) return problems;
  if (!old_object.is_object()) {
    old_object = nullptr;
  } else {
    use_newer_fields(old_object);
    std::vector<Problem> unfit;
    if (!fits(kind, old_object, unfit)) old_object = nullptr;
  }
  check_webhook_rules(kind, ObjectView(object), ObjectView(old_object), around, findings);
  if (problems.empty()) check_limits(kind, object, old_object, findings);
  if (problems.empty()) check_as_definition(kind, request, findings);
  return problems;
}

/// What the writer should know of an object that is taken.
std::vector<std::string> warnings_of(const Kind& kind, const Json& request, const Surroundings& around) {
  if (kind.type->kind != "ClusterQueue") return {};
  return concurrent_admission_warnings(member(request, "object", "spec"), around);
}

std::string path_of(std::string_view verb, const ResourceType& type) {
  std::string group(type.group);
  std::replace(group.begin(), group.end(), '.', '-');
  std::string path = "/" + std::string(verb) + "-" + group + "-" + std::string(type.version) + "-";
  for (const char c : type.kind) path += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return path;
}

}  // namespace

Answer answer_mutation(std::string_view body, const Surroundings& around) {
  const auto review = read_admission_review(body);
  if (!review) return bad_review(review.error().message);
  const Json& request = review->request();
  const auto kind = kind_of_request(request);
  if (!kind) return bad_review(kind.error().message);
  const auto operation = text(request, "operation");
  if (operation != "CREATE" && operation != "UPDATE") return answer_with(*review, {{"allowed", true}});

  const Json& given = member(request, "object");
  Json object = given;
  if (operation == "CREATE") apply_webhook_defaults(**kind, object, around, user_of(request));
  if ((*kind)->type->group == kueue_group) use_newer_fields(object);
  if ((*kind)->type->kind == "ClusterQueue" && operation == "UPDATE") keep_policy(request, object);
  Json response = {{"allowed", true}};
  if (const Json patch = Json::diff(given, object); !patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = kubernetes::encode_base64(to_text(patch));
  }
  return answer_with(*review, std::move(response));
}

Answer answer_validation(std::string_view body, const Surroundings& around) {
  const auto review = read_admission_review(body);
  if (!review) return bad_review(review.error().message);
  const Json& request = review->request();
  const auto kind = kind_of_request(request);
  if (!kind) return bad_review(kind.error().message);
  const auto operation = text(request, "operation");
  if (operation != "CREATE" && operation != "UPDATE") return answer_with(*review, {{"allowed", true}});
  const bool goes = !member(member(request, "object", "metadata"), "deletionTimestamp").is_null();
  const auto problems = goes ? judge_leaving(**kind, request) : judge(**kind, request, around);
  if (problems.empty()) {
    Json response = {{"allowed", true}};
    if (goes) return answer_with(*review, std::move(response));
    if (auto warnings = warnings_of(**kind, request, around); !warnings.empty()) response["warnings"] = std::move(warnings);
    return answer_with(*review, std::move(response));
  }
  return answer_with(*review, {{"allowed", false}, {"status", {{"code", 403}, {"reason", "Forbidden"}, {"message", list_of(problems)}}}});
}

Answer answer_conversion(std::string_view body) {
  auto list = manifests::JsonList::open(body, "request", "objects");
  if (!list) return bad_review("ConversionReview: " + list.error().message);
  if (auto good = judge_review(list->rest(), "ConversionReview", "apiextensions.k8s.io"); !good) return bad_review(good.error().message);
  const Json& request = member(list->rest(), "request");
  const std::string wanted(text(request, "desiredAPIVersion"));
  const Json& objects = member(request, "objects");
  if (!objects.is_array()) return bad_review("request.objects: found " + manifests::shortened(objects) + "; allowed: a list of objects");
  // A list of the API server may be megabytes long, so one object after the other is read, converted and written.
  const std::string begin = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{)";
  const auto end = [&](const Json& result) {
    return "\"result\":" + to_text(result) + ",\"uid\":" + to_text(member(request, "uid")) + "}}";
  };
  std::string out = begin + "\"convertedObjects\":[";
  out.reserve(body.size() + body.size() / 8);
  for (bool first = true;; first = false) {
    auto next = list->next();
    if (!next) return bad_review("ConversionReview: " + next.error().message);
    if (!*next) break;
    if (auto done = convert(**next, wanted); !done) return {200, begin + end({{"status", "Failed"}, {"message", done.error().message}})};
    out.append(first ? "" : ",").append(to_text(**next));
  }
  out.append("],").append(end({{"status", "Success"}}));
  return {200, std::move(out)};
}

std::size_t memory_to_review(std::string_view piece) {
  return piece.size() * bytes_per_byte + structure_of(piece) * bytes_per_value_reviewed;
}

std::size_t memory_to_convert(std::string_view piece) {
  return piece.size() * bytes_per_byte + structure_of(piece) * bytes_per_value_converted;
}

const std::vector<ReviewedKind>& reviewed_kinds() {
  static const std::vector<ReviewedKind> instance = [] {
    // Of the others the definitions say all.
    const std::set<std::string_view> judged{"ResourceFlavor", "Cohort",     "ClusterQueue", "LocalQueue", "Workload", "Job",
                                            "JobSet",         "RayCluster", "RayJob"};
    std::vector<ReviewedKind> out;
    for (const auto& kind : manifests::kinds()) {
      const bool kueue = kind.type->group == kueue_group;
      if (!kueue && !judged.contains(kind.type->kind)) continue;
      out.push_back({&kind, path_of("mutate", *kind.type), judged.contains(kind.type->kind) ? path_of("validate", *kind.type) : ""});
    }
    return out;
  }();
  return instance;
}

}  // namespace hindsight::connectors::webhooks

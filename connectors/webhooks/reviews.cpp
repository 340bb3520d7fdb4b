#include "connectors/webhooks/reviews.hpp"

#include <algorithm>
#include <set>

#include "connectors/kubernetes/base64.hpp"
#include "connectors/manifests/json_text.hpp"
#include "connectors/webhooks/conversion.hpp"
#include "connectors/webhooks/rules/concurrent_admission_rules.hpp"
#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::member;
using manifests::Problem;
using manifests::text;

constexpr std::string_view kueue_group = "kueue.x-k8s.io";

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

Answer bad_review(std::string message) { return {400, to_text({{"error", std::move(message)}})}; }

/// A review that was asked for, taken apart. Errors: invalid.
struct Review {
  Json whole;
  const Json& request() const { return member(whole, "request"); }
};

Result<Review> read_review(std::string_view body, std::string_view kind, std::string_view group) {
  auto whole = manifests::parse_json(body);
  if (!whole) return fail(ErrorKind::invalid, std::string(kind) + ": " + whole.error().message);
  const std::string wanted = std::string(group) + "/v1";
  if (member(*whole, "kind") != kind || member(*whole, "apiVersion") != wanted)
    return fail(ErrorKind::invalid, "review: found apiVersion " + manifests::shortened(member(*whole, "apiVersion")) + ", kind " +
                                        manifests::shortened(member(*whole, "kind")) + "; allowed: " + wanted + ", " + std::string(kind));
  const Json& request = member(*whole, "request");
  if (!request.is_object() || text(request, "uid").empty())
    return fail(ErrorKind::invalid,
                "request.uid: found " + manifests::shortened(member(request, "uid")) + "; allowed: a text that is not empty");
  return Review{std::move(*whole)};
}

Answer answer_with(const Review& review, Json response) {
  response["uid"] = member(review.request(), "uid");
  return {200,
          to_text({{"apiVersion", member(review.whole, "apiVersion")}, {"kind", member(review.whole, "kind")}, {"response", response}})};
}

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
  auto review = read_review(body, "AdmissionReview", "admission.k8s.io");
  if (!review) return review;
  const Json& request = review->request();
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
  for (const auto& problem : problems) {
    std::string one = describe(problem);
    if (std::find(texts.begin(), texts.end(), one) == texts.end()) texts.push_back(std::move(one));
  }
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

std::vector<Problem> judge(const Kind& kind, const Json& request, const Surroundings& around) {
  std::vector<Problem> problems;
  Findings findings(problems);
  if (kind.type->group != kueue_group) {
    check_job_webhook_rules(kind, ObjectView(member(request, "object")), ObjectView(member(request, "oldObject")), around, findings);
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
  if (operation == "CREATE") apply_webhook_defaults(**kind, object, around);
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
  const bool goes = !member(member(request, "object", "metadata"), "deletionTimestamp").is_null();
  if ((operation != "CREATE" && operation != "UPDATE") || goes) return answer_with(*review, {{"allowed", true}});
  const auto problems = judge(**kind, request, around);
  if (problems.empty()) {
    Json response = {{"allowed", true}};
    if (auto warnings = warnings_of(**kind, request, around); !warnings.empty()) response["warnings"] = std::move(warnings);
    return answer_with(*review, std::move(response));
  }
  return answer_with(*review, {{"allowed", false}, {"status", {{"code", 403}, {"reason", "Forbidden"}, {"message", list_of(problems)}}}});
}

Answer answer_conversion(std::string_view body) {
  auto review = read_review(body, "ConversionReview", "apiextensions.k8s.io");
  if (!review) return bad_review(review.error().message);
  const Json& request = review->request();
  const std::string wanted(text(request, "desiredAPIVersion"));
  Json converted = Json::array();
  const Json& objects = member(request, "objects");
  if (!objects.is_array()) return bad_review("request.objects: found " + manifests::shortened(objects) + "; allowed: a list of objects");
  for (const auto& object : objects) {
    Json other = object;
    if (auto done = convert(other, wanted); !done)
      return answer_with(*review, {{"result", {{"status", "Failed"}, {"message", done.error().message}}}});
    converted.push_back(std::move(other));
  }
  return answer_with(*review, {{"convertedObjects", std::move(converted)}, {"result", {{"status", "Success"}}}});
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

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/webhooks/reviews.hpp"

namespace hindsight::connectors::webhooks::test {

using manifests::Json;

inline constexpr std::string_view controller = "system:serviceaccount:jobset-system:jobset-controller-manager";

/// A cluster and its settings, said in a few words.
class Around final : public Surroundings {
 public:
  std::map<std::string, Json> objects;             ///< "Kind/namespace/name".
  std::map<std::string, bool, std::less<>> gates;  ///< Others as they are by default.
  std::set<std::string, std::less<>> unmanaged_namespaces;
  bool without_queue_name = false;
  std::size_t most_options = max_options_by_default;

  [[nodiscard]] std::shared_ptr<const Json> find(std::string_view kind, std::string_view namespace_, std::string_view name) const override {
    const auto it = objects.find(std::string(kind) + "/" + std::string(namespace_) + "/" + std::string(name));
    return it == objects.end() ? nullptr : std::make_shared<const Json>(it->second);
  }
  [[nodiscard]] bool gate(std::string_view name) const override {
    const auto it = gates.find(name);
    return it == gates.end() ? gate_by_default(name) : it->second;
  }
  [[nodiscard]] bool manages_namespace(std::string_view name) const override { return !unmanaged_namespaces.contains(name); }
  [[nodiscard]] bool manages_jobs_without_queue_name() const override { return without_queue_name; }
  [[nodiscard]] bool manages_kind(std::string_view kind, std::string_view) const override {
    return kind == "Job" || kind == "JobSet" || kind == "RayCluster" || kind == "RayJob";
  }
  [[nodiscard]] bool is_controller(std::string_view user) const override { return user == controller; }
  [[nodiscard]] std::size_t max_options() const override { return most_options; }
};

inline Json review(const char* operation, const Json& object, const Json& old_object = Json(), std::string_view user = controller) {
  const std::string version = object.value("apiVersion", "");
  const auto slash = version.find('/');
  Json request = {{"uid", "u-1"},
                  {"kind", {{"group", version.substr(0, slash)}, {"version", version.substr(slash + 1)}, {"kind", object["kind"]}}},
                  {"operation", operation},
                  {"userInfo", {{"username", user}}},
                  {"object", object},
                  {"oldObject", old_object}};
  return {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", std::move(request)}};
}

/// The message of the refusal; empty: it passes.
inline std::string refusal(const Around& around, const char* operation, const Json& object, const Json& old_object = Json(),
                           std::string_view user = controller) {
  const Answer answer = answer_validation(review(operation, object, old_object, user).dump(), around);
  const Json response = Json::parse(answer.body)["response"];
  if (answer.http_status != 200 || response["uid"] != "u-1") return "no answer: " + answer.body;
  if (response["allowed"] == true) return "";
  if (response["status"]["code"] != 403 || response["status"]["reason"] != "Forbidden") return "not a refusal: " + answer.body;
  return response["status"]["message"];
}

/// The object as the webhook makes it.
inline Json defaulted(const Around& around, const Json& object, const char* operation = "CREATE", const Json& old_object = Json(),
                      const char* written_in = "", std::string_view user = controller) {
  Json asked = review(operation, object, old_object, user);
  if (*written_in != '\0') asked["request"]["requestKind"] = {{"version", written_in}};
  const Answer answer = answer_mutation(asked.dump(), around);
  const Json response = Json::parse(answer.body)["response"];
  if (answer.http_status != 200 || response["allowed"] != true) return answer.body;
  if (!response.contains("patch")) return object;
  if (response["patchType"] != "JSONPatch") return answer.body;
  return object.patch(Json::parse(*kubernetes::decode_base64(response["patch"].get<std::string>())));
}

inline Json kueue(const char* kind, const char* members) {
  Json object = Json::parse(members);
  object["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  object["kind"] = kind;
  object["metadata"]["name"] = "o";
  if (std::string_view(kind) == "Workload" || std::string_view(kind) == "LocalQueue") object["metadata"]["namespace"] = "ns";
  return object;
}

inline Json job(const char* metadata, const char* spec = R"({"suspend":true,"parallelism":4})") {
  Json object = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", Json::parse(metadata)}, {"spec", Json::parse(spec)}};
  object["metadata"]["name"] = "j";
  object["metadata"]["namespace"] = "ns";
  return object;
}

}  // namespace hindsight::connectors::webhooks::test

#include "connectors/webhooks/registration.hpp"

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/webhooks/reviews.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::member;
using manifests::text;

/// "vjob.kb.io" → "/validate-batch-v1-job"; empty: none of ours.
std::string path_of(std::string_view webhook) {
  for (const auto& one : reviewed_kinds()) {
    std::string kind;
    for (const char c : one.kind->type->kind) kind += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (webhook == "m" + kind + ".kb.io") return one.mutating_path;
    if (webhook == "v" + kind + ".kb.io") return one.validating_path;
  }
  return {};
}

Json client_config(const ClientConfig& client, const std::string& path, const Json& present) {
  Json out = Json::object();
  if (!client.url.empty())
    out["url"] = client.url + path;
  else
    out["service"] = {{"name", client.service}, {"namespace", client.service_namespace}, {"path", path}, {"port", client.port}};
  if (!client.authorities.empty())
    out["caBundle"] = kubernetes::encode_base64(client.authorities);
  else if (const Json& there = member(present, "caBundle"); !there.is_null())
    out["caBundle"] = there;
  return out;
}

std::string patch_of(const Json& object, const char* member_name, Json value) {
  return Json{{"metadata", {{"resourceVersion", text(member(object, "metadata"), "resourceVersion")}}}, {member_name, std::move(value)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::optional<std::string> configuration_patch(const Json& configuration, const ClientConfig& client) {
  const Json& present = member(configuration, "webhooks");
  if (!present.is_array()) return std::nullopt;
  Json wanted = present;
  for (auto& webhook : wanted) {
    if (!webhook.is_object()) continue;
    const std::string path = path_of(text(webhook, "name"));
    if (path.empty()) continue;
    webhook["clientConfig"] = client_config(client, path, member(webhook, "clientConfig"));
  }
  if (wanted == present) return std::nullopt;
  return patch_of(configuration, "webhooks", std::move(wanted));
}

std::optional<std::string> definition_patch(const Json& definition, const ClientConfig& client) {
  const Json& present = member(definition, "spec", "conversion");
  const Json& webhook = member(present, "webhook");
  Json wanted = client_config(client, std::string(conversion_path), member(webhook, "clientConfig"));
  const Json versions = Json::array({"v1"});
  if (text(present, "strategy") == "Webhook" && member(webhook, "clientConfig") == wanted &&
      member(webhook, "conversionReviewVersions") == versions)
    return std::nullopt;
  // Of the two ways to reach us one is taken away.
  wanted[client.url.empty() ? "url" : "service"] = nullptr;
  return patch_of(
      definition, "spec",
      {{"conversion",
        {{"strategy", "Webhook"}, {"webhook", {{"clientConfig", std::move(wanted)}, {"conversionReviewVersions", versions}}}}}});
}

}  // namespace hindsight::connectors::webhooks

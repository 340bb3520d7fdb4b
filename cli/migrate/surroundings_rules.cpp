// What stands around Kueue's process: the process itself, who asks it, and what this check was not allowed to see.

#include "cli/migrate/rules.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::member;
using connectors::manifests::number;
using connectors::manifests::text;

enum SurroundingsRule { not_seen, kueue_runs, webhook_of_kueue, soft_webhook_of_kueue, visibility_of_kueue };

constexpr Rule surroundings_table[] = {
    {"not-seen", Severity::blocks, "This check could not look at it, so nothing is known of it.",
     "Check again with an account that may read it."},
    {"kueue-runs", Severity::blocks, "Two controllers would decide about the same jobs, each undoing what the other does.",
     "Scale Kueue's Deployment to 0 before Hindsight starts."},
    {"webhook-of-kueue", Severity::blocks,
     "Once Kueue is gone the API server refuses every write of the kinds that it asks about, those of Hindsight too.",
     "Delete this object after Kueue was scaled down; deploy/webhooks.yaml takes its place."},
    {"soft-webhook-of-kueue", Severity::differs,
     "Once Kueue is gone the API server waits for an answer with each write, then goes on without.",
     "Delete this object after Kueue was scaled down; deploy/webhooks.yaml takes its place."},
    {"visibility-of-kueue", Severity::differs,
     "Once Kueue is gone this API answers 503, and namespaces that are deleted stay until it is back.",
     "Delete this object, or apply deploy/visibility.yaml and run with --visibility."},
};

/// A Service that Kueue's own manifests and chart name so.
bool is_kueues(const Json& service) {
  const auto name = text(service, "name");
  return name == "kueue-webhook-service" || name == "kueue-visibility-server" || text(service, "namespace") == "kueue-system";
}

void look_at_webhooks(const Json& configuration, Findings& out) {
  const Json& webhooks = member(configuration, "webhooks");
  if (!webhooks.is_array()) return;
  std::size_t hard = 0, soft = 0;
  for (const Json& webhook : webhooks) {
    if (!is_kueues(member(webhook, "clientConfig", "service"))) continue;
    ++(text(webhook, "failurePolicy") == "Ignore" ? soft : hard);  // absent: Fail
  }
  if (hard > 0)
    out.add(surroundings_table[webhook_of_kueue], name_of(configuration), "webhooks", std::to_string(hard) + " with failurePolicy Fail");
  if (soft > 0)
    out.add(surroundings_table[soft_webhook_of_kueue], name_of(configuration), "webhooks",
            std::to_string(soft) + " with failurePolicy Ignore");
}

bool is_kueues_process(const Json& deployment) {
  return text(member(deployment, "metadata"), "name") == "kueue-controller-manager" ||
         (label_of(deployment, "app.kubernetes.io/name") == "kueue" && label_of(deployment, "control-plane") == "controller-manager");
}

}  // namespace

std::span<const Rule> surroundings_rules() { return surroundings_table; }

void look_at_surroundings(const World& world, Findings& out) {
  for (const auto& [what, why] : world.not_seen) out.add(surroundings_table[not_seen], what, "", why);
  for (const Json* deployment : world.of("Deployment", "apps")) {
    if (!is_kueues_process(*deployment)) continue;
    const auto replicas = number(member(*deployment, "spec"), "replicas").value_or(1);
    const auto left = number(member(*deployment, "status"), "replicas").value_or(0);
    if (replicas > 0 || left > 0)
      out.add(surroundings_table[kueue_runs], name_of(*deployment), replicas > 0 ? "spec.replicas" : "status.replicas",
              std::to_string(replicas > 0 ? replicas : left));
  }
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})
    for (const Json* configuration : world.of(kind, "admissionregistration.k8s.io")) look_at_webhooks(*configuration, out);
  for (const Json* service : world.of("APIService", "apiregistration.k8s.io"))
    if (text(member(*service, "spec"), "group") == "visibility.kueue.x-k8s.io" && is_kueues(member(*service, "spec", "service")))
      out.add(surroundings_table[visibility_of_kueue], name_of(*service), "spec.service",
              path_of(Json{{"metadata", (*service)["spec"]["service"]}}));
}

std::string feature_gates_of_process(const World& world) {
  for (const Json* deployment : world.of("Deployment", "apps")) {
    if (!is_kueues_process(*deployment)) continue;
    const Json& containers = member(member(member(*deployment, "spec"), "template", "spec"), "containers");
    if (!containers.is_array()) continue;
    for (const Json& container : containers)
      for (const char* list : {"command", "args"}) {
        const Json& words = member(container, list);
        if (!words.is_array()) continue;
        constexpr std::string_view option = "--feature-gates=";
        for (const Json& word : words)
          if (word.is_string() && word.get_ref<const std::string&>().starts_with(option))
            return word.get_ref<const std::string&>().substr(option.size());
      }
  }
  return {};
}

}  // namespace hindsight::cli::migrate

#include "doctor/service_reach.hpp"

#include <algorithm>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "doctor/commands.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t slices_max = 100;

/// "https://host:port" of an address with a path.
std::string origin_of(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  return url.substr(0, url.find('/', scheme + 3));
}

}  // namespace

std::string Callee::text() const { return url.empty() ? "Service " + namespace_ + "/" + service : url; }

Callee callee_of(const Json& client) {
  Callee out;
  out.url = origin_of(std::string(m::text(client, "url")));
  const Json& service = m::member(client, "service");
  out.service = std::string(m::text(service, "name"));
  out.namespace_ = std::string(m::text(service, "namespace"));
  out.port = m::number(service, "port").value_or(443);
  if (const auto bundle = m::text(client, "caBundle"); !bundle.empty()) {
    auto decoded = connectors::kubernetes::decode_base64(std::string(bundle));
    if (decoded)
      out.authorities = std::move(*decoded);
    else
      out.bundle_unreadable = true;
  }
  return out;
}

Reach look_behind(ClusterReader& cluster, const Callee& callee, std::chrono::milliseconds time_limit) {
  Reach out;
  if (!callee.url.empty()) {
    // Any answer will do: what it says of a GET without a path is nobody's business here.
    const auto answer = plain_get(callee.url, "/", time_limit);
    out.known = true;
    if (!answer) out.refused = answer.error().message;
    return out;
  }
  const std::string folder = connectors::kubernetes::escape(callee.namespace_), name = connectors::kubernetes::escape(callee.service);
  const auto service = find(cluster, "/api/v1/namespaces/" + folder + "/services/" + name);
  if (!service) {
    out.why = service.error().message;
    return out;
  }
  out.service_there = service->has_value();
  if (!out.service_there) {
    out.known = true;
    return out;
  }
  const auto slices = list(cluster, "/apis/discovery.k8s.io/v1/namespaces/" + folder + "/endpointslices",
                           "labelSelector=kubernetes.io%2Fservice-name%3D" + name, slices_max);
  if (!slices) {
    out.why = slices.error().message;
    return out;
  }
  out.known = true;
  const bool unready_too = m::flag(m::member(**service, "spec"), "publishNotReadyAddresses");
  for (const auto& slice : slices->items) {
    const Json& endpoints = m::member(slice, "endpoints");
    if (!endpoints.is_array()) continue;
    for (const auto& one : endpoints) {
      const Json& ready = m::member(m::member(one, "conditions"), "ready");
      const bool is_ready = unready_too || !ready.is_boolean() || ready.get<bool>();
      ++(is_ready ? out.ready : out.not_ready);
    }
  }
  return out;
}

std::string unanswered(const Callee& callee, const Reach& reach) {
  if (!reach.known) return {};
  if (!callee.url.empty())
    return reach.refused.empty() ? std::string() : "from here nobody answers at " + callee.url + " (" + reach.refused + ")";
  if (!reach.service_there) return "there is no " + callee.text();
  if (reach.ready > 0) return {};
  return callee.text() + " has no endpoint that is ready" +
         (reach.not_ready > 0 ? " (" + std::to_string(reach.not_ready) + " that are not)" : std::string());
}

void advise_on_silence(Finding& finding, const Callee& callee, const Reach& reach, const Installation& installation,
                       const std::string& flag, const std::string& manifest, const std::string& removal, const Commands& commands) {
  const bool through_ours = callee.url.empty() && callee.namespace_ == installation.namespace_;
  if (!through_ours || !installation.deployed()) {
    finding.advice = "Start who should answer, or let the API server ask nobody until somebody does";
    finding.command = removal;
  } else if (!reach.service_there) {
    finding.advice = "Make the Service again";
    finding.command = commands.print_to(manifest, "apply");
  } else if (!installation.has_flag(flag)) {
    finding.advice = "Start Hindsight with " + flag + "; or take away what asks it (" + removal + ")";
    const Json patch = Json::array({{{"op", "add"}, {"path", "/spec/template/spec/containers/0/args/-"}, {"value", flag}}});
    finding.command = commands.kubectl("patch " + installation.deployment_words() + " --type=json -p " + as_word(patch.dump()));
  } else if (installation.replicas() == 0) {
    finding.advice = "Hindsight is scaled to nothing: start it; or take away what asks it (" + removal + ")";
    finding.command = commands.kubectl("scale " + installation.deployment_words() + " --replicas=1");
  } else {
    finding.advice = "See why its pod is not ready, and what it says; or take away what asks it (" + removal + ")";
    finding.command = commands.kubectl("logs " + installation.deployment_words() + " --tail=50");
  }
}

}  // namespace hindsight::doctor

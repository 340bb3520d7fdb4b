#include "doctor/checks/certificates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "doctor/certificate.hpp"
#include "doctor/service_reach.hpp"
#include "operations/config_file.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

/// Certificates of ours are renewed with a third of their life left: with less than a tenth somebody has failed to.
constexpr std::int64_t lives_left_least = 10;
constexpr std::int64_t soon_seconds = 7 * 24 * 3600;  // of those that others make

std::string when_of(Time time) { return format_rfc3339(time); }

/// What of the dates is wrong; empty: nothing.
struct Verdict {
  Severity severity = Severity::error;
  std::string text;
};
Verdict judge_dates(const CertificateView& certificate, Time now) {
  if (now >= certificate.not_after)
    return {Severity::error, "it ended at " + when_of(certificate.not_after) + ", " + rough(now - certificate.not_after) + " ago"};
  if (now < certificate.not_before) return {Severity::error, "it begins at " + when_of(certificate.not_before) + " only"};
  const Duration life = certificate.not_after - certificate.not_before, left = certificate.not_after - now;
  if (left.micros < life.micros / lives_left_least && left < Duration::seconds(soon_seconds))
    return {Severity::warning, "it ends at " + when_of(certificate.not_after) + ", in " + rough(left) + ", and was not renewed"};
  return {Severity::note, ""};
}

void judge_secret(const SecretFacts& secret, Time now, Outcome& out, const Commands& commands) {
  const std::string object = "Secret " + secret.namespace_ + "/" + secret.name;
  const std::string anew = commands.kubectl(in_namespace(secret.namespace_) + " delete secret " + as_word(secret.name));
  const std::string advice =
      "Delete it: a running Hindsight makes a new one, and tells the API server whom to trust; a certificate of your own replace yourself";
  const auto say = [&](Severity severity, const std::string& found, const std::string& allowed) {
    out.add({severity, object, found, allowed, advice, anew});
  };
  if (secret.serving.empty()) return say(Severity::error, "tls.crt is empty", "a certificate in PEM");
  const auto serving = read_certificates(secret.serving);
  if (!serving) return say(Severity::error, "tls.crt: " + serving.error().message, "a certificate in PEM");
  const Verdict dates = judge_dates(serving->front(), now);
  if (!dates.text.empty())
    say(dates.severity, "tls.crt: " + dates.text, "a certificate that holds now, and is renewed with a third of its life left");
  const std::string name = secret.service + "." + secret.namespace_ + ".svc";
  if (secret.authorities.empty()) {
    if (std::find(serving->front().names.begin(), serving->front().names.end(), name) == serving->front().names.end())
      say(Severity::error, "tls.crt is made out to " + some_of(serving->front().names, 5), name + ", by which the API server calls");
    return;
  }
  const auto authorities = read_certificates(secret.authorities);
  if (!authorities) return say(Severity::error, "ca.crt: " + authorities.error().message, "certificates in PEM");
  const Verdict trust = judge_dates(authorities->front(), now);
  if (!trust.text.empty()) say(trust.severity, "ca.crt: " + trust.text, "an authority that holds now");
  if (dates.severity == Severity::error || trust.severity == Severity::error) return;
  if (const std::string why = refusal_of_certificate(secret.authorities, secret.serving, name, now); !why.empty())
    say(Severity::error, "the API server would refuse tls.crt: " + why + " (made out to " + some_of(serving->front().names, 5) + ")",
        "a certificate for " + name + " that ca.crt has signed");
}

void judge_bundle(const BundleFacts& bundle, const CertificatesFacts& facts, Outcome& out, const Commands& commands) {
  const auto authorities = read_certificates(bundle.authorities);
  if (!authorities) return;  // told where who is asked is looked at
  const auto say = [&](Severity severity, const std::string& found, const std::string& allowed) {
    out.add({severity, bundle.object, found, allowed,
             "A running Hindsight writes it anew within a minute; else take it away until there is one", commands.kubectl(bundle.removal)});
  };
  // The one that signs comes first; those before it follow for as long as somebody may still show their work.
  const Verdict dates = judge_dates(authorities->front(), facts.now);
  if (!dates.text.empty()) return say(dates.severity, "caBundle: " + dates.text, "an authority that holds now");
  for (const auto& secret : facts.secrets) {
    if (secret.name != bundle.shown_by || secret.serving.empty() || bundle.patch.empty()) continue;
    const std::string why =
        refusal_of_certificate(bundle.authorities, secret.serving, secret.service + "." + secret.namespace_ + ".svc", facts.now);
    // What is wrong with the certificate itself is told at its Secret.
    if (why.empty() || !refusal_of_certificate(secret.authorities, secret.serving, "", facts.now).empty()) continue;
    const Json patch = {{"spec", {{"caBundle", connectors::kubernetes::encode_base64(secret.authorities)}}}};
    out.add({Severity::error, bundle.object,
             "caBundle does not take the certificate of Secret " + secret.namespace_ + "/" + secret.name + ": " + why,
             "the authority that has signed it", "A running Hindsight writes it within a minute; by hand",
             commands.kubectl(bundle.patch + " -p " + as_word(patch.dump()))});
  }
}

void read_secret(ClusterReader& cluster, SecretFacts& secret) {
  const auto object = find(cluster, "/api/v1/namespaces/" + connectors::kubernetes::escape(secret.namespace_) + "/secrets/" +
                                        connectors::kubernetes::escape(secret.name));
  if (!object) {
    secret.unreadable = object.error().message;
    return;
  }
  if (!*object) return;
  secret.there = true;
  const Json& data = m::member(**object, "data");
  secret.serving = connectors::kubernetes::decode_base64(std::string(m::text(data, "tls.crt"))).value_or("");
  secret.authorities = connectors::kubernetes::decode_base64(std::string(m::text(data, "ca.crt"))).value_or("");
}

void take_bundle(const Json& client, std::string object, const SecretFacts& secret, std::string removal, std::string patch,
                 CertificatesFacts& facts) {
  const Callee callee = callee_of(client);
  if (callee.authorities.empty() || callee.service != secret.service || callee.namespace_ != secret.namespace_) return;
  facts.bundles.push_back({std::move(object), callee.authorities, secret.name, std::move(removal), std::move(patch)});
}

}  // namespace

SecretNames secret_names(const Context& context) {
  SecretNames out{names::webhook_secret, std::string(names::visibility_service) + "-cert"};
  if (const std::string service = context.installation.value_of("--visibility-service"); !service.empty())
    out.visibility = service + "-cert";
  operations::ConfigurationOptions options;
  options.own_namespace = context.installation.namespace_;
  const auto take = [&](const Result<operations::Configuration>& configuration) {
    // Who runs by hand need not have the names of deploy/.
    if (configuration && !configuration->webhook_secret.empty()) out.webhooks = configuration->webhook_secret;
  };
  if (!context.options.config.empty())
    take(operations::read_configuration_file(context.options.config, options));
  else if (!context.installation.configuration.empty())
    take(operations::read_configuration(context.installation.configuration, context.installation.configuration_map, options));
  return out;
}

Outcome judge_certificates(const CertificatesFacts& facts, const Commands& commands) {
  Outcome out;
  std::size_t seen = 0;
  std::vector<std::string> unreadable;
  Time first_end = Time::never();
  for (const auto& secret : facts.secrets) {
    if (!secret.unreadable.empty()) {
      if (secret.used) unreadable.push_back(secret.unreadable);
      continue;
    }
    if (!secret.there) {
      if (secret.used)
        out.add({Severity::note, "Secret " + secret.namespace_ + "/" + secret.name, "it is not there",
                 "the certificate by which " + secret.service +
                     " is known, unless it is kept in a folder (--webhook-cert-dir, --visibility-cert-dir)",
                 "Start Hindsight with --webhooks or --visibility, which makes it; see whether it runs",
                 commands.kubectl(in_namespace(secret.namespace_) + " get pods")});
      continue;
    }
    ++seen;
    judge_secret(secret, facts.now, out, commands);
    if (const auto serving = read_certificates(secret.serving))
      if (!first_end.is_set() || serving->front().not_after < first_end) first_end = serving->front().not_after;
  }
  for (const auto& bundle : facts.bundles) judge_bundle(bundle, facts, out, commands);
  if (!unreadable.empty() && seen == 0 && facts.bundles.empty()) return blind(unreadable.front());
  if (seen == 0 && facts.bundles.empty() && out.findings.empty())
    return skipped("there are no certificates: neither webhooks nor visibility are in use");
  if (!unreadable.empty())
    out.add({Severity::warning, "Secrets", "not all could be read: " + unreadable.front(), "the right to get them",
             "Look with an account that may", commands.kubectl("auth can-i get secrets")});
  out.summary = counted(seen, "certificate", "certificates") + ", " +
                counted(facts.bundles.size(), "bundle of authorities", "bundles of authorities");
  if (first_end.is_set()) out.summary += ", the first ends at " + when_of(first_end);
  return out;
}

Outcome examine_certificates(Context& context) {
  CertificatesFacts facts;
  const auto secrets = secret_names(context);
  std::string visibility_service = context.installation.value_of("--visibility-service");
  if (visibility_service.empty()) visibility_service = names::visibility_service;
  const std::string& home = context.installation.namespace_;
  SecretFacts webhooks{secrets.webhooks, home, names::webhook_service}, visibility{secrets.visibility, home, visibility_service};
  read_secret(*context.cluster, webhooks);
  read_secret(*context.cluster, visibility);
  webhooks.used = context.installation.has_flag("--webhooks");
  visibility.used = context.installation.has_flag("--visibility");
  facts.now = context.now();
  for (const auto& [kind, name, shown] :
       {std::tuple("mutatingwebhookconfigurations", names::mutating, "MutatingWebhookConfiguration "),
        std::tuple("validatingwebhookconfigurations", names::validating, "ValidatingWebhookConfiguration ")}) {
    const auto object = find(*context.cluster, std::string("/apis/admissionregistration.k8s.io/v1/") + kind + "/" + name);
    if (!object || !*object) continue;
    const Json& hooks = m::member(**object, "webhooks");
    if (!hooks.is_array() || hooks.empty()) continue;
    webhooks.used = webhooks.used || !callee_of(m::member(hooks.front(), "clientConfig")).service.empty();
    // All of them are written together.
    take_bundle(m::member(hooks.front(), "clientConfig"), std::string(shown) + name, webhooks, std::string("delete ") + kind + " " + name,
                "", facts);
  }
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const std::string name = std::string(version) + ".visibility.kueue.x-k8s.io";
    const auto object = find(*context.cluster, "/apis/apiregistration.k8s.io/v1/apiservices/" + name);
    if (!object || !*object) continue;
    visibility.used = true;
    take_bundle(m::member(**object, "spec"), "APIService " + name, visibility, "delete apiservice " + name,
                "patch apiservice " + name + " --type=merge", facts);
  }
  facts.secrets = {webhooks, visibility};
  return judge_certificates(facts, context.commands);
}

}  // namespace hindsight::doctor

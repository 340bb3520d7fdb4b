#include "doctor/checks/webhooks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "doctor/certificate.hpp"
#include "doctor/checks/certificates.hpp"
#include "doctor/manifests.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t configurations_max = 500;
constexpr std::size_t webhooks_max = 1000;
constexpr std::size_t webhooks_shown = 4;
constexpr std::int64_t patient_seconds = 15;

std::string kind_of(bool mutating) { return mutating ? "mutatingwebhookconfiguration" : "validatingwebhookconfiguration"; }

std::string object_of(const WebhookFacts& one) {
  return std::string(one.mutating ? "MutatingWebhookConfiguration " : "ValidatingWebhookConfiguration ") + one.configuration;
}

/// Whether a webhook is asked about what we look after.
bool concerns_us(const Json& webhook) {
  static const std::set<std::string, std::less<>> kinds{"jobs", "jobsets", "rayjobs", "rayclusters", "pods", "*"};
  static const std::set<std::string, std::less<>> groups{"batch", "jobset.x-k8s.io", "ray.io", "*"};
  const Json& rules = m::member(webhook, "rules");
  if (!rules.is_array()) return false;
  for (const auto& rule : rules) {
    bool group = false;
    for (const auto& one : m::member(rule, "apiGroups")) {
      if (!one.is_string()) continue;
      if (one.get<std::string>() == "kueue.x-k8s.io") return true;
      group = group || groups.contains(one.get<std::string>());
    }
    for (const auto& one : m::member(rule, "resources"))
      if (group && one.is_string() && kinds.contains(one.get<std::string>())) return true;
  }
  return false;
}

/// Those of one configuration that share what is wrong with them.
using Group = std::pair<std::pair<bool, std::string>, std::string>;  // mutating and configuration, what is wrong

std::string bundle_patch(const std::vector<const WebhookFacts*>& all, const std::string& authorities) {
  Json out = Json::array();
  const std::string bundle = connectors::kubernetes::encode_base64(authorities);
  for (const auto* one : all)
    out.push_back({{"op", "add"}, {"path", "/webhooks/" + std::to_string(one->index) + "/clientConfig/caBundle"}, {"value", bundle}});
  return out.dump();
}

std::string names_in(const std::vector<const WebhookFacts*>& all) {
  std::vector<std::string> texts;
  for (const auto* one : all) texts.push_back(one->name);
  return some_of(texts, webhooks_shown);
}

void judge_silence(const WebhooksFacts& facts, Outcome& out, const Commands& commands) {
  std::map<Group, std::vector<const WebhookFacts*>> silent;
  for (const auto& one : facts.all)
    if (const std::string why = unanswered(one.callee, one.reach); !why.empty())
      silent[{{one.mutating, one.configuration}, why}].push_back(&one);
  for (const auto& [group, all] : silent) {
    const auto& first = *all.front();
    const bool fails = std::any_of(all.begin(), all.end(), [](const auto* one) { return one->failure_policy != "Ignore"; });
    // From here it may look otherwise than from the API server.
    const bool certain = first.callee.url.empty();
    Finding finding{
        fails && certain ? Severity::error : Severity::warning,
        object_of(first),
        group.second + "; asked by " + names_in(all) +
            (fails ? ": with failurePolicy Fail what they are asked about is refused" : ": with failurePolicy Ignore nobody judges it"),
        "somebody who answers",
        "",
        ""};
    advise_on_silence(finding, first.callee, first.reach, facts.installation, "--webhooks", "webhooks",
                      commands.kubectl("delete " + kind_of(first.mutating) + " " + as_word(first.configuration)), commands);
    out.add(std::move(finding));
  }
}

void judge_trust(const WebhooksFacts& facts, Outcome& out, const Commands& commands) {
  std::map<Group, std::vector<const WebhookFacts*>> wrong;
  for (const auto& one : facts.all) {
    std::string what;
    if (one.callee.bundle_unreadable) {
      what = "caBundle is not base64";
    } else if (!one.callee.authorities.empty() && !read_certificates(one.callee.authorities)) {
      what = "caBundle holds no certificate that can be read";
    } else if (one.ours && one.callee.url.empty() && one.callee.authorities.empty()) {
      what = "caBundle is empty: the API server trusts nobody there";
    } else if (one.ours && facts.secret_there && !facts.secret_authorities.empty() && !one.callee.authorities.empty() &&
               !same_authorities(one.callee.authorities, facts.secret_authorities)) {
      what = "caBundle is not the authority of Secret " + facts.installation.namespace_ + "/" + facts.secret;
    }
    if (!what.empty()) wrong[{{one.mutating, one.configuration}, what}].push_back(&one);
  }
  for (const auto& [group, all] : wrong) {
    const auto& first = *all.front();
    Finding finding{Severity::error,
                    object_of(first),
                    group.second + " (" + names_in(all) + ")",
                    "the authority that has signed the certificate which is shown",
                    "",
                    ""};
    if (first.ours && facts.secret_there && !facts.secret_authorities.empty()) {
      finding.advice = "A running Hindsight with --webhooks writes it within a minute; by hand";
      finding.command = commands.kubectl("patch " + kind_of(first.mutating) + " " + as_word(first.configuration) + " --type=json -p " +
                                         as_word(bundle_patch(all, facts.secret_authorities)));
    } else {
      finding.advice = first.ours ? "Start Hindsight with --webhooks, which writes it; until then let the API server ask nobody"
                                  : "Have its owner write it; or let the API server ask nobody";
      finding.command = commands.kubectl("delete " + kind_of(first.mutating) + " " + as_word(first.configuration));
    }
    out.add(std::move(finding));
  }
}

void judge_settings(const WebhooksFacts& facts, Outcome& out, const Commands& commands) {
  std::map<std::pair<bool, std::string>, std::vector<const WebhookFacts*>> ignored, slow;
  for (const auto& one : facts.all) {
    if (one.ours && one.failure_policy == "Ignore") ignored[{one.mutating, one.configuration}].push_back(&one);
    if (one.failure_policy != "Ignore" && one.timeout_seconds > patient_seconds) slow[{one.mutating, one.configuration}].push_back(&one);
  }
  for (const auto& [key, all] : ignored)
    out.add({Severity::warning, object_of(*all.front()),
             names_in(all) +
                 " have failurePolicy Ignore: while nobody answers, jobs start before they are suspended, and nobody judges objects",
             "Fail, as in deploy/webhooks.yaml", "Apply what deploy/ has", commands.print_to("webhooks", "apply")});
  for (const auto& [key, all] : slow) {
    const auto& first = *all.front();
    Json patch = Json::array();
    for (const auto* one : all)
      patch.push_back({{"op", "replace"}, {"path", "/webhooks/" + std::to_string(one->index) + "/timeoutSeconds"}, {"value", 10}});
    out.add({Severity::warning, object_of(first),
             names_in(all) + " may take " + std::to_string(first.timeout_seconds) + " s: so long every write waits when nobody answers",
             "at most " + std::to_string(patient_seconds) + " s with failurePolicy Fail; deploy/ has 10 s", "Shorten it",
             commands.kubectl("patch " + kind_of(first.mutating) + " " + as_word(first.configuration) + " --type=json -p " +
                              as_word(patch.dump()))});
  }
}

}  // namespace

bool same_authorities(const std::string& a, const std::string& b) {
  const auto prints = [](const std::string& pem) {
    std::set<std::string> out;
    if (const auto all = read_certificates(pem))
      for (const auto& one : *all) out.insert(one.fingerprint);
    return out;
  };
  return prints(a) == prints(b);
}

Outcome judge_webhooks(const WebhooksFacts& facts, const Commands& commands) {
  const auto ours = static_cast<std::size_t>(std::count_if(facts.all.begin(), facts.all.end(), [](const auto& one) { return one.ours; }));
  if (facts.all.empty() && !facts.installation.has_flag("--webhooks")) return skipped("no webhook is asked about jobs or queues");
  Outcome out;
  if (ours == 0 && facts.installation.has_flag("--webhooks"))
    out.add({Severity::error, "Deployment " + facts.installation.namespace_ + "/" + facts.installation.deployment,
             "it serves webhooks (--webhooks), and no configuration has the API server ask them",
             "the configurations of deploy/webhooks.yaml", "Make them", commands.print_to("webhooks", "apply")});
  if (ours > 0 && !facts.missing_names.empty())
    out.add({Severity::error, "webhooks of Hindsight", "not there: " + facts.missing_names, "all of deploy/webhooks.yaml", "Make them",
             commands.print_to("webhooks", "apply")});
  judge_silence(facts, out, commands);
  judge_trust(facts, out, commands);
  judge_settings(facts, out, commands);
  std::vector<std::string> unknown;
  for (const auto& one : facts.all)
    if (!one.reach.known && std::find(unknown.begin(), unknown.end(), one.reach.why) == unknown.end()) unknown.push_back(one.reach.why);
  if (!unknown.empty())
    out.add({Severity::warning, "webhooks", "who answers could not be looked at: " + some_of(unknown, 2),
             "the right to read Services and EndpointSlices", "Look with an account that may",
             commands.kubectl("auth can-i list endpointslices.discovery.k8s.io -A")});
  out.summary = counted(ours, "webhook", "webhooks") + " of ours, " + std::to_string(facts.all.size() - ours) + " of others";
  return out;
}

Outcome examine_webhooks(Context& context) {
  WebhooksFacts facts;
  facts.installation = context.installation;
  std::set<std::string> wanted;
  for (const auto& object : manifest_objects("webhooks"))
    if (const Json& hooks = m::member(object, "webhooks"); hooks.is_array())
      for (const auto& hook : hooks) wanted.insert(std::string(m::text(hook, "name")));
  std::vector<std::pair<Callee, Reach>> seen;
  for (const bool mutating : {true, false}) {
    const auto found = list(*context.cluster, "/apis/admissionregistration.k8s.io/v1/" + kind_of(mutating) + "s", "", configurations_max);
    if (!found) return blind(found.error().message);
    for (const auto& configuration : found->items) {
      const std::string name(m::text(m::member(configuration, "metadata"), "name"));
      const bool ours = name == (mutating ? names::mutating : names::validating);
      const Json& hooks = m::member(configuration, "webhooks");
      if (!hooks.is_array()) continue;
      for (std::size_t i = 0; i < hooks.size() && facts.all.size() < webhooks_max; ++i) {
        const Json& hook = hooks[i];
        if (!ours && !concerns_us(hook)) continue;
        WebhookFacts one;
        one.mutating = mutating;
        one.configuration = name;
        one.name = std::string(m::text(hook, "name"));
        one.index = i;
        one.ours = ours;
        one.failure_policy = std::string(m::text(hook, "failurePolicy"));
        one.timeout_seconds = m::number(hook, "timeoutSeconds").value_or(10);
        one.callee = callee_of(m::member(hook, "clientConfig"));
        const auto same = [&](const auto& pair) {
          return pair.first.url == one.callee.url && pair.first.service == one.callee.service &&
                 pair.first.namespace_ == one.callee.namespace_;
        };
        auto known = std::find_if(seen.begin(), seen.end(), same);
        if (known == seen.end()) {
          seen.emplace_back(one.callee, look_behind(*context.cluster, one.callee, context.options.timeout / 4));
          known = std::prev(seen.end());
        }
        one.reach = known->second;
        if (ours) wanted.erase(one.name);
        facts.all.push_back(std::move(one));
      }
    }
  }
  for (const auto& name : wanted) facts.missing_names += (facts.missing_names.empty() ? "" : ", ") + name;
  facts.secret = secret_names(context).webhooks;
  const auto secret = find(*context.cluster, "/api/v1/namespaces/" + connectors::kubernetes::escape(context.installation.namespace_) +
                                                 "/secrets/" + connectors::kubernetes::escape(facts.secret));
  if (secret && *secret) {
    facts.secret_there = true;
    const auto decoded = connectors::kubernetes::decode_base64(std::string(m::text(m::member(**secret, "data"), "ca.crt")));
    if (decoded) facts.secret_authorities = *decoded;
  }
  return judge_webhooks(facts, context.commands);
}

}  // namespace hindsight::doctor

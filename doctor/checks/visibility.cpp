#include "doctor/checks/visibility.hpp"

#include <algorithm>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

}  // namespace

Outcome judge_visibility(const VisibilityFacts& facts, const Commands& commands) {
  const bool served = facts.installation.has_flag("--visibility");
  if (facts.all.empty()) {
    if (!served) return skipped("the visibility API is not in use");
    Outcome out;
    out.add({Severity::error, "APIService v1beta2.visibility.kueue.x-k8s.io", "it is not there, and Hindsight serves it (--visibility)",
             "the objects of deploy/visibility.yaml", "Make them", commands.print_to("visibility", "apply")});
    out.summary = "not registered";
    return out;
  }
  Outcome out;
  std::vector<const ApiServiceFacts*> away;
  for (const auto& one : facts.all)
    if (!one.available) away.push_back(&one);
  if (!away.empty()) {
    const auto& first = *away.front();
    std::vector<std::string> all_names;
    std::string removal = "delete apiservice";
    for (const auto* one : away) {
      all_names.push_back(one->name);
      removal += " " + as_word(one->name);
    }
    Finding finding{Severity::error,
                    "APIService " + some_of(all_names, 4),
                    "not available: " + (first.reason.empty() ? std::string("nobody has looked yet") : first.reason + ": " + first.message),
                    "Available: while one is not, kubectl api-resources fails in part, and namespaces cannot be deleted",
                    "",
                    ""};
    advise_on_silence(finding, first.callee, first.reach, facts.installation, "--visibility", "visibility", commands.kubectl(removal),
                      commands);
    out.add(std::move(finding));
  }
  for (const auto& one : facts.all)
    if (one.callee.authorities.empty() && one.available == false && !one.callee.service.empty() && served)
      out.add({Severity::warning, "APIService " + one.name, "caBundle is empty: the API server trusts nobody there",
               "the authority of the certificate that is shown", "A running Hindsight with --visibility writes it, if it has the rights",
               commands.print_to("visibility", "apply")});
  out.summary =
      std::to_string(facts.all.size() - away.size()) + " of " + counted(facts.all.size(), "APIService", "APIServices") + " available";
  return out;
}

Outcome examine_visibility(Context& context) {
  VisibilityFacts facts;
  facts.installation = context.installation;
  for (const char* version : {"v1beta2", "v1beta1"}) {
    const std::string name = std::string(version) + ".visibility.kueue.x-k8s.io";
    const auto object = find(*context.cluster, "/apis/apiregistration.k8s.io/v1/apiservices/" + name);
    if (!object) return blind(object.error().message);
    if (!*object) continue;
    ApiServiceFacts one;
    one.name = name;
    const Json& status = m::member(**object, "status");
    one.available = m::condition_is(status, "Available");
    one.reason = std::string(m::text(m::condition(status, "Available"), "reason"));
    one.message = std::string(m::text(m::condition(status, "Available"), "message"));
    one.callee = callee_of(m::member(**object, "spec"));
    if (!one.available && !one.callee.service.empty()) one.reach = look_behind(*context.cluster, one.callee, context.options.timeout / 4);
    facts.all.push_back(std::move(one));
  }
  return judge_visibility(facts, context.commands);
}

}  // namespace hindsight::doctor

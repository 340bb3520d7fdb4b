#include "doctor/checks/server.hpp"

#include <charconv>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

constexpr int least_minor = 31;
constexpr std::size_t groups_shown = 5;

/// The digits at the beginning: "31+" of some providers is 31. Below 0: there are none.
int leading_number(const std::string& text) {
  int out = -1;
  (void)std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

Outcome judge_server(const ServerFacts& facts, const Commands& commands) {
  Outcome out;
  const std::string object = "API server " + facts.address;
  if (!facts.unreachable.empty()) {
    out = blind(facts.unreachable);
    out.add({Severity::error, object, facts.unreachable, facts.refuses_us ? "credentials that it knows" : "an API server that answers",
             facts.refuses_us ? "See who you are to it, and log in again" : "See whether kubectl reaches it with the same kubeconfig",
             commands.kubectl(facts.refuses_us ? "auth whoami" : "get --raw /version")});
    return out;
  }
  const int major = leading_number(facts.major), minor = leading_number(facts.minor);
  if (major == 1 && minor >= 0 && minor < least_minor)
    out.add({Severity::error, object, "version " + facts.version, "1.31 or later: older ones know no selectable fields in definitions",
             "Upgrade the control plane of the cluster, one minor version after the other; see what runs now",
             commands.kubectl("version")});
  out.summary = facts.address + ", " + (facts.version.empty() ? "version unknown" : facts.version);
  if (!facts.user.empty()) {
    out.summary += ", as " + facts.user;
    if (!facts.groups.empty()) out.summary += " (" + some_of(facts.groups, groups_shown) + ")";
  }
  return out;
}

Outcome examine_server(Context& context) {
  namespace m = connectors::manifests;
  ServerFacts facts;
  if (context.cluster == nullptr) {
    facts.address = "(none)";
    facts.unreachable = context.no_cluster;
    return judge_server(facts, context.commands);
  }
  facts.address = context.cluster->server();
  const auto version = context.cluster->get("/version");
  if (!version) {
    facts.unreachable = version.error().message;
    facts.refuses_us = version.error().kind == ErrorKind::denied;
    return judge_server(facts, context.commands);
  }
  facts.version = std::string(m::text(*version, "gitVersion"));
  facts.major = std::string(m::text(*version, "major"));
  facts.minor = std::string(m::text(*version, "minor"));
  const Json who = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
  const auto answers = context.cluster->review("/apis/authentication.k8s.io/v1/selfsubjectreviews", std::vector<Json>{who});
  if (const auto& review = answers.front(); review) {
    const Json& info = m::member(m::member(*review, "status"), "userInfo");
    facts.user = std::string(m::text(info, "username"));
    if (const Json& groups = m::member(info, "groups"); groups.is_array())
      for (const auto& group : groups)
        if (group.is_string()) facts.groups.push_back(group.get<std::string>());
  } else if (review.error().kind == ErrorKind::denied) {
    facts.unreachable = review.error().message;
    facts.refuses_us = true;
  }
  return judge_server(facts, context.commands);
}

}  // namespace hindsight::doctor

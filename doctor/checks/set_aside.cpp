#include "doctor/checks/set_aside.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "connectors/manifests/json_views.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::string_view mark = "Set aside: ";
constexpr std::size_t why_bytes_max = 300;

/// What a condition says of it; empty: it was not set aside.
std::string why_set_aside(const Json& object, std::string_view type) {
  const auto message = m::text(m::condition(m::member(object, "status"), type), "message");
  const auto at = message.find(mark);
  return at == std::string_view::npos ? std::string() : cut_message(message.substr(at + mark.size()), why_bytes_max);
}

}  // namespace

Outcome judge_set_aside(const SetAsidesFacts& facts, const Commands& commands) {
  Outcome out;
  for (const auto& one : facts.all) {
    const std::string at = one.namespace_.empty() ? std::string() : in_namespace(one.namespace_) + " ";
    out.add({Severity::warning, one.kind + " " + (one.namespace_.empty() ? "" : one.namespace_ + "/") + one.name,
             "it was set aside: " + one.why, "objects within the limits of docs/limits.md, as their definitions have them",
             "Correct it: with the next version that can be read it is taken again",
             commands.kubectl(at + "edit " + as_word(one.kind) + " " + as_word(one.name))});
  }
  if (!facts.unknown.empty() && facts.looked_at == 0) return blind(facts.unknown);
  out.summary = counted(facts.all.size(), "object is set aside", "objects are set aside") + " of the " + std::to_string(facts.looked_at) +
                (facts.complete ? "" : " first") + " that were looked at";
  return out;
}

Outcome examine_set_aside(Context& context) {
  SetAsidesFacts facts;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  const auto add = [&](std::string kind, std::string namespace_, std::string name, std::string why) {
    if (seen.emplace(kind, namespace_, name).second)
      facts.all.push_back({std::move(kind), std::move(namespace_), std::move(name), std::move(why)});
  };
  for (const auto& [plural, kind, type] : {std::tuple("workloads", "workload.kueue.x-k8s.io", "QuotaReserved"),
                                           std::tuple("clusterqueues", "clusterqueue.kueue.x-k8s.io", "Active"),
                                           std::tuple("localqueues", "localqueue.kueue.x-k8s.io", "Active")}) {
    const auto found = list(*context.cluster, std::string("/apis/kueue.x-k8s.io/v1beta2/") + plural, "", context.options.objects_max);
    if (!found) {
      if (found.error().kind != ErrorKind::not_found) facts.unknown = found.error().message;
      continue;
    }
    facts.complete = facts.complete && found->complete;
    facts.looked_at += found->items.size();
    for (const auto& object : found->items) {
      const std::string why = why_set_aside(object, type);
      const Json& meta = m::member(object, "metadata");
      if (!why.empty()) add(kind, std::string(m::text(meta, "namespace")), std::string(m::text(meta, "name")), why);
    }
  }
  // Kinds without such a condition tell of it by Events, which the API server keeps for an hour.
  const auto events = list(*context.cluster, "/api/v1/events", "fieldSelector=reason%3DQuarantined", context.options.objects_max);
  if (events) {
    for (const auto& event : events->items) {
      const Json& about = m::member(event, "involvedObject");
      std::string kind(m::text(about, "kind"));
      for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      const auto version = m::text(about, "apiVersion");
      if (const auto slash = version.find('/'); slash != std::string_view::npos) kind += "." + std::string(version.substr(0, slash));
      add(std::move(kind), std::string(m::text(about, "namespace")), std::string(m::text(about, "name")),
          cut_message(m::text(event, "message"), why_bytes_max) + " (told within the last hour)");
    }
  }
  return judge_set_aside(facts, context.commands);
}

}  // namespace hindsight::doctor

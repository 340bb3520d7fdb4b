#include "doctor/checks/rights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "connectors/manifests/json_views.hpp"
#include "doctor/manifests.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t rights_shown = 8;
constexpr const char* core_roles = "rbac";

/// Texts of a list.
std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> out;
  if (list.is_array())
    for (const auto& one : list)
      if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

bool names_our_account(const Json& binding) {
  const Json& subjects = m::member(binding, "subjects");
  return subjects.is_array() && std::any_of(subjects.begin(), subjects.end(), [](const Json& one) {
           return m::text(one, "kind") == "ServiceAccount" && m::text(one, "name") == names::account;
         });
}

void take_rule(const Json& rule, const std::string& namespace_, std::set<Right>& out) {
  auto objects = texts_of(m::member(rule, "resourceNames"));
  if (objects.empty()) objects.emplace_back();
  for (const auto& group : texts_of(m::member(rule, "apiGroups")))
    for (const auto& resource : texts_of(m::member(rule, "resources")))
      for (const auto& verb : texts_of(m::member(rule, "verbs")))
        for (const auto& object : objects) {
          const auto slash = resource.find('/');
          out.insert({group, resource.substr(0, slash), slash == std::string::npos ? std::string() : resource.substr(slash + 1), verb,
                      object, namespace_});
        }
}

Json review_of(const Right& right, const std::string& user, const std::vector<std::string>& groups) {
  Json attributes = {{"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  if (!right.name.empty()) attributes["name"] = right.name;
  if (!right.namespace_.empty()) attributes["namespace"] = right.namespace_;
  Json spec = {{"resourceAttributes", std::move(attributes)}};
  if (!user.empty()) {
    spec["user"] = user;
    spec["groups"] = groups;
  }
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", user.empty() ? "SelfSubjectAccessReview" : "SubjectAccessReview"},
          {"spec", std::move(spec)}};
}

/// What nothing of ours needs, and what would be worth much to a thief.
std::vector<Right> powers() {
  return {{"*", "*", "", "*", "", ""},
          {"", "secrets", "", "list", "", ""},
          {"", "pods", "", "create", "", ""},
          {"", "pods", "exec", "create", "", ""},
          {"", "nodes", "", "patch", "", ""},
          {"", "users", "", "impersonate", "", ""},
          {"rbac.authorization.k8s.io", "clusterroles", "", "escalate", "", ""},
          {"rbac.authorization.k8s.io", "clusterrolebindings", "", "create", "", ""}};
}

/// When a cluster does well without this right.
std::string when_not_needed(const Right& right, const std::set<std::string>& groups_absent) {
  if (groups_absent.contains(right.group)) return "the cluster serves nothing of " + right.group;
  if (right.verb == "delete" && right.resource != "workloads") return "objectRetentionPolicies does not delete deactivated jobs";
  if (right.subresource == "finalizers") return "the API server has no admission plugin OwnerReferencesPermissionEnforcement";
  if (right.resource == "jobs" && right.subresource == "status") return "the API server is 1.36 or later";
  return {};
}

/// Who only looks on writes nothing and holds no lease.
bool is_needed_to_observe(const Right& right) {
  return right.namespace_.empty() && (right.verb == "get" || right.verb == "list" || right.verb == "watch");
}

/// Roles and bindings that give these, as one text for kubectl.
std::string roles_with(const std::vector<Right>& rights, const Json& subject) {
  std::map<std::string, Json> rules;  // by namespace; "": of the cluster
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<std::string>> verbs;
  for (const auto& right : rights)
    verbs[{right.namespace_, right.group, right.subresource.empty() ? right.resource : right.resource + "/" + right.subresource,
           right.name}]
        .push_back(right.verb);
  for (const auto& [key, all] : verbs) {
    const auto& [namespace_, group, resource, name] = key;
    Json rule = {{"apiGroups", Json::array({group})}, {"resources", Json::array({resource})}, {"verbs", all}};
    if (!name.empty()) rule["resourceNames"] = Json::array({name});
    Json& list = rules[namespace_];
    if (list.is_null()) list = Json::array();
    list.push_back(std::move(rule));
  }
  Json items = Json::array();
  const std::string api = "rbac.authorization.k8s.io", role_name = "hindsight-doctor";
  for (auto& [namespace_, list] : rules) {
    const bool cluster = namespace_.empty();
    Json meta = {{"name", role_name}};
    if (!cluster) meta["namespace"] = namespace_;
    items.push_back(
        {{"apiVersion", api + "/v1"}, {"kind", cluster ? "ClusterRole" : "Role"}, {"metadata", meta}, {"rules", std::move(list)}});
    items.push_back({{"apiVersion", api + "/v1"},
                     {"kind", cluster ? "ClusterRoleBinding" : "RoleBinding"},
                     {"metadata", meta},
                     {"roleRef", {{"apiGroup", api}, {"kind", cluster ? "ClusterRole" : "Role"}, {"name", role_name}}},
                     {"subjects", Json::array({subject})}});
  }
  return Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Which manifests of deploy/ are in use.
std::vector<std::string> manifests_in_use(Context& context) {
  std::vector<std::string> out{core_roles};
  const auto is_there = [&](const std::string& path) {
    const auto object = find(*context.cluster, path);
    return object && object->has_value();
  };
  const auto& installation = context.installation;
  if (installation.has_flag("--metrics")) out.emplace_back("metrics");
  if (installation.has_flag("--webhooks") ||
      is_there("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + std::string(names::mutating)))
    out.emplace_back("webhooks");
  if (installation.has_flag("--visibility") || is_there("/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io"))
    out.emplace_back("visibility");
  return out;
}

/// Groups of other projects that this cluster does not serve.
std::set<std::string> guests_absent(ClusterReader& cluster) {
  std::set<std::string> out;
  for (const char* group : {"jobset.x-k8s.io", "ray.io"}) {
    const auto found = find(cluster, "/apis/" + std::string(group));
    if (found && !found->has_value()) out.insert(group);
  }
  return out;
}

struct Subject {
  RightsFacts::Who who = RightsFacts::Who::account;
  std::string text, user;  // user: empty for ourselves
  std::vector<std::string> groups;
  Json rbac;
  std::string account_namespace;
};

Subject service_account(const std::string& namespace_, const std::string& name) {
  Subject out;
  out.who = namespace_ == names::namespace_ && name == names::account ? RightsFacts::Who::account : RightsFacts::Who::other;
  out.text = "ServiceAccount " + namespace_ + "/" + name;
  out.user = "system:serviceaccount:" + namespace_ + ":" + name;
  out.groups = {"system:serviceaccounts", "system:serviceaccounts:" + namespace_, "system:authenticated"};
  out.rbac = {{"kind", "ServiceAccount"}, {"name", name}, {"namespace", namespace_}};
  out.account_namespace = namespace_;
  return out;
}

/// Ourselves: asked by reviews of our own rights.
Result<Subject> ourselves(ClusterReader& cluster) {
  const Json who = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
  const auto answers = cluster.review("/apis/authentication.k8s.io/v1/selfsubjectreviews", std::vector<Json>{who});
  if (!answers.front()) return tl::unexpected(answers.front().error());
  const std::string user(m::text(m::member(m::member(*answers.front(), "status"), "userInfo"), "username"));
  constexpr std::string_view begin = "system:serviceaccount:";
  if (user.starts_with(begin)) {
    const auto colon = user.find(':', begin.size());
    if (colon != std::string::npos) {
      Subject out = service_account(user.substr(begin.size(), colon - begin.size()), user.substr(colon + 1));
      out.user.clear();
      return out;
    }
  }
  Subject out;
  out.who = RightsFacts::Who::other;
  out.text = "user " + user;
  out.rbac = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", user}};
  return out;
}

Result<Subject> subject_of(Context& context) {
  const std::string& account = context.options.account;
  if (!account.empty()) {
    const auto slash = account.find('/');
    return service_account(account.substr(0, slash), account.substr(slash + 1));
  }
  if (!context.options.own_rights && context.installation.deployed())
    return service_account(context.installation.namespace_, context.installation.account);
  return ourselves(*context.cluster);
}

}  // namespace

std::string Right::text() const {
  std::string out = verb + " " + resource;
  if (!subresource.empty()) out += "/" + subresource;
  if (!group.empty()) out += "." + group;
  if (!name.empty()) out += " " + name;
  if (!namespace_.empty()) out += " in " + namespace_;
  return out;
}

std::vector<Right> rights_of(const std::vector<Json>& manifests) {
  std::set<std::tuple<std::string, std::string, std::string>> bound;  // kind, name, namespace
  std::set<Right> out;
  for (const auto& object : manifests) {
    if (!m::text(object, "kind").ends_with("RoleBinding") || !names_our_account(object)) continue;
    const Json& role = m::member(object, "roleRef");
    const std::string namespace_(m::text(m::member(object, "metadata"), "namespace"));
    bound.insert({std::string(m::text(role, "kind")), std::string(m::text(role, "name")), namespace_});
    // The API server brings this role along: it may read one ConfigMap.
    if (m::text(role, "name") == "extension-apiserver-authentication-reader")
      out.insert({"", "configmaps", "", "get", "extension-apiserver-authentication", namespace_});
  }
  for (const auto& object : manifests) {
    const Json& meta = m::member(object, "metadata");
    const std::string namespace_(m::text(meta, "namespace"));
    if (!bound.contains({std::string(m::text(object, "kind")), std::string(m::text(meta, "name")), namespace_})) continue;
    const Json& rules = m::member(object, "rules");
    if (!rules.is_array()) continue;
    for (const auto& rule : rules) take_rule(rule, namespace_, out);
  }
  return {out.begin(), out.end()};
}

Outcome judge_rights(const RightsFacts& facts, const Commands& commands) {
  Outcome out;
  std::map<std::string, std::vector<Right>> missing;                // by manifest
  std::map<std::string, std::vector<std::string>> missing_perhaps;  // by when they are not needed
  std::map<std::string, std::string> perhaps_manifest;
  std::size_t allowed = 0;
  for (const auto& asked : facts.needed) {
    if (asked.allowed) {
      ++allowed;
    } else if (asked.not_always.empty()) {
      missing[asked.manifest].push_back(asked.right);
    } else {
      missing_perhaps[asked.not_always].push_back(asked.right.text());
      perhaps_manifest[asked.not_always] = asked.manifest;
    }
  }
  // Of somebody else all rights are in the roles, so that what they gave before is not taken away by what they give now.
  std::vector<Right> all;
  if (facts.who == RightsFacts::Who::other)
    for (const auto& asked : facts.needed) all.push_back(asked.right);
  const std::string roles = all.empty() ? std::string() : commands.apply_text(roles_with(all, facts.rbac_subject));
  const auto repair = [&](const std::string& manifest) { return roles.empty() ? commands.print_to(manifest, "apply") : roles; };
  for (const auto& [manifest, rights] : missing) {
    std::vector<std::string> texts;
    for (const auto& right : rights) texts.push_back(right.text());
    out.add({Severity::error, facts.subject, "may not " + some_of(texts, rights_shown), "all rights of deploy/" + manifest + ".yaml",
             "Give it these rights", repair(manifest)});
  }
  for (const auto& [when, texts] : missing_perhaps) {
    const bool foreign = when.starts_with("the cluster serves");
    out.add({foreign ? Severity::note : Severity::warning, facts.subject, "may not " + some_of(texts, rights_shown),
             "all rights of deploy/" + perhaps_manifest[when] + ".yaml; these are not needed as long as " + when, "Give it these rights",
             repair(perhaps_manifest[when])});
  }
  if (!facts.beyond.empty())
    out.add({Severity::note, facts.subject, "may also " + some_of(facts.beyond, rights_shown), "the rights of deploy/ and no more",
             "Find the binding that gives this, and take it away; with the service account of deploy/rbac.yaml there is none",
             commands.kubectl("get clusterrolebindings,rolebindings -A -o wide")});
  if (!facts.unknown.empty() && facts.needed.empty()) return blind(facts.unknown);
  if (!facts.unknown.empty())
    out.add({Severity::warning, facts.subject, "not all rights could be asked for: " + facts.unknown, "answers to all reviews",
             "Look with an account that may create SubjectAccessReviews", commands.kubectl("auth can-i create subjectaccessreviews")});
  out.summary = facts.subject + " has " + std::to_string(allowed) + " of " + counted(facts.needed.size(), "right", "rights");
  return out;
}

Outcome examine_rights(Context& context) {
  auto subject = subject_of(context);
  if (!subject) return blind(subject.error().message);
  RightsFacts facts;
  facts.who = subject->who;
  facts.subject = subject->text;
  facts.rbac_subject = subject->rbac;
  const auto absent = guests_absent(*context.cluster);
  const std::string home = subject->account_namespace.empty() ? context.installation.namespace_ : subject->account_namespace;
  const bool observes = context.installation.has_flag("--observe");
  std::vector<Json> reviews;
  for (const auto& manifest : manifests_in_use(context)) {
    for (auto right : rights_of(manifest_objects(manifest))) {
      if (observes && !is_needed_to_observe(right)) continue;
      if (right.namespace_ == names::namespace_) right.namespace_ = home;
      std::string when = when_not_needed(right, absent);
      facts.needed.push_back({std::move(right), manifest, false, std::move(when)});
    }
  }
  for (const auto& asked : facts.needed) reviews.push_back(review_of(asked.right, subject->user, subject->groups));
  const auto extra = powers();
  for (const auto& right : extra) reviews.push_back(review_of(right, subject->user, subject->groups));
  const auto answers = context.cluster->review(
      std::string("/apis/authorization.k8s.io/v1/") + (subject->user.empty() ? "selfsubjectaccessreviews" : "subjectaccessreviews"),
      reviews);
  std::vector<RightsFacts::Asked> known;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) {
      if (facts.unknown.empty()) facts.unknown = answers[i].error().message;
      continue;
    }
    const bool allowed = m::flag(m::member(*answers[i], "status"), "allowed");
    if (i < facts.needed.size()) {
      facts.needed[i].allowed = allowed;
      known.push_back(std::move(facts.needed[i]));
    } else if (allowed && (facts.beyond.empty() || facts.beyond.front() != "do everything")) {
      const Right& right = extra[i - facts.needed.size()];
      facts.beyond.push_back(right.verb == "*" ? "do everything" : right.text());
    }
  }
  facts.needed = std::move(known);
  return judge_rights(facts, context.commands);
}

}  // namespace hindsight::doctor

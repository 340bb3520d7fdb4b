#include "doctor/checks/definitions.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "connectors/manifests/json_views.hpp"
#include "doctor/manifests.hpp"
#include "runtime/release.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t differences_max = 2000;
constexpr std::size_t differences_shown = 4;
constexpr std::size_t value_bytes_max = 60;
constexpr const char* definitions_path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* validating_path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/";
/// What of a version is compared, beside its schema.
constexpr const char* parts_of_version[] = {"schema", "subresources", "selectableFields", "additionalPrinterColumns",
                                            "served", "storage",      "deprecated"};

std::string shown_value(const Json& value) {
  return cut_message(value.dump(-1, ' ', false, Json::error_handler_t::replace), value_bytes_max);
}

/// Walks two trees. Members of `properties` are fields of objects; the path leaves the words of the schema out.
class Comparison {
 public:
  Comparison(std::vector<SchemaDifference>& out, std::size_t max) : out_(out), max_(max) {}

  void compare(const Json& wanted, const Json& found, const std::string& path, bool members_are_fields) {
    if (out_.size() >= max_ || wanted == found) return;
    if (!wanted.is_object() || !found.is_object()) {
      if (wanted.is_array() && found.is_array() && compare_lists(wanted, found, path)) return;
      return add({SchemaDifference::Kind::other, path, shown_value(found), shown_value(wanted), false});
    }
    for (const auto& [key, value] : wanted.items()) {
      if (key == "description" && !members_are_fields) continue;
      const auto it = found.find(key);
      if (it == found.end())
        add({SchemaDifference::Kind::missing, below(path, key, members_are_fields), "nothing", shown_value(value), members_are_fields});
      else
        compare(value, *it, below(path, key, members_are_fields), !members_are_fields && key == "properties");
    }
    for (const auto& [key, value] : found.items())
      if (!wanted.contains(key) && !(key == "description" && !members_are_fields))
        add({SchemaDifference::Kind::extra, below(path, key, members_are_fields), shown_value(value), "nothing", members_are_fields});
  }

 private:
  static std::string below(const std::string& path, const std::string& key, bool is_field) {
    if (!is_field && (key == "properties" || key == "openAPIV3Schema" || key == "schema")) return path;
    if (!is_field && key == "items") return path + "[]";
    return path.empty() || path.ends_with(": ") ? path + key : path + "." + key;
  }

  /// Of lists of the same length with objects in them; otherwise the lists as wholes differ.
  bool compare_lists(const Json& wanted, const Json& found, const std::string& path) {
    if (wanted.size() != found.size() || wanted.empty() || !wanted.front().is_object()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) compare(wanted[i], found[i], path + "[" + std::to_string(i) + "]", false);
    return true;
  }

  void add(SchemaDifference difference) {
    if (out_.size() < max_) out_.push_back(std::move(difference));
  }

  std::vector<SchemaDifference>& out_;
  const std::size_t max_;
};

const Json& version_of(const Json& definition, std::string_view name) {
  static const Json none;
  const Json& versions = m::member(m::member(definition, "spec"), "versions");
  if (versions.is_array())
    for (const auto& one : versions)
      if (m::text(one, "name") == name) return one;
  return none;
}

std::string name_of(const Json& object) { return std::string(m::text(m::member(object, "metadata"), "name")); }

std::string text_of(const SchemaDifference& one) {
  switch (one.kind) {
    case SchemaDifference::Kind::missing:
      return one.path + " is not there";
    case SchemaDifference::Kind::extra:
      return one.path + " is not in ours";
    case SchemaDifference::Kind::other:
      break;
  }
  return one.path + " is " + one.found + ", in ours " + one.wanted;
}

/// deploy/crds/with-webhooks says so of its definitions.
bool says_it_leaves_checks(const Json& definition) {
  return m::text(m::member(m::member(definition, "metadata"), "annotations"), "hindsight.dev/checks") == "webhooks";
}

/// Whether deploy/crds/with-webhooks has a definition of that name.
bool has_lighter(const Json& definition) {
  const std::string name = "crds-with-webhooks/" + name_of(definition);
  const auto all = embedded_manifests();
  return std::any_of(all.begin(), all.end(), [&](const EmbeddedManifest& one) { return one.name == name; });
}

/// Its name among our manifests, of the variant that is looked at.
std::string manifest_of(const DefinitionFacts& facts) {
  return (facts.leaves_checks ? "crds-with-webhooks/" : "crds/") + name_of(facts.wanted);
}

/// Who installed it: Kueue's own say so.
bool is_of_kueue(const Json& definition) {
  const Json& meta = m::member(definition, "metadata");
  const Json& labels = m::member(meta, "labels");
  return m::text(labels, "app.kubernetes.io/name") == "kueue" || m::text(labels, "control-plane") == "controller-manager" ||
         !m::text(m::member(meta, "annotations"), "controller-gen.kubebuilder.io/version").empty();
}

void judge_schema(const DefinitionFacts& facts, Outcome& out, const Commands& commands) {
  const auto all = differences_of(facts.wanted, *facts.found, differences_max);
  if (all.empty()) return;
  std::vector<std::string> dropped, others;
  for (const auto& one : all) {
    const bool version_gone = one.kind == SchemaDifference::Kind::missing && one.path.find(": ") == std::string::npos;
    ((one.kind == SchemaDifference::Kind::missing && one.is_field) || version_gone ? dropped : others).push_back(text_of(one));
  }
  const std::string name = name_of(facts.wanted), manifest = manifest_of(facts);
  const bool kueue = is_of_kueue(*facts.found);
  const std::string whose = kueue ? "it is Kueue's own; " : "";
  const std::string advice = kueue ? "While both are looked at, keep it; when the cluster is Hindsight's, put ours in its place"
                                   : "Put that of this release in its place";
  if (!dropped.empty())
    out.add({Severity::error, "CustomResourceDefinition " + name,
             whose + "the API server drops what it does not know: " + some_of(dropped, differences_shown),
             "the definition of Hindsight " + std::string(runtime::release), advice, commands.print_to(manifest, "replace")});
  if (!others.empty())
    out.add({kueue ? Severity::note : Severity::warning, "CustomResourceDefinition " + name,
             whose + "it differs: " + some_of(others, differences_shown), "the definition of Hindsight " + std::string(runtime::release),
             advice, commands.print_to(manifest, "replace")});
}

/// What the server says of it by itself.
void judge_conditions(const DefinitionFacts& facts, Outcome& out, const Commands& commands) {
  const std::string name = name_of(facts.wanted), object = "CustomResourceDefinition " + name;
  const Json& status = m::member(*facts.found, "status");
  if (!m::condition_is(status, "Established") || m::condition_is(status, "NamesAccepted", "False")) {
    const Json& names = m::condition(status, "NamesAccepted");
    std::string why(m::text(m::condition_is(status, "NamesAccepted", "False") ? names : m::condition(status, "Established"), "message"));
    if (why.empty()) why = "the API server does not serve it yet";
    out.add({Severity::error, object, "it is not established: " + why, "condition Established, True",
             "Wait for it; where names collide, remove the other definition that has them",
             commands.kubectl("wait --for=condition=Established --timeout=60s crd/" + as_word(name))});
  }
  if (m::condition_is(status, "Terminating"))
    out.add({Severity::error, object, "it is being deleted, with all objects of its kind", "a definition that stays",
             "Let the deletion end, then make it again", commands.print_to(manifest_of(facts), "apply")});
}

bool has_text(const Json& list, std::string_view wanted) {
  return list.is_array() && std::find(list.begin(), list.end(), Json(wanted)) != list.end();
}

/// Whether all that ours is asked about (`wanted`, of deploy/webhooks.yaml) this webhook is asked about, in every namespace.
bool is_asked_about_all(const Json& hook, const Json& wanted) {
  const auto covers = [](const Json& rule, const Json& asked) {
    for (const char* part : {"apiGroups", "apiVersions", "operations", "resources"})
      for (const auto& one : m::member(asked, part))
        if (!has_text(m::member(rule, part), one.get<std::string>())) return false;
    return true;
  };
  const Json& rules = m::member(hook, "rules");
  for (const auto& asked : m::member(wanted, "rules"))
    if (!rules.is_array() || std::none_of(rules.begin(), rules.end(), [&](const Json& rule) { return covers(rule, asked); })) return false;
  return m::member(hook, "namespaceSelector").empty() && m::member(hook, "objectSelector").empty();
}

/// Our webhook that judges the kind, as deploy/webhooks.yaml has it.
Json wanted_webhook(const Json& definition) {
  const std::string plural(m::text(m::member(m::member(definition, "spec"), "names"), "plural"));
  for (const auto& object : manifest_objects("webhooks")) {
    if (m::text(m::member(object, "metadata"), "name") != names::validating) continue;
    for (const auto& hook : m::member(object, "webhooks"))
      for (const auto& rule : m::member(hook, "rules"))
        if (has_text(m::member(rule, "resources"), plural)) return hook;
  }
  return {};
}

/// Whether somebody is asked to check what a definition leaves to webhooks. Whether anybody answers is said where webhooks are looked at.
void judge_left_checks(const DefinitionFacts& facts, const DefinitionsFacts& around, Outcome& out, const Commands& commands) {
  if (!facts.leaves_checks) return;
  const std::string name = name_of(facts.wanted), leaves = "it leaves checks to webhooks, ";
  Finding finding{Severity::error,
                  "CustomResourceDefinition " + name,
                  "",
                  "webhooks as in deploy/webhooks.yaml, or the definition that has all rules itself",
                  "Put the definition with all rules in its place, or serve webhooks",
                  commands.print_to("crds/" + name, "replace")};
  const Json wanted = wanted_webhook(facts.wanted);
  const std::string hook_name(m::text(wanted, "name")), configuration = std::string("ValidatingWebhookConfiguration ") + names::validating;
  const Json& hooks = m::member(around.validating, "webhooks");
  const Json* hook = nullptr;
  if (hooks.is_array())
    for (const auto& one : hooks)
      if (m::text(one, "name") == hook_name) hook = &one;
  if (!around.validating_why.empty()) {
    finding.severity = Severity::note;
    finding.found = leaves + "and whether these are served could not be seen: " + around.validating_why;
  } else if (around.validating.is_null()) {
    finding.found = leaves + "which are not served: there is no " + configuration + ", so nobody checks";
  } else if (hook == nullptr) {
    finding.found = leaves + "which are not served: " + configuration + " has no " + hook_name + ", so nobody checks";
  } else if (!is_asked_about_all(*hook, wanted)) {
    finding.found =
        leaves + "and " + hook_name + " is asked about fewer writes than deploy/webhooks.yaml says, so nobody checks the others";
  } else if (m::text(*hook, "failurePolicy") == "Ignore") {
    finding.severity = Severity::warning;
    finding.found = leaves + "and " + hook_name + " has failurePolicy Ignore: while nobody answers, nobody checks";
  } else {
    return;
  }
  out.add(std::move(finding));
}

/// Objects that were stored in a version that is not the one that is stored now, with nobody to convert them.
void judge_stored(const DefinitionFacts& facts, Outcome& out, const Commands& commands) {
  if (facts.has_converter) return;
  const Json& stored = m::member(m::member(*facts.found, "status"), "storedVersions");
  if (!stored.is_array()) return;
  std::string storage;
  const Json& versions = m::member(m::member(*facts.found, "spec"), "versions");
  if (versions.is_array())
    for (const auto& one : versions)
      if (m::flag(one, "storage")) storage = std::string(m::text(one, "name"));
  std::vector<std::string> older;
  for (const auto& one : stored)
    if (one.is_string() && one.get<std::string>() != storage) older.push_back(one.get<std::string>());
  if (older.empty()) return;
  const std::string name = name_of(facts.wanted);
  out.add({Severity::warning, "CustomResourceDefinition " + name,
           "objects may be stored as " + some_of(older, differences_shown) + ", and nobody converts them",
           "all stored as " + storage + ", or a converter", "Write them again, then say that no older version is stored any more",
           commands.kubectl("get " + as_word(name) + " -A -o json") + " | " + commands.kubectl("replace -f -") + "; " +
               commands.kubectl("patch crd " + as_word(name) + " --subresource=status --type=merge -p " +
                                as_word(Json{{"status", {{"storedVersions", {storage}}}}}.dump()))});
}

}  // namespace

std::vector<SchemaDifference> differences_of(const Json& wanted, const Json& found, std::size_t max) {
  std::vector<SchemaDifference> out;
  Comparison comparison(out, max);
  const Json& versions = m::member(m::member(wanted, "spec"), "versions");
  for (const auto& version : versions) {
    const std::string name(m::text(version, "name"));
    const Json& there = version_of(found, name);
    if (there.is_null()) {
      out.push_back({SchemaDifference::Kind::missing, "version " + name, "nothing", "served", false});
      continue;
    }
    for (const char* part : parts_of_version) {
      const Json &mine = m::member(version, part), &theirs = m::member(there, part);
      const std::string path = name + ": " + (std::string_view(part) == "schema" ? "" : part);
      if (mine.is_null() && (theirs.is_null() || theirs == Json(false))) continue;
      if (mine.is_null() && std::string_view(part) == "additionalPrinterColumns") continue;  // the server adds the age
      comparison.compare(mine, theirs, path, false);
    }
  }
  for (const Json& theirs = m::member(m::member(found, "spec"), "versions"); const auto& version : theirs) {
    const std::string name(m::text(version, "name"));
    if (version_of(wanted, name).is_null() && out.size() < max)
      out.push_back({SchemaDifference::Kind::extra, "version " + name, "served", "nothing", false});
  }
  if (m::text(m::member(wanted, "spec"), "scope") != m::text(m::member(found, "spec"), "scope") && out.size() < max)
    out.push_back({SchemaDifference::Kind::other, "scope", shown_value(m::member(m::member(found, "spec"), "scope")),
                   shown_value(m::member(m::member(wanted, "spec"), "scope")), false});
  return out;
}

Outcome judge_definitions(const DefinitionsFacts& facts, const Commands& commands) {
  Outcome out;
  std::vector<std::string> absent, of_kueue;
  for (const auto& one : facts.all) {
    const std::string name = name_of(one.wanted);
    if (!one.found) {
      absent.push_back(name);
      continue;
    }
    if (is_of_kueue(*one.found)) of_kueue.push_back(name);
    judge_conditions(one, out, commands);
    judge_schema(one, out, commands);
    judge_left_checks(one, facts, out, commands);
    judge_stored(one, out, commands);
  }
  if (!absent.empty()) {
    const bool all = absent.size() == facts.all.size();
    std::string command;
    for (const auto& name : all ? std::vector<std::string>{"crds"} : absent)
      command += (command.empty() ? "" : "; ") + commands.print_to(all ? name : "crds/" + name, "apply");
    out.add({Severity::error, "CustomResourceDefinitions of kueue.x-k8s.io", "not there: " + some_of(absent, absent.size()),
             "all of deploy/crds: Hindsight waits for them", "Make them", command});
  }
  // One converter serves all: it is told of once.
  std::vector<std::string> unconverted;
  const DefinitionFacts* first = nullptr;
  std::string why;
  for (const auto& one : facts.all) {
    if (!one.found || !one.has_converter) continue;
    const std::string silent = one.conversion_error.empty() ? unanswered(one.converter, one.converter_reach) : one.conversion_error;
    if (silent.empty()) continue;
    unconverted.push_back(name_of(one.wanted));
    if (first == nullptr) {
      first = &one;
      why = silent;
    }
  }
  if (first != nullptr) {
    const bool certain = !first->conversion_error.empty() || first->converter.url.empty();
    std::string removal;
    const std::string patch = as_word(R"([{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}])");
    for (const auto& name : unconverted) removal += " crd/" + as_word(name);
    removal = commands.kubectl("patch" + removal + " --type=json -p " + patch);
    Finding finding{certain ? Severity::error : Severity::warning,
                    "conversion of " + some_of(unconverted, 3),
                    why,
                    "a webhook that answers, or strategy None: objects in another version than the stored one cannot be read or written",
                    "",
                    ""};
    advise_on_silence(finding, first->converter, first->converter_reach, facts.installation, "--webhooks", "webhooks", removal, commands);
    out.add(std::move(finding));
  }
  out.summary = std::to_string(facts.all.size() - absent.size()) + " of " + std::to_string(facts.all.size()) + " definitions";
  if (!of_kueue.empty()) out.summary += ", " + std::to_string(of_kueue.size()) + " of them Kueue's own";
  return out;
}

Outcome examine_definitions(Context& context) {
  DefinitionsFacts facts;
  facts.installation = context.installation;
  std::vector<std::pair<Callee, Reach>> seen;
  for (auto& wanted : manifest_objects("crds")) {
    DefinitionFacts one;
    auto found = find(*context.cluster, std::string(definitions_path) + "/" + name_of(wanted));
    if (!found) return blind(found.error().message);
    one.found = std::move(*found);
    one.wanted = std::move(wanted);
    one.leaves_checks = one.found && says_it_leaves_checks(*one.found) && has_lighter(one.wanted);
    if (one.leaves_checks) one.wanted = manifest_objects(manifest_of(one)).front();
    const Json& spec = one.found ? m::member(*one.found, "spec") : m::member(one.wanted, "spec");
    const Json& conversion = m::member(spec, "conversion");
    if (one.found && m::text(conversion, "strategy") == "Webhook") {
      one.has_converter = true;
      one.converter = callee_of(m::member(m::member(conversion, "webhook"), "clientConfig"));
      auto known = std::find_if(seen.begin(), seen.end(), [&](const auto& pair) { return pair.first == one.converter; });
      if (known == seen.end()) {
        seen.emplace_back(one.converter, look_behind(*context.cluster, one.converter, context.options.timeout / 4));
        known = std::prev(seen.end());
      }
      one.converter_reach = known->second;
      // Who reads one object in another version than the stored one has the server call the converter.
      for (const auto& version : m::member(spec, "versions")) {
        if (!m::flag(version, "served") || m::flag(version, "storage")) continue;
        const auto read =
            context.cluster->get("/apis/" + std::string(m::text(spec, "group")) + "/" + std::string(m::text(version, "name")) + "/" +
                                 std::string(m::text(m::member(spec, "names"), "plural")) + "?limit=1");
        if (!read && read.error().message.find("conversion webhook") != std::string::npos) one.conversion_error = read.error().message;
        break;
      }
    }
    facts.all.push_back(std::move(one));
  }
  if (std::any_of(facts.all.begin(), facts.all.end(), [](const DefinitionFacts& one) { return one.leaves_checks; })) {
    auto found = find(*context.cluster, std::string(validating_path) + names::validating);
    if (!found)
      facts.validating_why = found.error().message;
    else if (*found)
      facts.validating = std::move(**found);
  }
  return judge_definitions(facts, context.commands);
}

}  // namespace hindsight::doctor

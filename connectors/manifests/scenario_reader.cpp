#include "connectors/manifests/scenario_reader.hpp"

#include <string>
#include <utility>

#include "connectors/manifests/kinds.hpp"
#include "connectors/manifests/object_checks.hpp"
#include "connectors/manifests/syntax.hpp"

namespace hindsight::connectors::manifests {
namespace {

constexpr std::string_view scenario_version = "hindsight.dev/v1alpha1";

class ScenarioReader {
 public:
  explicit ScenarioReader(std::vector<Problem>& problems) : problems_(problems) {}

  Scenario read(Json document) {
    Scenario scenario;
    if (document.value("apiVersion", Json()) != scenario_version) {
      add(ProblemKind::not_supported, "apiVersion", document.value("apiVersion", Json()),
          "must be \"" + std::string(scenario_version) + "\"");
      return scenario;
    }
    const auto before = problems_.size();
    check(named_schema("Scenario"), document, "", UnknownFields::reported, problems_);
    if (problems_.size() != before) return scenario;
    normalise(named_schema("Scenario"), document, Form::built_in);
    if (const auto metadata = document.find("metadata"); metadata != document.end()) scenario.name = metadata->value("name", "");
    Json& spec = document["spec"];
    scenario.config = spec.value("config", Json());
    scenario.feature_gates = spec.value("featureGates", Json());
    if (!scenario.config.is_null() && !scenario.config.is_object())
      add(ProblemKind::type, "spec.config", scenario.config, "must be an object: fields of the configuration file");
    std::size_t i = 0;
    for (auto& step : spec["steps"]) {
      where_ = "spec.steps[" + std::to_string(i++) + "]";
      scenario.steps.push_back(read_step(std::move(step)));
      const auto& steps = scenario.steps;
      if (steps.size() > 1 && steps.back().at < steps[steps.size() - 2].at)
        problems_.push_back(
            {ProblemKind::invalid, where_ + ".at", "", "must not be before the step above: steps are in the order of time"});
    }
    return scenario;
  }

 private:
  ScenarioStep read_step(Json json) {
    ScenarioStep step;
    const auto& at_text = json["at"].get_ref<const std::string&>();
    if (const auto at = parse_duration(at_text))
      step.at = *at;
    else
      add(ProblemKind::invalid, where_ + ".at", json["at"], "must be a time since the start such as \"10s\" or \"1m30s\"");
    if (json.contains("apply")) {
      std::size_t i = 0;
      for (auto& object : json["apply"]) {
        const std::string where = where_ + ".apply[" + std::to_string(i++) + "]";
        read_object(object, where);
        step.apply.push_back(std::move(object));
      }
    }
    each(json, "patch", [&](Json& item, const std::string& where) { step.patch.push_back(read_patch(item, where)); });
    each(json, "finish", [&](Json& item, const std::string& where) {
      const auto [space, name] = target(item, where);
      step.finish.push_back({item["kind"], space, name, item.value("failed", false)});
    });
    each(json, "delete", [&](Json& item, const std::string& where) {
      const auto [space, name] = target(item, where);
      step.delete_.push_back({item["kind"], space, name});
    });
    return step;
  }

  template <class Read>
  void each(Json& step, const char* verb, Read read) {
    const auto items = step.find(verb);
    if (items == step.end()) return;
    std::size_t i = 0;
    for (auto& item : *items) {
      const std::string where = where_ + "." + verb + "[" + std::to_string(i++) + "]";
      known_kind(item["kind"], where + ".kind");
      read(item, where);
    }
  }

  /// An object to apply: what an API server judges itself is left to it.
  void read_object(Json& object, const std::string& where) {
    if (!object.is_object()) return add(ProblemKind::type, where, object, "must be a manifest");
    std::vector<Problem> found;
    const Kind* kind = check_identity(object, found);
    if (kind != nullptr) {
      std::vector<Problem> deviations;
      check(*kind->schema, object, "", UnknownFields::reported, deviations);
      for (auto& deviation : deviations)
        if (deviation.kind == ProblemKind::unknown_field) found.push_back(std::move(deviation));
      const auto metadata = object.find("metadata");
      const bool named = metadata != object.end() && metadata->is_object() && metadata->contains("name") && (*metadata)["name"].is_string();
      if (!named)
        found.push_back({ProblemKind::required, "metadata.name", "", "must be given"});
      else if (!kind->type->namespaced)
        metadata->erase("namespace");
      else if (!metadata->contains("namespace") || (*metadata)["namespace"] == Json(""))
        (*metadata)["namespace"] = "default";
    }
    for (auto& problem : found) {
      problem.field = where + "." + problem.field;
      problems_.push_back(std::move(problem));
    }
  }

  PatchAction read_patch(Json& item, const std::string& where) {
    PatchAction patch;
    patch.kind = item["kind"];
    patch.namespace_ = item.value("namespace", "default");
    patch.name = item.value("name", "");
    patch.status = item.contains("subresource");
    patch.merge = std::move(item["merge"]);
    if (!patch.merge.is_object()) add(ProblemKind::type, where + ".merge", patch.merge, "must be an object: a JSON merge patch");
    if (item.contains("owner")) {
      if (!patch.name.empty()) add(ProblemKind::invalid, where + ".owner", item["owner"], "stands in place of name; give one of them");
      if (patch.kind != "Workload")
        add(ProblemKind::invalid, where + ".owner", item["owner"], "names a Workload; kind must be \"Workload\"");
      patch.owner = OwnerName{item["owner"]["kind"], item["owner"]["name"]};
    } else if (patch.name.empty()) {
      problems_.push_back({ProblemKind::required, where + ".name", "", "must be given, or owner"});
    }
    return patch;
  }

  std::pair<std::string, std::string> target(Json& item, const std::string& where) {
    std::string name = item["name"];
    if (name.empty()) problems_.push_back({ProblemKind::required, where + ".name", "", "must be given"});
    return {item.value("namespace", "default"), std::move(name)};
  }

  void known_kind(const Json& kind, const std::string& field) {
    if (find_kind(kind.get_ref<const std::string&>()) != nullptr) return;
    std::string message;
    if (const auto near = nearest(kind.get_ref<const std::string&>(), kind_names()); !near.empty())
      message = "did you mean \"" + std::string(near) + "\"? ";
    message += "known kinds: ";
    for (const auto name : kind_names()) message.append(name).append(" ");
    add(ProblemKind::not_supported, field, kind, std::move(message));
  }

  void add(ProblemKind kind, const std::string& field, const Json& found, std::string message) {
    problems_.push_back({kind, field, shortened(found), std::move(message)});
  }

  std::vector<Problem>& problems_;
  std::string where_;
};

}  // namespace

Scenario read_scenario(Json document, std::vector<Problem>& problems) { return ScenarioReader(problems).read(std::move(document)); }

}  // namespace hindsight::connectors::manifests

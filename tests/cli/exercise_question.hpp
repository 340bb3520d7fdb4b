#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/condition.hpp"
#include "cli/json_path.hpp"
#include "cli/kinds.hpp"
#include "cli/selectors.hpp"
#include "cli/shown_columns.hpp"
#include "events/memory_log.hpp"
#include "replay/moment.hpp"
#include "vocabulary/printable.hpp"
#include "whatif/changes.hpp"

namespace hindsight::test {

/// What people ask in words of their own.
enum class QuestionKind { path_template, path, columns, condition, value, labels, fields, moment, quota, nodes };
inline constexpr std::size_t question_kinds = 10;

/// Texts of each kind to begin with.
inline const std::vector<std::pair<QuestionKind, std::string>>& good_questions() {
  using enum QuestionKind;
  static const std::vector<std::pair<QuestionKind, std::string>> all{
      {path_template, "{range .items[*]}{.metadata.name}{\"\\t\"}{.spec.priority}{\"\\n\"}{end}"},
      {path_template, "{.items[?(@.spec.priority>=7)].metadata['name','labels']}"},
      {path_template, "{.items[-1:].spec.containers[::2].name} of {$..name}"},
      {path, ".metadata.labels.kubernetes\\.io/hostname"},
      {path, "{.spec.containers[0:1]}"},
      {path, "$..containers[?(@.name==\"main\")].image"},
      {columns, "NAME:.metadata.name,ALL:.spec['a,b'],X:..name"},
      {condition, "event QuotaReserved of team-a/job-x and not (clusterqueue/a:.status.pendingWorkloads > 10 or cq/b)"},
      {condition, "workload/team-a/job-x:.status.conditions[?(@.type=='Admitted')].status == 'True'"},
      {value, "clusterqueue/team-a:.spec.resourceGroups[0].flavors[*].name"},
      {labels, "a=b,!c,d in (e, f),g notin (h),kubernetes.io/arch!=arm64,i"},
      {fields, "metadata.name=a,spec.queueName!=b,status.phase==Pending"},
      {moment, "-2w1d3h10m"},
      {moment, "2026-01-06T14:03:10.123456789+01:00"},
      {moment, "2026-03-29 02:30"},
      {moment, "14:03"},
      {moment, "120"},
      {quota, "clusterqueue/team-a:spot/nvidia.com/gpu=+40"},
      {quota, "cohort/all:memory=-16Gi"},
      {nodes, "4xnode-7"}};
  return all;
}

/// What the paths, columns and selectors are tried on.
inline const nlohmann::ordered_json& asked_object() {
  static const auto object = nlohmann::ordered_json::parse(R"({"kind": "List", "metadata": {"name": "a", "namespace": "b",
    "labels": {"a": "b", "d": "e", "kubernetes.io/hostname": "n1"}}, "spec": {"priority": 7, "queueName": "lq", "containers": [
      {"name": "main", "image": "i", "n": [1, -2, 3.5, 1e300, "500m", null, true]}, {"name": "side"}]},
    "items": [{"metadata": {"name": "x"}, "spec": {"priority": 9}}, {"metadata": {"name": "y"}}, 7, "z", [], {}]})");
  return object;
}

/// What must hold for every text, whether it asks something or not; the empty text: it does. An answer has a bound, and what is refused is
/// refused as wrong use, in words.
inline std::string exercise_question(QuestionKind kind, const std::string& text) {
  using enum QuestionKind;
  const auto fault = [&](const auto& result) -> std::string {
    if (result) return {};
    if (result.error().kind != ErrorKind::invalid && result.error().kind != ErrorKind::not_found) return "refused, but not as wrong use";
    if (result.error().message.empty()) return "refused without a message";
    return result.error().message.size() > 4 * text.size() + 8192 ? "a message without end" : std::string();
  };
  const auto& object = asked_object();
  switch (kind) {
    case path_template: {
      const auto path = cli::JsonPath::parse_template(text);
      if (!path) return fault(path);
      const auto printed = path->print(object);
      if (printed && printed->size() > cli::JsonPathLimits::output) return "more is printed than may be";
      return fault(printed);
    }
    case path: {
      const auto path = cli::JsonPath::parse_expression(text);
      if (!path) return fault(path);
      const auto values = path->values(object);
      if (values)
        for (const auto* value : *values)
          if (!is_printable(cli::value_text(*value))) return "a value is shown as it is";
      if (const auto order = cli::order_by(*path, text, {&object, &object}); order && order->size() != 2) return "objects got lost";
      return fault(values);
    }
    case columns: {
      const auto columns = cli::CustomColumns::parse(text);
      return columns ? fault(columns->table({&object, &object})) : fault(columns);
    }
    case condition:
      return text.size() > cli::Condition::text_max && cli::Condition::parse(text) ? "longer than it may be"
                                                                                   : fault(cli::Condition::parse(text));
    case value:
      return fault(cli::ObjectValue::parse(text));
    case labels: {
      const auto selector = cli::LabelSelector::parse(text);
      if (selector) (void)selector->matches(object);
      return fault(selector);
    }
    case fields: {
      for (const auto& one : cli::known_kinds()) {
        const auto selector = cli::FieldSelector::parse(text, one);
        if (selector) (void)selector->matches(object, "Pending");
        if (const auto wrong = fault(selector); !wrong.empty()) return wrong;
      }
      return {};
    }
    case moment: {
      const auto moment = replay::parse_moment(text);
      if (!moment) return fault(moment);
      static const events::MemoryLog empty;
      const auto place = replay::locate(empty, *moment);
      if (place && place->position != 0) return "a place in an empty log";
      if (const auto first = replay::first_record(empty, text); first && *first > 1) return "a record of an empty log";
      return fault(place);
    }
    case quota: {
      const auto change = whatif::parse_quota_change(text);
      if (change && (change->node.empty() || change->resource.empty())) return "a change of nothing";
      if (change && change->applied_to(1000) < 0) return "a quota below 0";
      return fault(change);
    }
    case nodes: {
      const auto change = whatif::parse_node_change(text);
      if (change && (change->count == 0 || change->count > whatif::NodeChange::count_max || change->like.empty()))
        return "no or too many nodes";
      return fault(change);
    }
  }
  return {};
}

}  // namespace hindsight::test

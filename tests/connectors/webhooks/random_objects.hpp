#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "connectors/manifests/kinds.hpp"

namespace hindsight::connectors::webhooks::test {

using manifests::FieldType;
using manifests::Json;
using manifests::Schema;

/// Objects that fit the table of their kind, from a seed: every optional field is there or not.
class RandomObjects {
 public:
  explicit RandomObjects(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  Json object_of(const manifests::Kind& kind) {
    Json out = value_of(*kind.schema);
    out["apiVersion"] = kind.api_version();
    out["kind"] = kind.type->kind;
    out["metadata"] = {{"name", "o"}, {"labels", {{"a", "b"}}}};
    if (below(2) == 0) out["metadata"]["annotations"] = {{"user.example/note", "kept"}};
    if (kind.type->namespaced) out["metadata"]["namespace"] = "default";
    return out;
  }

 private:
  Json value_of(const Schema& schema) {
    switch (schema.type) {
      case FieldType::object: {
        Json out = Json::object();
        for (const auto& field : schema.fields) {
          if (field.name == "metadata" || field.name == "apiVersion" || field.name == "kind") continue;
          if (field.name == "levels" && schema.field("slices") != nullptr) {
            out["levels"] = {"block", "rack"};
            continue;
          }
          if (field.name == "slices") {
            out["slices"] = slices();
            continue;
          }
          if (field.name == "priorityClassRef") {  // Group and kind go together.
            if (below(2) == 0) out["priorityClassRef"] = priority_class();
            continue;
          }
          if (field.name == "clusterSource") {  // Exactly one.
            out["clusterSource"] = below(2) == 0 ? Json{{"kubeConfig", {{"location", "l"}}}} : Json{{"clusterProfileRef", {{"name", "p"}}}};
            continue;
          }
          if (field.name == "template") {
            out["template"] = {{"spec", {{"containers", Json::array({{{"name", "c"}}})}}}};
            continue;
          }
          if (field.required || below(3) != 0) out[field.name] = value_of(*field.schema);
        }
        return out;
      }
      case FieldType::map: {
        Json out = Json::object();
        for (std::size_t i = 0; i < below(3); ++i) out["key-" + std::to_string(i)] = value_of(*schema.element);
        return out;
      }
      case FieldType::list: {
        Json out = Json::array();
        const auto least = static_cast<std::size_t>(schema.min.value_or(0));
        for (std::size_t i = 0, n = std::max(least, below(3)); i < n; ++i) {
          Json item = value_of(*schema.element);
          for (const auto& key : schema.keys) item[key] = "k" + std::to_string(i);
          out.push_back(std::move(item));
        }
        return out;
      }
      case FieldType::string:
        if (!schema.allowed.empty()) return schema.allowed[below(schema.allowed.size())];
        return "text-" + std::to_string(below(1000));
      case FieldType::int32:
      case FieldType::int64:
        return schema.min.value_or(-3) + static_cast<std::int64_t>(below(50));
      case FieldType::number:
        return 1.5;
      case FieldType::boolean:
        return below(2) == 0;
      case FieldType::quantity:
        return below(2) == 0 ? Json("500m") : Json(7);
      case FieldType::int_or_string:
        return 5;
      case FieldType::time:
        return "2026-01-01T00:00:00Z";
      case FieldType::any:
        return Json::object();
    }
    return {};
  }

  Json priority_class() {
    if (below(2) == 0) return {{"group", "kueue.x-k8s.io"}, {"kind", "WorkloadPriorityClass"}, {"name", "p"}};
    return {{"group", "scheduling.k8s.io"}, {"kind", "PriorityClass"}, {"name", "p"}};
  }

  /// Slices as an assignment of two levels has them, in every form.
  Json slices() {
    Json out = Json::array();
    for (std::size_t s = 0, n = 1 + below(3); s < n; ++s) {
      const std::size_t domains = 1 + below(4);
      Json slice = {{"domainCount", domains}, {"valuesPerLevel", Json::array()}};
      for (int level = 0; level < 2; ++level) {
        if (below(2) == 0) {
          slice["valuesPerLevel"].push_back({{"universal", "rack-" + std::to_string(below(9))}});
          continue;
        }
        Json individual = {{"roots", Json::array()}};
        if (below(2) == 0) individual["prefix"] = "node-";
        if (below(2) == 0) individual["suffix"] = ".example";
        for (std::size_t i = 0; i < domains; ++i) individual["roots"].push_back(std::to_string(below(100)));
        slice["valuesPerLevel"].push_back({{"individual", std::move(individual)}});
      }
      if (below(2) == 0) {
        slice["podCounts"] = {{"universal", 1 + below(5)}};
      } else {
        slice["podCounts"] = {{"individual", Json::array()}};
        for (std::size_t i = 0; i < domains; ++i) slice["podCounts"]["individual"].push_back(1 + below(5));
      }
      out.push_back(std::move(slice));
    }
    return out;
  }

  std::mt19937_64 random_;
};

}  // namespace hindsight::connectors::webhooks::test

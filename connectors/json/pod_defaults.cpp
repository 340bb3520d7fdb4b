#include "connectors/json/pod_defaults.hpp"

#include <algorithm>

#include "connectors/json/node.hpp"
#include "connectors/json/object_meta.hpp"

namespace hindsight::connectors {
namespace {

OwnedAmounts owned(List<ResourceAmount> amounts) {
  OwnedAmounts out;
  for (const auto& a : amounts) out.emplace(std::string(a.resource), a.amount);
  return out;
}

template <class Better>
void keep(OwnedAmounts& into, const OwnedAmounts& from, Better better) {
  for (const auto& [name, amount] : from) {
    const auto [it, added] = into.emplace(name, amount);
    if (!added && better(amount, it->second)) it->second = amount;
  }
}

}  // namespace

Result<void> ClusterDefaults::set_runtime_class(simdjson::dom::element runtime_class) {
  Arena arena;
  Reading reading(arena, runtime_class, object_title("RuntimeClass", runtime_class));
  const auto meta = reading.root().object("metadata");
  const auto name = meta.required_text("name");
  auto overhead = owned(reading.root().object("overhead").amounts("podFixed"));
  if (reading.failed()) return tl::unexpected(reading.take_error());
  overheads_.insert_or_assign(std::string(name), std::move(overhead));
  return {};
}

void ClusterDefaults::remove_runtime_class(std::string_view name) {
  if (const auto it = overheads_.find(name); it != overheads_.end()) overheads_.erase(it);
}

Result<void> ClusterDefaults::set_limit_range(simdjson::dom::element limit_range) {
  Arena arena;
  Reading reading(arena, limit_range, object_title("LimitRange", limit_range));
  const auto meta = reading.root().object("metadata");
  const auto ns = meta.required_text("namespace");
  const auto name = meta.required_text("name");
  std::vector<Item> items;
  reading.root().object("spec").each("limits", limits::limit_range_items, [&](const Node& limit) {
    items.push_back({std::string(limit.required_text("type")),
                     {owned(limit.amounts("max")), owned(limit.amounts("min")), owned(limit.amounts("default")),
                      owned(limit.amounts("defaultRequest"))}});
  });
  if (reading.failed()) return tl::unexpected(reading.take_error());
  auto& entry = namespaces_[std::string(ns)];
  entry.ranges.insert_or_assign(std::string(name), std::move(items));
  entry.summary = summarize(entry);
  return {};
}

void ClusterDefaults::remove_limit_range(std::string_view namespace_, std::string_view name) {
  const auto it = namespaces_.find(namespace_);
  if (it == namespaces_.end()) return;
  if (const auto range = it->second.ranges.find(name); range != it->second.ranges.end()) it->second.ranges.erase(range);
  if (it->second.ranges.empty()) {
    namespaces_.erase(it);
  } else {
    it->second.summary = summarize(it->second);
  }
}

LimitSummary ClusterDefaults::summarize(const Namespace& ns) {
  LimitSummary out;
  for (const auto& [name, items] : ns.ranges) {
    for (const auto& item : items) {
      auto& limits = item.type == "Container" ? out.container : out.pod;
      if (item.type != "Container" && item.type != "Pod") continue;  // PersistentVolumeClaim concerns no pod
      if (!limits) limits.emplace();
      keep(limits->max, item.limits.max, std::less<>());
      keep(limits->min, item.limits.min, std::greater<>());
      keep(limits->default_limit, item.limits.default_limit, [](Amount, Amount) { return false; });
      keep(limits->default_request, item.limits.default_request, [](Amount, Amount) { return false; });
    }
  }
  return out;
}

const OwnedAmounts* ClusterDefaults::overhead(std::string_view runtime_class) const {
  const auto it = overheads_.find(runtime_class);
  return it == overheads_.end() ? nullptr : &it->second;
}

const LimitSummary* ClusterDefaults::limits(std::string_view namespace_) const {
  const auto it = namespaces_.find(namespace_);
  return it == namespaces_.end() ? nullptr : &it->second.summary;
}

}  // namespace hindsight::connectors

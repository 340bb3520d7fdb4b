#include "cli/event_history.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/domain/domain.hpp"
#include "cli/kinds.hpp"
#include "cli/past_options.hpp"
#include "connectors/event_recorder/decision_events.hpp"
#include "connectors/objects/resource_types.hpp"
#include "projections/format.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::cli {
namespace {

using connectors::ResourceType;
using connectors::kubernetes::KubernetesEvent;
using projections::Tone;

/// The kind that a word means, by any name that kubectl takes for it; null: there is none.
const ResourceType* type_of_word(const std::string& word) {
  std::string plain = lower(word);
  if (const auto dot = plain.find('.'); dot != std::string::npos) plain.erase(dot);
  if (const KnownKind* known = find_kind(plain)) plain = known->names.front();
  for (const auto* type : connectors::all_resource_types)
    if (lower(type->kind) == plain || type->plural == plain) return type;
  return nullptr;
}

std::string object_text(const KubernetesEvent& event) { return lower(event.type->kind) + "/" + event.name; }

/// The namespace that the Event lies in.
std::string namespace_of(const KubernetesEvent& event) { return event.namespace_.empty() ? "default" : event.namespace_; }

}  // namespace

Result<void> read_event_object(const std::string& text, EventFilter& filter) {
  const auto wrong = [&](const std::string& allowed) {
    return fail(ErrorKind::invalid, "--for: found \"" + text + "\"; allowed: " + allowed);
  };
  const auto slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
    return wrong("KIND/NAME, KIND/NAMESPACE/NAME, as workload/team-a/job-train or job/train");
  filter.type = type_of_word(text.substr(0, slash));
  if (filter.type == nullptr) {
    std::vector<std::string> kinds;
    for (const auto* type : connectors::all_resource_types) kinds.push_back(lower(type->kind));
    return wrong("one of the kinds " + projections::joined(kinds));
  }
  filter.object_name = text.substr(slash + 1);
  if (const auto next = filter.object_name.find('/'); next != std::string::npos) {
    filter.object_namespace = filter.object_name.substr(0, next);
    filter.object_name.erase(0, next + 1);
    if (!filter.type->namespaced) return wrong("KIND/NAME: " + lower(filter.type->kind) + " is in no namespace");
  }
  if (filter.object_name.empty() || filter.object_name.find('/') != std::string::npos) return wrong("KIND/NAME, KIND/NAMESPACE/NAME");
  return {};
}

EventHistory::EventHistory(const events::Log& log, const std::string& domain, EventFilter filter, replay::Progress progress)
    : log_(log), filter_(std::move(filter)), past_(log, domain, {.progress = std::move(progress)}) {}

EventHistory::~EventHistory() = default;

Result<void> EventHistory::begin_behind(replay::Position from) {
  const auto first = log_.first();
  if (!first) return tl::unexpected(first.error());
  if (auto ok = past_.go_to(std::max(from, *first - 1)); !ok) return ok;
  past_.look_on({}, [this](replay::Position, const RecordView& record) {
    const Time now = past_.driver().domain().now();
    for (auto& event : connectors::record_events(record, past_.driver())) offer(std::move(event), now);
  });
  return {};
}

Result<void> EventHistory::go_on(replay::Position to) {
  if (to > past_.position())
    if (auto ok = fold_on(past_, to); !ok) return ok;
  // What is counted and waits for the end of its window counts as well: nobody has to wait for it here.
  const Time end = past_.driver().domain().now();
  if (end.is_set())
    for (auto& event : correlator_.due(end + connectors::EventCorrelatorOptions().window)) keep(std::move(event));
  return {};
}

void EventHistory::offer(KubernetesEvent event, Time now) {
  if (!wants(event)) return;
  if (!looked_.is_set() || now - looked_ >= Duration::seconds(1)) {  // as often as a live process looks
    looked_ = now;
    for (auto& counted : correlator_.due(now)) keep(std::move(counted));
  }
  if (auto shown = correlator_.offer(std::move(event), now)) keep(std::move(*shown));
}

bool EventHistory::wants(const KubernetesEvent& event) const {
  if (filter_.namespace_ && namespace_of(event) != *filter_.namespace_) return false;
  if (filter_.type == nullptr) return true;
  return event.type == filter_.type && event.name == filter_.object_name &&
         (!filter_.object_namespace || event.namespace_ == *filter_.object_namespace);
}

void EventHistory::keep(KubernetesEvent event) {
  KubernetesEvent first = event;
  first.count = 1;
  const auto write = connectors::kubernetes::event_write(first);
  auto& seen = seen_[write.namespace_ + "/" + write.name];
  if (seen.order == 0) seen.order = ++seen_before_;
  seen.event = std::move(event);
  if (seen_.size() >= 2 * kept_max) forget_the_oldest();
}

void EventHistory::forget_the_oldest() {
  std::vector<std::pair<Time, std::map<std::string, Seen>::iterator>> all;
  for (auto it = seen_.begin(); it != seen_.end(); ++it) all.emplace_back(it->second.event.last, it);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->second.order) < std::pair(b.first, b.second->second.order);
  });
  for (std::size_t i = 0; i + kept_max < all.size(); ++i, ++left_out_) seen_.erase(all[i].second);
}

std::vector<KubernetesEvent> EventHistory::events() const {
  std::vector<const Seen*> all;
  for (const auto& [key, seen] : seen_) all.push_back(&seen);
  std::sort(all.begin(), all.end(),
            [](const Seen* a, const Seen* b) { return std::pair(a->event.last, a->order) < std::pair(b->event.last, b->order); });
  std::vector<KubernetesEvent> out;
  for (const Seen* seen : all) out.push_back(seen->event);
  return out;
}

projections::Table events_table(const std::vector<KubernetesEvent>& events, bool namespaces) {
  projections::Table out;
  if (namespaces) out.columns.push_back({"NAMESPACE"});
  for (const auto& column : {projections::Table::Column{"TIME"},
                             {"FIRST", true},
                             {"TYPE"},
                             {"REASON"},
                             {"OBJECT"},
                             {"SOURCE", true},
                             {"COUNT", false, true},
                             {"MESSAGE"}})
    out.columns.push_back(column);
  for (const auto& event : events) {
    auto& row = out.rows.emplace_back();
    if (namespaces) row.emplace_back(namespace_of(event));
    row.emplace_back(format_rfc3339(event.last));
    row.emplace_back(format_rfc3339(event.first));
    row.emplace_back(event.is_warning ? "Warning" : "Normal", event.is_warning ? Tone::waiting : Tone::plain);
    row.emplace_back(event.reason);
    row.emplace_back(object_text(event));
    row.emplace_back(event.component);
    row.emplace_back(std::to_string(event.count));
    row.emplace_back(event.message);
  }
  return out;
}

Json event_object(const KubernetesEvent& event) {
  KubernetesEvent first = event;
  first.count = 1;  // of which the whole object is written; a later count is a patch
  Json body = Json::parse(connectors::kubernetes::event_write(first).body);
  body["count"] = event.count;
  Json out = Json::object();
  for (const char* key : {"apiVersion", "kind", "metadata", "involvedObject", "type", "reason", "action", "message", "source",
                          "firstTimestamp", "lastTimestamp", "count"})
    if (const auto it = body.find(key); it != body.end()) out[key] = *it;
  return out;
}

}  // namespace hindsight::cli

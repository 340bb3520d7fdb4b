#include "cli/log_filter.hpp"

#include <algorithm>

#include "events/decision_fields.hpp"

namespace hindsight::cli {
namespace {

using events::Fields;

template <class Variant, std::size_t... I>
void names_of(std::vector<std::string_view>& out, std::index_sequence<I...>) {
  (out.push_back(Fields<std::variant_alternative_t<I, Variant>>::table), ...);
}

bool is_object(const std::string& wanted, Text namespace_, Text name, Text uid) {
  if (wanted == name || (!uid.empty() && wanted == uid)) return true;
  return wanted.size() == namespace_.size() + 1 + name.size() && wanted.starts_with(namespace_) && wanted[namespace_.size()] == '/' &&
         wanted.ends_with(name);
}

/// Does an observation or event name the object in any of its parts?
template <class T>
bool names(const T& e, const std::string& wanted) {
  bool out = false;
  if constexpr (requires { e.meta; }) out = out || is_object(wanted, e.meta.namespace_, e.meta.name, e.meta.uid);
  if constexpr (requires { e.workload; }) out = out || is_object(wanted, e.workload.namespace_, e.workload.name, e.workload.uid);
  if constexpr (requires { e.preemptor; }) out = out || is_object(wanted, e.preemptor.namespace_, e.preemptor.name, e.preemptor.uid);
  if constexpr (requires { e.job; }) out = out || is_object(wanted, e.job.namespace_, e.job.name, e.job.uid);
  if constexpr (requires { e.owner_uid; }) out = out || (!e.owner_uid.empty() && wanted == e.owner_uid);
  if constexpr (requires { e.cluster_queue; }) out = out || wanted == e.cluster_queue;
  if constexpr (requires { e.queue_name; }) out = out || wanted == e.queue_name;
  if constexpr (requires { e.root; }) out = out || wanted == e.root;
  if constexpr (std::is_same_v<T, ObjectDeleted> || std::is_same_v<T, WriteRefused> || std::is_same_v<T, ObjectQuarantined>)
    out = out || is_object(wanted, e.namespace_, e.name, e.uid);
  return out;
}

bool names_object(const RecordView& record, const std::string& wanted) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([&](const auto& x) { return names(x, wanted); }, *o);
  const auto* d = std::get_if<Decisions>(&record.body);
  return d != nullptr && std::any_of(d->events.begin(), d->events.end(),
                                     [&](const Event& e) { return std::visit([&](const auto& x) { return names(x, wanted); }, e); });
}

bool has_kind(const RecordView& record, const std::string& wanted) {
  if (kind_of(record) == wanted) return true;
  const auto* d = std::get_if<Decisions>(&record.body);
  return d != nullptr && std::any_of(d->events.begin(), d->events.end(), [&](const Event& e) {
           return std::visit([&]<class T>(const T&) { return Fields<T>::table == wanted; }, e);
         });
}

}  // namespace

std::string_view kind_of(const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) return std::visit([]<class T>(const T&) { return Fields<T>::table; }, *o);
  return std::holds_alternative<Decisions>(record.body) ? std::string_view("Decisions") : Fields<EpochStarted>::table;
}

std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> out;
  names_of<Observation>(out, std::make_index_sequence<std::variant_size_v<Observation>>{});
  out.emplace_back("Decisions");
  names_of<Event>(out, std::make_index_sequence<std::variant_size_v<Event>>{});
  out.push_back(Fields<EpochStarted>::table);
  return out;
}

bool RecordFilter::matches(const RecordView& record) const {
  const auto any = [&](const std::vector<std::string>& list, const auto& test) {
    return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& wanted) { return test(record, wanted); });
  };
  return any(kinds, has_kind) && any(objects, names_object);
}

}  // namespace hindsight::cli

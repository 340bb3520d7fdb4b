#include "page/timeline/told_line.hpp"

#include <map>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "events/json.hpp"
#include "page/views/sight.hpp"
#include "projections/record_filter.hpp"

namespace hindsight::page::timeline {
namespace {

/// What may be told; each namespace is asked for once.
class Told {
 public:
  explicit Told(const Audience& audience) : audience_(audience) {}

  [[nodiscard]] bool hides(Text namespace_) {
    if (namespace_.empty()) return false;
    const auto known = asked_.find(namespace_);
    if (known != asked_.end()) return known->second;
    return asked_.emplace(std::string(namespace_), !audience_.may_see(namespace_)).first->second;
  }

  /// Replaces what is hidden. False: there is nothing else in it.
  template <class T>
  [[nodiscard]] bool veil(T& e) {
    int hidden = 0, shown = 0;
    const auto look_at = [&](auto& object) {
      if (object.name.empty()) return;
      if (!hides(object.namespace_)) {
        ++shown;
        return;
      }
      ++hidden;
      object.namespace_ = {};
      object.name = hidden_name;
    };
    if constexpr (requires { e.workload; }) look_at(e.workload);
    if constexpr (requires { e.job; }) look_at(e.job);
    if constexpr (requires { e.preemptor; }) look_at(e.preemptor);
    if constexpr (requires { e.parent; }) look_at(e.parent);
    if constexpr (requires { e.from; }) look_at(e.from);
    if constexpr (requires { e.replacement; }) look_at(e.replacement);
    return hidden == 0 || shown > 0;
  }

  [[nodiscard]] bool hides(const Observation& observation) {
    return std::visit(
        [this]<class T>(const T& o) {
          bool out = false;
          if constexpr (std::is_same_v<T, NamespaceObserved>) out = hides(o.meta.name);
          if constexpr (std::is_same_v<T, ObjectDeleted>) out = o.kind == ObjectKind::namespace_ && hides(o.name);
          if constexpr (requires { o.meta; }) out = out || hides(o.meta.namespace_);
          if constexpr (requires { o.namespace_; }) out = out || hides(o.namespace_);
          return out;
        },
        observation);
  }

 private:
  const Audience& audience_;
  std::map<std::string, bool, std::less<>> asked_;
};

}  // namespace

std::string told_line(const RecordView& record, const Audience& audience, std::size_t bytes_max) {
  if (audience.sees_all()) return events::to_line(record, bytes_max);
  Told told(audience);
  if (const auto* o = std::get_if<Observation>(&record.body); o != nullptr && told.hides(*o))
    return std::string(projections::kind_of(record)) + " " + std::string(hidden_name);
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return events::to_line(record, bytes_max);
  std::vector<Event> shown;
  for (Event event : decisions->events)
    if (std::visit([&](auto& e) { return told.veil(e); }, event)) shown.push_back(event);
  const std::size_t left_out = decisions->events.size() - shown.size();
  RecordView copy{record.envelope, Decisions{decisions->base, decisions->step, shown}};
  const std::string rest = left_out == 0 ? "" : "; " + std::to_string(left_out) + " about " + std::string(hidden_name);
  return events::to_line(copy, bytes_max > rest.size() ? bytes_max - rest.size() : 0) + rest;
}

}  // namespace hindsight::page::timeline

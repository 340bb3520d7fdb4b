#pragma once

// Records in which every field differs from its default, each text and number from every other: what the corpus of a release is
// made of. A field that a later build drops, swaps or misreads shows.

#include <string>

#include "events/decision_fields.hpp"
#include "tests/events/random_records.hpp"

namespace hindsight::test {

class FullRecords {
 public:
  RecordView record(std::size_t kind) & {
    RecordView out;
    out.envelope = {text("domain"), number<std::uint64_t>(), number<std::uint64_t>(), Time{1'767'225'600'000'000 + number<std::int64_t>()},
                    number<std::uint64_t>()};
    out.body = default_body(kind);
    if (auto* observation = std::get_if<Observation>(&out.body)) {
      std::visit([this](auto& o) { fill_table(o); }, *observation);
    } else if (auto* started = std::get_if<EpochStarted>(&out.body)) {
      fill_table(*started);
    } else if (auto* noted = std::get_if<DecisionsNoted>(&out.body)) {
      noted->events = every_event();
      noted->base = number<std::uint64_t>();
      noted->rules = number<std::uint32_t>();
      fill("withdrawn", noted->withdrawn);
      fill("would_not", noted->would_not);
    } else {
      const auto events = every_event();
      out.body = Decisions{number<std::uint64_t>(), StepKind::cycle, events};
    }
    return out;
  }

 private:
  /// Every kind of event, full.
  List<Event> every_event() {
    auto events = arena_.make<Event>(std::variant_size_v<Event>);
    for (std::size_t i = 0; i < events.size(); ++i) {
      events[i] = default_event(i);
      std::visit([this](auto& e) { fill_table(e); }, events[i]);
    }
    return events;
  }

  template <events::Registered T>
  void fill_table(T& out) {
    events::for_each_field<T>([&](auto, const auto& f) { fill(f.name, out.*f.member); });
  }
  template <events::Registered T>
  void fill(std::string_view, T& out) {
    fill_table(out);
  }
  void fill(std::string_view name, Text& out) { out = text(name); }
  void fill(std::string_view, Time& out) { out = Time{1'767'225'600'000'000 + number<std::int64_t>()}; }
  void fill(std::string_view, bool& out) { out = !out; }
  template <class N>
  requires std::is_integral_v<N>
  void fill(std::string_view, N& out) { out = number<N>(); }
  /// The values of an enum in turn, never the default of the field.
  template <class E>
  requires std::is_enum_v<E>
  void fill(std::string_view, E& out) {
    const std::size_t n = events::Enumerators<E>::list.size();
    auto value = static_cast<E>(static_cast<std::size_t>(next_++) % n);
    if (value == out) value = static_cast<E>((static_cast<std::size_t>(value) + 1) % n);
    out = value;
  }
  template <class N>
  void fill(std::string_view name, std::optional<N>& out) {
    fill(name, out.emplace());
  }
  template <class T>
  void fill(std::string_view name, List<T>& out) {
    auto list = arena_.make<T>(2);
    for (auto& element : list) fill(name, element);
    out = list;
  }

  template <class N>
  N number() {
    const auto next = 1000 + next_++;
    return static_cast<N>(next);
  }
  Text text(std::string_view name) { return arena_.copy(std::string(name) + "-" + std::to_string(next_++)); }

  Arena arena_;
  int next_ = 1;
};

}  // namespace hindsight::test

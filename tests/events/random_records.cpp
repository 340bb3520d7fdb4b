#include "tests/events/random_records.hpp"

#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "events/decision_fields.hpp"

namespace hindsight::test {
namespace {

/// V holding its alternative number `index`, default-constructed.
template <class V, std::size_t... I>
V alternative_of(std::size_t index, std::index_sequence<I...>) {
  V out;
  ((I == index ? (void)out.template emplace<I>() : void()), ...);
  return out;
}
template <class V>
V alternative(std::size_t index) {
  return alternative_of<V>(index, std::make_index_sequence<std::variant_size_v<V>>{});
}

/// Fills plain structs with random content.
class Filler {
 public:
  Filler(std::mt19937_64& random, Arena& arena) : random_(random), arena_(arena) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  template <events::Registered T>
  void fill(T& out) {
    events::for_each_field<T>([&](auto, const auto& f) { fill(out.*f.member); });
  }
  void fill(Text& out) { out = text(); }
  void fill(Time& out) { out.micros = number<std::int64_t>(); }
  void fill(bool& out) { out = below(2) == 1; }
  template <class N>
  requires std::is_integral_v<N>
  void fill(N& out) { out = number<N>(); }
  template <class E>
  requires std::is_enum_v<E>
  void fill(E& out) { out = static_cast<E>(below(events::Enumerators<E>::list.size())); }
  template <class N>
  void fill(std::optional<N>& out) {
    if (below(2) == 1) fill(out.emplace());
  }
  template <class T>
  void fill(List<T>& out) {
    auto list = arena_.make<T>(below(4));
    for (auto& element : list) fill(element);
    out = list;
  }

  template <class N>
  N number() {
    switch (below(4)) {
      case 0:
        return N{0};
      case 1:
        return static_cast<N>(below(100));
      case 2:
        return below(2) == 0 ? std::numeric_limits<N>::max() : std::numeric_limits<N>::min();
      default:
        return static_cast<N>(random_());
    }
  }

  Text text() {
    static constexpr std::string_view words[] = {"", "default", "team-a", "kueue.x-k8s.io/queue-name", "größe", "\"quoted\"\n", "a"};
    const std::size_t pick = below(std::size(words) + 2);
    if (pick < std::size(words)) return words[pick];
    std::string made(below(pick == std::size(words) ? 12 : 200), ' ');
    for (char& c : made) c = static_cast<char>('!' + below(90));
    return arena_.copy(made);
  }

  std::mt19937_64& random_;
  Arena& arena_;
};

struct Equal {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (events::Registered<T>) {
      bool same = true;
      events::for_each_field<T>([&](auto, const auto& f) { same = same && (*this)(a.*f.member, b.*f.member); });
      return same;
    } else {
      return a == b;
    }
  }
  template <class T>
  bool operator()(const List<T>& a, const List<T>& b) const {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(*this)(a[i], b[i])) return false;
    }
    return true;
  }
  template <class... T>
  bool operator()(const std::variant<T...>& a, const std::variant<T...>& b) const {
    if (a.index() != b.index()) return false;
    return std::visit([&]<class A>(const A& left) { return (*this)(left, std::get<A>(b)); }, a);
  }
  bool operator()(const Decisions& a, const Decisions& b) const {
    return a.base == b.base && a.step == b.step && (*this)(a.events, b.events);
  }
  bool operator()(const DecisionsNoted& a, const DecisionsNoted& b) const {
    return a.base == b.base && a.rules == b.rules && (*this)(a.events, b.events) && (*this)(a.withdrawn, b.withdrawn) &&
           (*this)(a.would_not, b.would_not);
  }
};
}  // namespace

Body default_body(std::size_t kind) {
  if (kind < std::variant_size_v<Observation>) return alternative<Observation>(kind);
  if (kind == std::variant_size_v<Observation>) return EpochStarted{};
  if (kind == std::variant_size_v<Observation> + 1) return Decisions{};
  return DecisionsNoted{};
}

Event default_event(std::size_t kind) { return alternative<Event>(kind); }

RecordView RandomRecords::record(std::size_t kind) & {
  Filler filler(random_, arena_);
  RecordView out;
  Envelope& envelope = out.envelope;
  filler.fill(envelope.domain);
  filler.fill(envelope.sequence);
  filler.fill(envelope.epoch);
  filler.fill(envelope.time);
  filler.fill(envelope.cause);
  out.body = default_body(kind);
  if (auto* observation = std::get_if<Observation>(&out.body)) {
    std::visit([&](auto& o) { filler.fill(o); }, *observation);
  } else if (auto* started = std::get_if<EpochStarted>(&out.body)) {
    filler.fill(*started);
  } else {
    auto events = arena_.make<Event>(filler.below(5));
    for (auto& one : events) one = event(filler.below(std::variant_size_v<Event>));
    if (auto* decisions = std::get_if<Decisions>(&out.body)) {
      filler.fill(decisions->base);
      filler.fill(decisions->step);
      decisions->events = events;
    } else {
      auto& noted = std::get<DecisionsNoted>(out.body);
      filler.fill(noted.base);
      filler.fill(noted.rules);
      noted.events = events;
      filler.fill(noted.withdrawn);
      filler.fill(noted.would_not);
    }
  }
  return out;
}

RecordView RandomRecords::record() & { return record(static_cast<std::size_t>(random_() % body_kinds)); }

Event RandomRecords::event(std::size_t kind) & {
  Filler filler(random_, arena_);
  Event out = default_event(kind);
  std::visit([&](auto& e) { filler.fill(e); }, out);
  return out;
}

bool equal_bodies(const Body& a, const Body& b) { return Equal()(a, b); }

bool equal_records(const RecordView& a, const RecordView& b) {
  return a.envelope.domain == b.envelope.domain && a.envelope.sequence == b.envelope.sequence && a.envelope.epoch == b.envelope.epoch &&
         a.envelope.time == b.envelope.time && a.envelope.cause == b.envelope.cause && equal_bodies(a.body, b.body);
}

}  // namespace hindsight::test

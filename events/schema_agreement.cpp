// Proves at compile time that the plain types, their field lists and the schemas say the same: names, order, types, enum
// numbers. Defaults are compared by tests/events/codec_test.cpp.

#include "events/decision_fields.hpp"
#include "schemas/envelope_generated.h"
#include "vocabulary/record.hpp"

namespace hindsight::events {
namespace {

template <class T>
constexpr bool agrees();

/// How a member of type M looks through the generated accessor; for tables, whether they agree in turn.
template <class M>
struct OnWire {};
template <class N>
requires std::is_arithmetic_v<N>
struct OnWire<N> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, N>;
};
template <class E>
requires std::is_enum_v<E>
struct OnWire<E> {
  template <class W>
  static constexpr bool is = Enumerators<E>::template agrees<W>();
};
template <>
struct OnWire<Time> : OnWire<std::int64_t> {};
template <>
struct OnWire<Text> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, const flatbuffers::String*>;
};
template <class N>
struct OnWire<std::optional<N>> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, flatbuffers::Optional<N>>;
};
template <Registered T>
struct OnWire<T> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, const typename Fields<T>::Wire*>&& agrees<T>();
};
template <>
struct OnWire<List<Text>> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*>;
};
template <Registered T>
struct OnWire<List<T>> {
  template <class W>
  static constexpr bool is = std::is_same_v<W, const flatbuffers::Vector<flatbuffers::Offset<typename Fields<T>::Wire>>*>&& agrees<T>();
};

template <class T>
constexpr bool agrees() {
  using Traits = typename Fields<T>::Wire::Traits;
  constexpr std::size_t count = std::tuple_size_v<decltype(Fields<T>::list)>;
  static_assert(Traits::fields_number == count, "struct and table have different numbers of fields");
  bool same = Fields<T>::table == Traits::name;
  if constexpr (count > 0) {
    for_each_field<T>([&]<class M>(auto index, const Field<T, M>& f) {
      using Accessor = typename Traits::template FieldType<decltype(index)::value>;
      static_assert(OnWire<M>::template is<Accessor>, "a field has another type on the wire");
      same = same && f.name == Traits::field_names[index];
    });
  }
  return same;
}

template <class V>
struct All;
template <class... T>
struct All<std::variant<T...>> {
  static constexpr bool agree() { return (agrees<T>() && ...); }
};

// Everything that a body can be, with all that bodies are made of.
static_assert(All<Observation>::agree());
static_assert(All<Event>::agree());
static_assert(agrees<EpochStarted>());
static_assert(Enumerators<StepKind>::agrees<wire::StepKind>());

// The unions name every alternative and nothing else: NONE, observations, Decisions, EpochStarted, DecisionsNoted; NONE, events.
static_assert(sizeof(wire::EnumValuesBody()) / sizeof(wire::Body) == std::variant_size_v<Observation> + 4);
static_assert(std::variant_size_v<Body> == 4);
static_assert(sizeof(wire::EnumValuesEvent()) / sizeof(wire::Event) == std::variant_size_v<Event> + 1);

}  // namespace
}  // namespace hindsight::events

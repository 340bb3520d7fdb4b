#pragma once

// The machinery of the field registry: for each plain record type the list of its members, in the order of the field ids
// of its table in schemas/. Codec, JSON and tests walk the lists, so that a field is written down twice only (the struct
// and the schema) and listed once here. The lists: observation_fields.hpp, decision_fields.hpp.

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vocabulary/each_argument.hpp"

namespace hindsight::events {

/// One member of T and its name in the schema. Its position in the list is its field id.
template <class T, class M>
struct Field {
  using Owner = T;
  using Member = M;
  std::string_view name;
  M T::*member;
};

template <class T, class M>
constexpr Field<T, M> field(std::string_view name, M T::*member) {
  return {name, member};
}

/// Specialised by HINDSIGHT_RECORD: name of the `table`, `list` of Field, `Wire` the generated (maybe incomplete) table type.
template <class T>
struct Fields;

template <class T>
concept Registered = requires {
  Fields<T>::list;
};

/// One enumerator: its name in C++ and schema, and the name that the API or a reader knows it by.
template <class E>
struct Enumerator {
  E value;
  std::string_view name;
  std::string_view api_name;
};

/// Specialised by HINDSIGHT_ENUM: `list` of Enumerator, dense from 0.
template <class E>
struct Enumerators;

/// The API's name of a value; "?" when it is out of range (decoded records never are).
template <class E>
constexpr std::string_view api_name(E value) {
  const auto i = static_cast<std::size_t>(value);
  return i < Enumerators<E>::list.size() ? Enumerators<E>::list[i].api_name : "?";
}

/// Calls f(index_constant<I>, field) for each field of T, in the order of ids.
template <class T, class F>
constexpr void for_each_field(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}, std::get<I>(Fields<T>::list)), ...); }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(Fields<T>::list)>>>{});
}

}  // namespace hindsight::events

// ---- macros -------------------------------------------------------------------------------------------------------------

#define HINDSIGHT_FIELD(T, m) ::hindsight::events::field(#m, &::hindsight::T::m)
#define HINDSIGHT_ENUMERATOR(E, v, api) \
  ::hindsight::events::Enumerator<::hindsight::E> { ::hindsight::E::v, #v, api }
#define HINDSIGHT_SAME_NUMBER(W, v, api) (static_cast<unsigned>(W::v) == static_cast<unsigned>(Self::v))

/// Registers struct hindsight::T with the table hindsight.wire.T; at global scope. All members, in the order of field ids:
/// `all_members_are_listed` does not compile when the struct has one more.
#define HINDSIGHT_RECORD(T, ...)                                                                                                        \
  namespace hindsight::wire {                                                                                                           \
  struct T;                                                                                                                             \
  }                                                                                                                                     \
  template <>                                                                                                                           \
  struct hindsight::events::Fields<hindsight::T> {                                                                                      \
    using Wire = hindsight::wire::T;                                                                                                    \
    static constexpr std::string_view table = #T;                                                                                       \
    static constexpr auto list = std::make_tuple(HINDSIGHT_EACH(HINDSIGHT_FIELD, T, __VA_ARGS__));                                      \
    static constexpr void all_members_are_listed(const hindsight::T& record_) { [[maybe_unused]] const auto& [__VA_ARGS__] = record_; } \
  };

/// As HINDSIGHT_RECORD, for a struct without members.
#define HINDSIGHT_EMPTY_RECORD(T)                   \
  namespace hindsight::wire {                       \
  struct T;                                         \
  }                                                 \
  template <>                                       \
  struct hindsight::events::Fields<hindsight::T> {  \
    static_assert(std::is_empty_v<hindsight::T>);   \
    using Wire = hindsight::wire::T;                \
    static constexpr std::string_view table = #T;   \
    static constexpr auto list = std::make_tuple(); \
  };

/// Registers enum hindsight::E: enumerator, API name, enumerator, API name, ... `agrees<W>()`: W has the same numbers.
#define HINDSIGHT_ENUM(E, ...)                                                               \
  template <>                                                                                \
  struct hindsight::events::Enumerators<hindsight::E> {                                      \
    using Self = hindsight::E;                                                               \
    static constexpr std::string_view name = #E;                                             \
    static constexpr std::array list{HINDSIGHT_PAIRS(HINDSIGHT_ENUMERATOR, E, __VA_ARGS__)}; \
    template <class W>                                                                       \
    static constexpr bool agrees() {                                                         \
      for (const bool same : {HINDSIGHT_PAIRS(HINDSIGHT_SAME_NUMBER, W, __VA_ARGS__)}) {     \
        if (!same) return false;                                                             \
      }                                                                                      \
      for (std::size_t i = 0; i < list.size(); ++i) {                                        \
        if (static_cast<std::size_t>(list[i].value) != i) return false;                      \
      }                                                                                      \
      return static_cast<std::size_t>(W::MAX) + 1 == list.size();                            \
    }                                                                                        \
  };

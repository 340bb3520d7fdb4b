#pragma once

#include <string_view>
#include <type_traits>

#include "vocabulary/each_argument.hpp"

namespace hindsight::admission {

/// What a member of the state is. A new member has to be listed as one of these, else its struct does not compile: so it cannot be
/// forgotten in snapshots, in the hash over everything, or where two states are compared.
enum class FieldKind {
  state,    ///< Follows from the records alone, and decisions follow from it: in snapshots and in the hash, and compared.
  kept,     ///< In snapshots, because the fold goes on with it: numbers of rows, what was not asked yet. No outcome depends on it.
  derived,  ///< Follows from the state; made anew when a snapshot is read.
  cache     ///< Nothing between two records.
};
template <FieldKind kind>
using FieldKindConstant = std::integral_constant<FieldKind, kind>;

/// Specialised by HINDSIGHT_STATE and HINDSIGHT_STATE_OF_KINDS (state_fields.hpp). `each(f, a, b...)` calls f(FieldKindConstant, name, a.m,
/// b.m...) for every member m, in a fixed order; `type` is the name of T.
template <class T>
struct StateFields;

template <class T>
concept Listed = requires(const T& x) {
  StateFields<std::remove_const_t<T>>::all_members_are_listed(x);
};

}  // namespace hindsight::admission

#define HINDSIGHT_VISIT(kind, m) \
  f(::hindsight::admission::FieldKindConstant<::hindsight::admission::FieldKind::kind>{}, std::string_view(#m), objects.m...)
#define HINDSIGHT_VISIT_AS(x, kind, m) HINDSIGHT_VISIT(kind, m)
#define HINDSIGHT_NAME_OF(x, kind, m) m

#define HINDSIGHT_STATE_FIELDS(T, visits, ...)                                                                                         \
  template <>                                                                                                                          \
  struct hindsight::admission::StateFields<hindsight::admission::T> {                                                                  \
    static constexpr std::string_view type = #T;                                                                                       \
    template <class F, class... Objects>                                                                                               \
    static constexpr void each(F&& f, Objects&... objects) {                                                                           \
      (visits);                                                                                                                        \
    }                                                                                                                                  \
    static void all_members_are_listed(const hindsight::admission::T& object) { [[maybe_unused]] const auto& [__VA_ARGS__] = object; } \
  };
/// For struct hindsight::admission::T, at global scope: all of its members, each of which is state.
#define HINDSIGHT_STATE(T, ...) HINDSIGHT_STATE_FIELDS(T, HINDSIGHT_EACH(HINDSIGHT_VISIT, state, __VA_ARGS__), __VA_ARGS__)
/// The same with the kind of each: kind, member, kind, member, ...
#define HINDSIGHT_STATE_OF_KINDS(T, ...) \
  HINDSIGHT_STATE_FIELDS(T, HINDSIGHT_PAIRS(HINDSIGHT_VISIT_AS, , __VA_ARGS__), HINDSIGHT_PAIRS(HINDSIGHT_NAME_OF, , __VA_ARGS__))

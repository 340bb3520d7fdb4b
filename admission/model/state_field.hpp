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
/// b.m...) for every member m, in a fixed order; `type_name` is that of T.
template <class T>
struct StateFields;

template <class T>
concept Listed = requires(const T& x) {
  StateFields<std::remove_const_t<T>>::all_members_are_listed(x);
};

}  // namespace hindsight::admission

#define HINDSIGHT_VISIT(kind, m) \
  f(::hindsight::admission::FieldKindConstant<::hindsight::admission::FieldKind::kind>{}, std::string_view(#m), objects.m...)
#define HINDSIGHT_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define HINDSIGHT_AFTER_A_COMMA(...) __VA_OPT__(, ) __VA_ARGS__

/// For struct hindsight::admission::T, at global scope: all of its members in four lists, (state), (kept), (derived), (cache), of which the
/// first has at least one.
#define HINDSIGHT_STATE_OF_KINDS(T, state_, kept_, derived_, cache_)                                                                    \
  template <>                                                                                                                           \
  struct hindsight::admission::StateFields<hindsight::admission::T> {                                                                   \
    static constexpr std::string_view type_name = #T;                                                                                   \
    template <class F, class... Objects>                                                                                                \
    static constexpr void each(F&& f, Objects&... objects) {                                                                            \
      HINDSIGHT_EACH(HINDSIGHT_VISIT, state, HINDSIGHT_WITHOUT_PARENTHESES state_);                                                     \
      HINDSIGHT_EACH(HINDSIGHT_VISIT, kept, HINDSIGHT_WITHOUT_PARENTHESES kept_);                                                       \
      HINDSIGHT_EACH(HINDSIGHT_VISIT, derived, HINDSIGHT_WITHOUT_PARENTHESES derived_);                                                 \
      HINDSIGHT_EACH(HINDSIGHT_VISIT, cache, HINDSIGHT_WITHOUT_PARENTHESES cache_);                                                     \
    }                                                                                                                                   \
    static void all_members_are_listed(const hindsight::admission::T& object) {                                                         \
      [[maybe_unused]] const auto& [HINDSIGHT_WITHOUT_PARENTHESES state_ HINDSIGHT_AFTER_A_COMMA kept_ HINDSIGHT_AFTER_A_COMMA derived_ \
                                        HINDSIGHT_AFTER_A_COMMA cache_] = object;                                                       \
    }                                                                                                                                   \
  };
/// The same for a struct of which every member is state.
#define HINDSIGHT_STATE(T, ...) HINDSIGHT_STATE_OF_KINDS(T, (__VA_ARGS__), (), (), ())

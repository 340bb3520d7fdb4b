#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/wait_reasons.hpp"

namespace hindsight::projections {

/// Something that a person who looks after a cluster would want to know of, and why in one sentence.
struct Attention {
  enum class Kind {
    queue_cannot_admit,  ///< A queue is stopped, or something that it needs is missing.
    never_fits,          ///< Workloads ask for more quota than their queue can ever have.
    unused_quota,        ///< Quota of a tree is unused that would be enough for somebody who waits for it.
    check_hangs,         ///< Workloads hold quota and wait long for an admission check.
    mutual_preemption,   ///< Two preempt each other, or one preempts the same other again and again.
    long_wait,           ///< Longer than 95 % of those who got quota in the same queue had waited.
    set_aside            ///< An object that could not be read.
  };
  struct Object {
    std::string kind, namespace_, name;
  };
  Kind kind = Kind::long_wait;
  std::string sentence;
  std::vector<Object> objects;  ///< What it is about first, then an example.
  Time since;                   ///< Never: not known.
  std::size_t workloads = 0;    ///< So many are concerned.
};

/// "queueCannotAdmit", "longWait", ...
[[nodiscard]] std::string_view name_of(Attention::Kind kind);

/// What a wait is compared with: those of a queue who got quota at their first try, and hold it or have finished and are still there.
/// Fewer of them than this say nothing.
inline constexpr std::size_t waits_on_record_min = 20;
/// A wait that is shorter is not long, whatever others had.
inline constexpr Duration long_wait_min = Duration::seconds(60);
/// A check that is not ready hangs when it has been so for this long.
inline constexpr Duration check_hangs_after = Duration::seconds(600);

/// By kind, in the order of `Kind`; within one those first that concern most workloads. From the state alone: waits are those that
/// conditions tell of, in whole seconds as the API has them. `waiters`: of this state. `shown`: whether objects of a namespace may be
/// named; what is only about others is left out, and counted in `left_out`. Time linear in Workloads, beside sorting.
[[nodiscard]] std::vector<Attention> attention_of(const StateView& state, const Waiters& waiters,
                                                  const std::function<bool(const Symbol& namespace_)>& shown, std::size_t& left_out);

}  // namespace hindsight::projections

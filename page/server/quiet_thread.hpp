#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace hindsight::page {

/// The calling thread gives way to those that decide: it gets about a sixtieth of the processor where they want all of it, and all of it
/// where nobody does. Not SCHED_IDLE: who holds a lock of the table of names must come to let go of it. On Linux a priority is that of a
/// thread.
inline void be_quiet() noexcept {
  constexpr int behind_others = 19;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), behind_others);
}

}  // namespace hindsight::page

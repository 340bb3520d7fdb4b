#pragma once

#include <pthread.h>

namespace hindsight {

/// What `top -H`, debuggers and profiles show of the calling thread. `name`: at most 15 characters, else nothing is changed. Threads that
/// it starts inherit it.
inline void name_this_thread(const char* name) noexcept { (void)::pthread_setname_np(::pthread_self(), name); }

}  // namespace hindsight

#pragma once

/// Of mimalloc, which programs are linked with, but not those of tests with a sanitizer.
extern "C" [[gnu::weak]] void mi_collect(bool force);

namespace hindsight::page {

/// What the calling thread has freed goes back to the system, as far as the allocator can. For who has let go of a state: some
/// milliseconds.
inline void return_freed_memory() noexcept {
  if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace hindsight::page

#include "operations/descriptor_limit.hpp"

#include <algorithm>
#include <limits>

#include <sys/resource.h>

namespace hindsight::operations {
namespace {

/// More than all servers together need.
constexpr rlim_t descriptors_wanted = 65'536;

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= descriptors_wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? descriptors_wanted : std::min(limit.rlim_max, descriptors_wanted);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::size_t>::max();
  return limit.rlim_cur;
}

}  // namespace hindsight::operations

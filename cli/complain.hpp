#pragma once

#include <cstdio>

#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Says why a command that runs until it is stopped does not begin, and returns its exit code: 2 for use, 1 for failure.
inline int complain(const Error& e) {
  std::fprintf(stderr, "hindsight: error: %s\n", e.message.c_str());
  return e.kind == ErrorKind::invalid || e.kind == ErrorKind::not_found ? 2 : 1;
}

}  // namespace hindsight::cli

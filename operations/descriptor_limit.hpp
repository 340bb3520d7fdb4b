#pragma once

#include <cstddef>

namespace hindsight::operations {

/// Lets the process open as many files as it may: shells give 1024 by default, for programs that still use select().
void raise_descriptor_limit();

/// How many files the process may have open.
[[nodiscard]] std::size_t descriptor_limit();

}  // namespace hindsight::operations

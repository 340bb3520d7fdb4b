#pragma once

// What is done with bytes that somebody claims to be a record. Shared by the seeded mutations of the test suite and by libFuzzer.

#include <cstddef>
#include <span>

namespace hindsight::test {

/// Decodes in both ways; what decodes is printed, encoded and decoded once more. True: the bytes are a record. Stops the process
/// when the two ways or the two rounds differ.
bool exercise_record(std::span<const std::byte> bytes);

}  // namespace hindsight::test

#pragma once

// Snapshots as a node reads them: out of a log, into fresh entities. Used by tests and by libFuzzer; aborts where reading did not hold.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hindsight::test {

/// Whatever bytes a log gives as a snapshot, with a checksum that fits: true, a node would go on from it.
bool exercise_snapshot(std::span<const std::byte> bytes);

/// The same with these bytes as the state of the domain in a snapshot that is whole and names the hash that the state has.
bool exercise_state(std::span<const std::byte> state);

/// The states that the logs in tests/replay/logs lead to, and one whose texts have the lengths 0, 1, those around each limit of
/// Kubernetes and of ours, and longer ones.
[[nodiscard]] const std::vector<std::vector<std::byte>>& good_states();

/// Changes a good state by what the bytes say, four for each change: where, and what. For a fuzzer that would need long to come up with a
/// state of its own.
[[nodiscard]] std::vector<std::byte> changed_state(std::span<const std::byte> changes);

}  // namespace hindsight::test

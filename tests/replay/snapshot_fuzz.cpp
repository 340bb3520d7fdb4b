// libFuzzer on snapshots as a node reads them: ./dev fuzz snapshot. The first byte says what the others are: a whole snapshot, the state of
// a domain in one, or changes of a good state.

#include <cstdint>

#include <string>
#include "tests/replay/exercise_snapshot.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    std::vector<std::string> out{std::string(1, '\2') + "abcdefgh"};
    for (const auto& state : hindsight::test::good_states())
      out.push_back('\1' + std::string(reinterpret_cast<const char*>(state.data()), state.size()));
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0:
      hindsight::test::exercise_snapshot(bytes);
      break;
    case 1:
      hindsight::test::exercise_state(bytes);
      break;
    default:
      hindsight::test::exercise_state(hindsight::test::changed_state(bytes));
  }
  return 0;
}

// libFuzzer on the quantity parser: cmake --preset fuzz, then fuzz/fuzz_quantity CORPUS_FOLDER.

#include <cstddef>
#include <cstdint>

#include "tests/support/fuzz_seeds.hpp"
#include "tests/vocabulary/exercise_quantity.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(
      argc, argv, [] { return std::vector<std::string>{"0", "1500m", "2Gi", "-1.5e3", "9223372036854775807", "0.1Ki", "1E", "100n"}; });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!hindsight::test::exercise_quantity({reinterpret_cast<const char*>(data), size}).empty()) std::abort();
  return 0;
}

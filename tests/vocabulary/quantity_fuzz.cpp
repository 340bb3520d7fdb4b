// libFuzzer on the quantity parser: cmake --preset fuzz, then fuzz/fuzz_quantity CORPUS_FOLDER.

#include <cstddef>
#include <cstdint>

#include "tests/vocabulary/exercise_quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!hindsight::test::exercise_quantity({reinterpret_cast<const char*>(data), size}).empty()) std::abort();
  return 0;
}

// libFuzzer on the record decoder: cmake --preset fuzz, then fuzz/fuzz_record CORPUS_FOLDER tests/schemas/corpus/0.1.

#include <cstdint>

#include "tests/events/exercise_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::test::exercise_record(std::as_bytes(std::span(data, size)));
  return 0;
}

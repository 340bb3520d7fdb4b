// libFuzzer on the record decoder: cmake --preset fuzz, then fuzz/fuzz_record CORPUS_FOLDER tests/schemas/corpus/0.1.

#include <cstdint>

#include "tests/events/exercise_record.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] { return hindsight::test::seeds_of("tests/schemas/corpus", ".bin"); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::test::exercise_record(std::as_bytes(std::span(data, size)));
  return 0;
}

// libFuzzer entry: bodies posted to the webhooks as they are served.
#include <cstddef>
#include <cstdint>

#include "tests/runtime/exercise_webhooks.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, hindsight::test::review_corpus);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::test::exercise_webhooks({reinterpret_cast<const char*>(data), size});
  return 0;
}

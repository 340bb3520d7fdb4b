// libFuzzer entry: bytes over a socket to a real server.
#include <cstddef>
#include <cstdint>

#include "tests/operations/exercise_http.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, hindsight::operations::http_corpus);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::operations::exercise_http({reinterpret_cast<const char*>(data), size});
  return 0;
}

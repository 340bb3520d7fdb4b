// libFuzzer on descriptions of jobs to draw, and on traces of other systems: ./dev fuzz load. The first byte says what kind.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/simulation/exercise_load.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    std::vector<std::string> out;
    for (const auto& [kind, text] : hindsight::test::good_loads()) out.push_back(static_cast<char>(kind) + text);
    for (const char* ending : {"generate.yaml", ".swf", ".sacct"}) {
      const char kind = ending[0] == 'g' ? '\0' : '\1';
      for (auto& seed : hindsight::test::seeds_of("examples/load", ending, std::string(1, kind))) out.push_back(std::move(seed));
    }
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<hindsight::test::LoadKind>(data[0] % hindsight::test::load_kinds);
  if (!hindsight::test::exercise_load(kind, {reinterpret_cast<const char*>(data + 1), size - 1}).empty()) std::abort();
  return 0;
}

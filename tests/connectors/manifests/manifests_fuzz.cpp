#include <cstddef>
#include <cstdint>
#include <string_view>

#include <utility>
#include "connectors/manifests/manifest_reader.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    auto out = hindsight::test::seeds_of("examples", ".yaml");
    for (auto& one : hindsight::test::seeds_of("tests/conformance/cases", ".yaml")) out.push_back(std::move(one));
    return out;
  });
}

/// Any bytes are read as a file or refused with an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hindsight::connectors::manifests::ReadLimits limits;
  limits.values = 100'000;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto input = hindsight::connectors::manifests::read_text(text, "fuzz.yaml", limits);
  if (!input && !input.error().message.starts_with("fuzz.yaml:")) __builtin_trap();
  return 0;
}

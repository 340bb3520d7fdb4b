#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/connectors/webhooks/asking.hpp"
#include "tests/connectors/webhooks/random_objects.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace w = hindsight::connectors::webhooks;
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    std::vector<std::string> out;
    w::test::RandomObjects random(1);
    for (int round = 0; round < 5; ++round)
      for (const auto& one : w::reviewed_kinds()) {
        const auto object = random.object_of(*one.kind), before = random.object_of(*one.kind);
        out.push_back(w::test::review("CREATE", object).dump());
        out.push_back(w::test::review("UPDATE", object, before).dump());
      }
    return out;
  });
}

/// Any bytes are answered with a verdict or with status 400.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace w = hindsight::connectors::webhooks;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const w::test::Around around;
  for (const auto& answer : {w::answer_mutation(text, around), w::answer_validation(text, around), w::answer_conversion(text)})
    if (answer.http_status != 200 && answer.http_status != 400) __builtin_trap();
  return 0;
}

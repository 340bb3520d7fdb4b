#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/connectors/webhooks/asking.hpp"

/// Any bytes are answered with a verdict or with status 400.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace w = hindsight::connectors::webhooks;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const w::test::Around around;
  for (const auto& answer : {w::answer_mutation(text, around), w::answer_validation(text, around), w::answer_conversion(text)})
    if (answer.http_status != 200 && answer.http_status != 400) __builtin_trap();
  return 0;
}

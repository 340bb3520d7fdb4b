// libFuzzer on what people ask in words of their own: JSONPath, columns, conditions, selectors, moments, changes: ./dev fuzz question. The
// first byte says what kind.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "tests/cli/exercise_question.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  setenv("TZ", "Europe/Berlin", 1);  // days of 23 and of 25 hours
  tzset();
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    std::vector<std::string> out;
    for (const auto& [kind, text] : hindsight::test::good_questions()) out.push_back(static_cast<char>(kind) + text);
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<hindsight::test::QuestionKind>(data[0] % hindsight::test::question_kinds);
  if (!hindsight::test::exercise_question(kind, {reinterpret_cast<const char*>(data + 1), size - 1}).empty()) std::abort();
  return 0;
}

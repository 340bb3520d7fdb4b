// libFuzzer on the lines and manifests of evidence: ./dev fuzz evidence_line.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "evidence/files.hpp"
#include "evidence/lines.hpp"
#include "tests/evidence/made_evidence.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    const auto key = hindsight::test::made_key();
    const hindsight::test::MadeLog log(&key);
    auto out = log.lines(3, 9, {5, 6});
    for (const auto& c : log.checkpoints) out.push_back(hindsight::evidence::checkpoint_line(c));
    out.push_back(R"({"format":"hindsight-evidence","version":1,"files":{"a":{"bytes":1,"sha256":""}}})");
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)hindsight::evidence::read_line(text);
  (void)hindsight::evidence::read_checkpoint_line(text);
  (void)hindsight::evidence::read_manifest(text);
  return 0;
}

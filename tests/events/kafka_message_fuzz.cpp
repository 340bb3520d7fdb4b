// libFuzzer on the messages of Kafka: ./dev fuzz kafka_message tests/schemas/corpus/0.1. The first byte says what kind, the second how much
// of the rest is the key.

#include <algorithm>
#include <cstdint>

#include <string>
#include "tests/events/exercise_message.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    // A record, sealed, with the key "default"; and other kinds of messages from the same bytes.
    auto out = hindsight::test::seeds_of("tests/schemas/corpus", ".bin", std::string("\4\7") + "default");
    for (const char kind : {'\1', '\2', '\3', '\5', '\6', '\7', '\10', '\14'})
      out.push_back(std::string(1, kind) + '\7' + "default" + std::string(64, '\1'));
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t key = std::min<std::size_t>(data[1], size - 2);
  hindsight::test::exercise_message(static_cast<hindsight::test::MessageKind>((data[0] & 8) != 0 ? 4 : data[0] % 4),
                                    {reinterpret_cast<const char*>(data + 2), key},
                                    std::as_bytes(std::span(data + 2 + key, size - 2 - key)), (data[0] & 4) != 0);
  return 0;
}

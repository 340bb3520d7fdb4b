// libFuzzer entry: bytes as the stream of a watch. The first byte says how large the chunks are.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <vector>
#include "connectors/kubernetes/mirror/watch_decoder.hpp"
#include "tests/support/fuzz_seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    const std::string object =
        R"({"kind":"Job","metadata":{"name":"j","namespace":"n","uid":"u","resourceVersion":"7","managedFields":[{"manager":"m"}]},"spec":{}})";
    std::vector<std::string> out;
    for (const char chunk : {'\1', '\100'})
      for (const char* type : {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})
        out.push_back(chunk + (R"({"type":")" + std::string(type) + R"(","object":)" + object + "}\n"));
    out.push_back("\7{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}}\n");
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hindsight::connectors::kubernetes;
  if (size == 0) return 0;
  const std::size_t chunk = 1U + data[0];
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  WatchDecoder decoder(4096);
  std::string copy;
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    decoder.feed(stream.substr(at, chunk));
    for (;;) {
      const auto line = decoder.next();
      if (!line) return 0;
      if (!*line) break;
      if ((*line)->type != WatchLine::Type::error) copy_without_managed_fields((*line)->object, copy);
    }
  }
  return 0;
}

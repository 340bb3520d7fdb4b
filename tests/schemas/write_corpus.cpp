// write_corpus FOLDER: stores things of every kind as this build writes them, and what they say. Run once for a release, by
// schemas/release.sh; every later build has to read the files (corpus_test.cpp).

#include <filesystem>
#include <fstream>
#include <iostream>

#include "events/json.hpp"
#include "events/record.hpp"
#include "tests/schemas/corpus.hpp"
#include "tests/schemas/full_record.hpp"

namespace hindsight::test {
namespace {

void write(const std::filesystem::path& path, std::span<const std::byte> bytes, const std::string& json) {
  std::ofstream binary(path.string() + ".bin", std::ios::binary);
  binary.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(path.string() + ".json") << json << "\n";
}

void write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  events::Encoder encoder;
  FullRecords full;
  for (std::size_t kind = 0; kind < body_kinds; ++kind) {
    const RecordView record = full.record(kind);
    write(folder / (body_name(record) + ".full"), encoder.encode(record), events::to_json(record));
    const RecordView empty{{"domain", 1, 0, Time::never(), 0}, default_body(kind)};
    write(folder / (body_name(empty) + ".empty"), encoder.encode(empty), events::to_json(empty));
  }
  const std::string first = "state of the first";
  const events::DomainState domains[] = {{"first", 11, 2, 0xFEDCBA9876543210, std::as_bytes(std::span(first))}, {"second", 12, 3, 7, {}}};
  const auto bytes = events::encode_snapshot({100, 3, Time{1'767'225'600'000'000}, 1, 0x0123456789ABCDEF, "0.1.0"}, 5, domains);
  write(folder / "Snapshot", bytes, snapshot_json(*events::decode_snapshot(bytes).value()));
}

}  // namespace
}  // namespace hindsight::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_corpus FOLDER\n";
    return 2;
  }
  hindsight::test::write_all(argv[1]);
  return 0;
}

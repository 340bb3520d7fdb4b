// The bytes of a snapshot: states are compressed where that helps, and what lies about itself is refused before it costs memory.

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "events/snapshot.hpp"
#include "schemas/snapshot_generated.h"

namespace hindsight::events {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string repeated_state() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "workload-" + std::to_string(i) + " waits in team-a; ";
  return text;
}

std::vector<std::byte> encoded(const std::vector<std::byte>& state) {
  const SnapshotMeta meta{7, 3, Time{5}, snapshot_schema_version, 99, "1.0", "default"};
  const DomainState one{"default", 7, 3, 99, state};
  return encode_snapshot(meta, 5, std::span(&one, 1));
}

/// A snapshot as somebody else could have written it.
std::vector<std::byte> forged(std::span<const std::byte> frame, std::uint64_t size) {
  flatbuffers::FlatBufferBuilder builder;
  const auto state = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size());
  const auto name = builder.CreateString("default");
  const auto domain = wire::CreateDomainState(builder, name, 7, 3, 99, state, size);
  const auto list = builder.CreateVector(&domain, 1);
  wire::FinishSnapshotBuffer(builder,
                             wire::CreateSnapshot(builder, snapshot_schema_version, 7, 3, 5, 99, builder.CreateString("1.0"), 5, list));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> frame_of(const std::vector<std::byte>& state) {
  std::vector<std::byte> out(ZSTD_compressBound(state.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), state.data(), state.size(), 1));
  return out;
}

TEST(SnapshotBytes, AreFewerWhereTheStateRepeatsItself) {
  const auto state = bytes_of(repeated_state());
  const auto bytes = encoded(state);
  EXPECT_LT(bytes.size() * 4, state.size());
  const auto back = decode_snapshot(bytes);
  ASSERT_TRUE(back) << back.error().message;
  const auto got = (*back)->domains()[0].state;
  ASSERT_EQ(got.size(), state.size());
  EXPECT_EQ(std::memcmp(got.data(), state.data(), state.size()), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got.data()) % 16, 0U);
}

TEST(SnapshotBytes, AreAsTheyAreWhereNothingIsGained) {
  for (const std::string text : {"", "x", "abcdefgh"}) {
    const auto state = bytes_of(text);
    const auto back = decode_snapshot(encoded(state));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(std::ranges::equal((*back)->domains()[0].state, state));
  }
}

TEST(SnapshotBytes, ThatLieAboutTheirSizeAreRefusedBeforeTheyCostMemory) {
  const auto state = bytes_of(repeated_state());
  const auto frame = frame_of(state);
  EXPECT_TRUE(decode_snapshot(forged(frame, state.size())));
  for (const std::uint64_t size : {std::uint64_t{1}, state.size() - 1, state.size() + 1, std::uint64_t{64} << 20}) {
    const auto refused = decode_snapshot(forged(frame, size));
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << refused.error().message;
  }
  const std::uint64_t most = (std::uint64_t{64} << 20) + 256 * frame.size();
  for (const std::uint64_t size : {most + 1, snapshot_state_max, ~std::uint64_t{0}}) {
    const auto too_large = decode_snapshot(forged(frame, size));
    ASSERT_FALSE(too_large);
    EXPECT_EQ(too_large.error().kind, ErrorKind::unsupported);
    EXPECT_NE(too_large.error().message.find("allowed: " + std::to_string(most)), std::string::npos) << too_large.error().message;
  }
}

TEST(SnapshotBytes, ThatAreCutOrDamagedGiveAnErrorOrAnotherState) {
  const auto state = bytes_of(repeated_state());
  const auto frame = frame_of(state);
  for (std::size_t n = 0; n < frame.size(); n += 1 + frame.size() / 200) {
    EXPECT_FALSE(decode_snapshot(forged(std::span(frame).first(n), state.size()))) << n;
    auto damaged = frame;
    damaged[n] ^= std::byte{0x55};
    if (const auto back = decode_snapshot(forged(damaged, state.size())))
      EXPECT_EQ((*back)->domains()[0].state.size(), state.size()) << n;
    else
      EXPECT_EQ(back.error().kind, ErrorKind::corrupt) << n;
  }
}

}  // namespace
}  // namespace hindsight::events

// Damaged and forged snapshots: a node goes on from one or passes it over and folds the log, and never dies of it. Seeded, so that a
// failure can be repeated; libFuzzer goes on from here (snapshot_fuzz.cpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "admission/state/snapshot.hpp"
#include "events/snapshot.hpp"
#include "tests/replay/exercise_snapshot.hpp"

namespace hindsight::test {
namespace {

std::vector<std::byte> snapshot_of(std::span<const std::byte> state) {
  const events::DomainState one{"default", 1, 1, 1, state};
  return events::encode_snapshot({.position = 1, .domain = "default"}, admission::snapshot_version, std::span(&one, 1));
}

/// Bytes, lengths and ends as disks, networks and enemies change them.
void mutate(std::vector<std::byte>& bytes, std::mt19937_64& random) {
  constexpr std::uint64_t edges[] = {0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
  for (std::size_t n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] ^= std::byte{1} << static_cast<int>(random() % 8);
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random());
        break;
      case 2: {
        const std::uint64_t value = edges[random() % std::size(edges)];
        std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(random() % 2 == 0 ? 4 : 8, bytes.size() - at));
        break;
      }
      case 3:
        if (random() % 8 == 0) bytes.resize(at);
        break;
      default: {
        const std::size_t from = random() % bytes.size(),
                          length = std::min({std::size_t{1} + random() % 64, bytes.size() - at, bytes.size() - from});
        std::memmove(bytes.data() + at, bytes.data() + from, length);
      }
    }
  }
}

TEST(SnapshotMutations, GoodStatesAreRead) {
  EXPECT_GE(good_states().size(), 6U);
  for (const auto& state : good_states()) EXPECT_TRUE(exercise_state(state));
}

TEST(SnapshotMutations, StatesThatWereChangedAreReadOrRefused) {
  std::size_t read = 0, refused = 0;
  std::mt19937_64 random(14);
  for (const auto& state : good_states()) {
    // Of a large state less is tried: reading it takes its time.
    const std::size_t rounds = std::clamp<std::size_t>(12'000'000 / std::max<std::size_t>(state.size(), 1), 20, 500);
    for (std::size_t i = 0; i < rounds; ++i) {
      auto mutant = state;
      mutate(mutant, random);
      ++(exercise_state(mutant) ? read : refused);
    }
  }
  EXPECT_GT(read, 100U);
  EXPECT_GT(refused, 100U);
}

TEST(SnapshotMutations, WholeSnapshotsThatWereChangedAreReadOrRefused) {
  std::size_t refused = 0;
  std::mt19937_64 random(15);
  const auto& state = *std::ranges::min_element(good_states(), {}, [](const auto& s) { return s.size(); });
  const auto good = snapshot_of(state);
  for (int i = 0; i < 500; ++i) {
    auto mutant = good;
    // Half of them where FlatBuffers has its tables: at the beginning and at the end.
    mutate(mutant, random);
    refused += exercise_snapshot(mutant) ? 0 : 1;
  }
  EXPECT_EQ(refused, 500U) << "it names another hash";
  EXPECT_FALSE(exercise_snapshot({}));
}

TEST(SnapshotMutations, EachBeginningOfAStateIsRefused) {
  const auto& state = *std::ranges::min_element(good_states(), {}, [](const auto& s) { return s.size(); });
  for (std::size_t n = 0; n < state.size(); n += 1 + n / 64) EXPECT_FALSE(exercise_state(std::span(state).first(n))) << n;
}

}  // namespace
}  // namespace hindsight::test

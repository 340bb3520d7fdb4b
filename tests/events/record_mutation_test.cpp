// Damaged records: whatever happens to the bytes of a record, reading them gives an error or a record that holds together, never a
// crash. Seeded, so that a failure can be repeated; libFuzzer goes on from here (record_fuzz.cpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "events/record.hpp"
#include "tests/events/exercise_record.hpp"
#include "tests/events/random_records.hpp"

namespace hindsight::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Damages bytes in the ways of disks, networks and wrong code.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  void mutate(Bytes& bytes, const Bytes& other) {
    for (std::size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n) mutate_once(bytes, other);
  }

 private:
  void mutate_once(Bytes& bytes, const Bytes& other) {
    const std::size_t at = below(bytes.size());
    switch (below(8)) {
      case 0:
        bytes[at] ^= std::byte{1} << static_cast<int>(below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random_());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(9), static_cast<std::byte>(random_()));
        break;
      case 4:
        number_at(bytes, at / 4 * 4, small_number());
        break;  // offsets and lengths are numbers of four bytes
      case 5:
        number_at(bytes, at / 4 * 4, number_of(bytes, at / 4 * 4) + small_number());
        break;
      case 6:
        copy(bytes, at, bytes, below(bytes.size()));
        break;
      default:
        copy(bytes, at, other, below(other.size()));
        break;
    }
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::uint32_t small_number() {
    constexpr std::uint32_t edges[] = {0, 1, 4, 0x7FFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF};
    return below(2) == 0 ? edges[below(std::size(edges))] : static_cast<std::uint32_t>(below(256));
  }
  static std::uint32_t number_of(const Bytes& bytes, std::size_t at) {
    std::uint32_t out = 0;
    if (at + 4 <= bytes.size()) std::memcpy(&out, bytes.data() + at, 4);
    return out;
  }
  static void number_at(Bytes& bytes, std::size_t at, std::uint32_t value) {
    if (at + 4 <= bytes.size()) std::memcpy(bytes.data() + at, &value, 4);
  }
  void copy(Bytes& to, std::size_t at, const Bytes& from, std::size_t start) {
    const std::size_t n = std::min({1 + below(32), to.size() - at, from.size() - start});
    std::memmove(to.data() + at, from.data() + start, n);
  }

  std::mt19937_64 random_;
};

TEST(RecordMutations, never_crash_the_reader) {
  constexpr std::uint64_t seeds = 300;
  constexpr int mutants_of_each = 150;
  std::size_t readable = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomRecords random(seed);
    Mutator mutator(seed);
    events::Encoder encoder;
    const auto keep = [](std::span<const std::byte> span) { return Bytes(span.begin(), span.end()); };
    const Bytes original = keep(encoder.encode(random.record(seed % body_kinds)));
    const Bytes other = keep(encoder.encode(random.record()));
    ASSERT_TRUE(exercise_record(original));
    for (int i = 0; i < mutants_of_each; ++i) {
      Bytes mutant = original;
      mutator.mutate(mutant, other);
      ++(exercise_record(mutant) ? readable : refused);
    }
  }
  // Both ways are taken often, or this test shows nothing.
  EXPECT_GT(readable, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(RecordMutations, of_every_single_bit_never_crash_the_reader) {
  RandomRecords random(21);
  events::Encoder encoder;
  const auto span = encoder.encode(random.record(10));
  Bytes bytes(span.begin(), span.end());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << static_cast<int>(bit % 8);
    bytes[bit / 8] ^= mask;
    exercise_record(bytes);
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(exercise_record(bytes));
}

}  // namespace
}  // namespace hindsight::test

#include "simulation/load_random.hpp"

#include <array>
#include <bit>
#include <limits>

namespace hindsight::simulation {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ULL;
constexpr std::int64_t ln2_fixed = 2'977'044'472;  // ln 2 × 2³²
constexpr Wide one_62 = Wide{1} << 62;             // 1 in units of 2⁻⁶²

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// The square root, rounded down, of a number below 2¹²⁶.
Wide root_of(Wide n) {
  Wide root = 0;
  for (int bit = 62; bit >= 0; --bit)
    if (const Wide tried = root | (Wide{1} << bit); tried * tried <= n) root = tried;
  return root;
}

/// 2 to the power of ½, ¼, ⅛, …, in units of 2⁻⁶².
std::array<Wide, 32> roots_of_two() {
  std::array<Wide, 32> out{};
  Wide last = Wide{2} << 62;
  for (auto& root : out) root = last = root_of(last << 62);
  return out;
}

std::int64_t saturated(Wide n) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return n > static_cast<Wide>(most) ? most : static_cast<std::int64_t>(n);
}

}  // namespace

Fixed32 log2_of(std::uint64_t n) {
  const int whole = 63 - std::countl_zero(n);
  std::uint64_t m = n << (63 - whole);  // from 1 to 2, in units of 2⁻⁶³
  Fixed32 fraction = 0;
  for (int bit = 31; bit >= 0; --bit) {
    Wide square = (Wide{m} * m) >> 63U;
    if ((square >> 64U) != 0) {
      fraction |= Fixed32{1} << bit;
      square >>= 1U;
    }
    m = static_cast<std::uint64_t>(square);
  }
  return (Fixed32{whole} << 32) | fraction;
}

std::int64_t times_power_of_two(std::int64_t value, Fixed32 exponent) {
  static const std::array<Wide, 32> roots = roots_of_two();
  const std::int64_t whole = exponent >> 32;
  Wide factor = one_62;
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (((exponent >> (31 - i)) & 1) != 0) factor = (factor * roots[i]) >> 62U;
  if (value <= 0) return 0;
  const Wide product = static_cast<Wide>(value) * factor;  // below 2¹²⁶
  if (whole >= 63) return std::numeric_limits<std::int64_t>::max();
  if (whole < -64) return 0;
  // by whole numbers below 63 nothing is lost: what is shifted out of the right is below 1
  return saturated(product >> static_cast<unsigned>(62 - whole));
}

std::int64_t times_fixed(std::int64_t value, Fixed32 factor) {
  return saturated((static_cast<Wide>(value) * static_cast<Wide>(factor)) >> 32U);
}

LoadRandom::LoadRandom(std::uint64_t seed, std::uint64_t stream) : state_(mixed(seed + golden) ^ mixed((stream + 1) * golden)) {}

std::uint64_t LoadRandom::next() { return mixed(state_ += golden); }

std::uint64_t LoadRandom::below(std::uint64_t n) { return static_cast<std::uint64_t>((Wide{next()} * n) >> 64U); }

Fixed32 LoadRandom::exponential() {
  const Fixed32 bits = (Fixed32{53} << 32) - log2_of((next() >> 11U) + 1);
  return times_fixed(bits, ln2_fixed);
}

Fixed32 LoadRandom::normal() {
  Fixed32 sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<Fixed32>(next() >> 32U);
  return sum - 6 * fixed_one;
}

}  // namespace hindsight::simulation

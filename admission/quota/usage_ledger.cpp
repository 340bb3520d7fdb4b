#include "admission/quota/usage_ledger.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace hindsight::admission {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr Wide unit_fraction = Wide{1} << 64;

constexpr std::uint64_t square_root(Wide n) {
  Wide root = 0;
  for (Wide bit = Wide{1} << 126; bit != 0; bit >>= 2) {
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return static_cast<std::uint64_t>(root);
}

/// 0.5^(2⁻¹), 0.5^(2⁻²), ... in units of 2⁻⁶⁴.
constexpr std::array<std::uint64_t, 64> halving_roots = [] {
  std::array<std::uint64_t, 64> out{};
  Wide value = unit_fraction >> 1;
  for (auto& root : out) {
    root = square_root(value << 64);
    value = root;
  }
  return out;
}();

}  // namespace

Fraction decay(Duration elapsed, Duration half_life) {
  if (elapsed.micros <= 0 || half_life.micros <= 0) return {};
  const auto whole = static_cast<std::uint64_t>(elapsed.micros) / static_cast<std::uint64_t>(half_life.micros);
  if (whole >= 64) return {WideAmount{1} << 64};
  Wide rest = static_cast<std::uint64_t>(elapsed.micros) % static_cast<std::uint64_t>(half_life.micros);
  Wide kept = unit_fraction >> whole;
  for (std::size_t i = 0; i < halving_roots.size() && rest != 0; ++i) {  // the binary digits of the exponent's fraction
    rest *= 2;
    if (rest < static_cast<std::uint64_t>(half_life.micros)) continue;
    rest -= static_cast<std::uint64_t>(half_life.micros);
    kept = kept * halving_roots[i] >> 64;
  }
  return {static_cast<WideAmount>(unit_fraction - kept)};
}

NanoAmount scale(NanoAmount amount, Fraction factor) {
  if (amount <= 0) return 0;
  const auto a = static_cast<Wide>(amount);
  const auto f = static_cast<Wide>(factor.of_2_64);
  if (f == unit_fraction) return amount;
  return static_cast<NanoAmount>((a >> 64) * f + ((a & (unit_fraction - 1)) * f >> 64));
}

NanoAmount to_nano(Amount amount, const Symbol& resource) {
  static const Symbol cpu("cpu");
  return static_cast<NanoAmount>(amount) * (resource == cpu ? 1'000'000 : 1'000'000'000);
}

// ---- several resources ----------------------------------------------------------------------------------------------------------

NanoAmount UsageVector::of(const Symbol& resource) const {
  for (const auto& p : parts_)
    if (p.resource == resource) return p.amount;
  return 0;
}

void UsageVector::add(Symbol resource, NanoAmount amount) {
  if (amount == 0) return;
  auto it = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.resource == resource; });
  if (it == parts_.end()) {
    it = std::lower_bound(parts_.begin(), parts_.end(), resource, [](const Part& p, const Symbol& r) { return ByText{}(p.resource, r); });
    it = parts_.insert(it, {resource, 0});
  }
  it->amount += amount;
  if (it->amount == 0) parts_.erase(it);
}

void UsageVector::add(const UsageVector& other, int sign) {
  for (const auto& p : other.parts_) add(p.resource, sign * p.amount);
}

void UsageVector::scale_by(Fraction factor) {
  for (auto& p : parts_) p.amount = scale(p.amount, factor);
  std::erase_if(parts_, [](const Part& p) { return p.amount == 0; });
}

void UsageVector::derive() {
  for (const auto& p : std::exchange(parts_, {})) add(p.resource, p.amount);
}

void UsageVector::add_to(StateHash& hash) const {
  for (const auto& p : parts_) {
    hash.add(p.resource);
    hash.add(static_cast<std::uint64_t>(p.amount >> 64));
    hash.add(static_cast<std::uint64_t>(p.amount));
  }
}

// ---- the ledger -------------------------------------------------------------------------------------------------------------------

void UsageLedger::begin(std::uint64_t sequence, Time now) {
  if (sequence_ == sequence) return;
  sequence_ = sequence;
  before_ = admitted_;
  if (dormant()) sampled_at_ = now;  // nothing was used in the meantime, and nothing is left to forget
}

void UsageLedger::sample(Time now, const Settings::AdmissionFairSharing& settings) {
  const Duration elapsed = now - sampled_at_;
  if (sampled_at_.is_set() && elapsed.micros <= 0) return;  // counted, or the status is from the future
  if (settings.half_life.micros <= 0) {
    consumed_.clear();  // BA-167: no memory
  } else if (sampled_at_.is_set()) {
    const Fraction fresh = decay(elapsed, settings.half_life);
    consumed_.scale_by(fresh.complement());
    UsageVector used = before_;
    used.scale_by(fresh);
    consumed_.add(used);
  }
  sampled_at_ = now;
}

void UsageLedger::restore(const UsageVector& consumed, Time at) {
  if (!consumed_.empty() || !at.is_set()) return;
  consumed_ = consumed;
  sampled_at_ = at;
}

double UsageLedger::usage(const Settings::AdmissionFairSharing& settings, std::int64_t fair_weight_nano) const {
  if (fair_weight_nano <= 0) return std::numeric_limits<double>::infinity();
  UsageVector all = consumed_;
  all.add(penalty_);
  double sum = 0;
  for (const auto& p : all.parts()) {
    double weight = 1;
    for (const auto& [resource, w] : settings.resource_weights)
      if (resource == p.resource) weight = w;
    sum += weight * (static_cast<double>(p.amount) / 1e9);
  }
  return sum / (static_cast<double>(fair_weight_nano) / 1e9);
}

std::uint64_t UsageLedger::hash() const {
  StateHash h;
  h.add(sampled_at_);
  consumed_.add_to(h);
  h.add(std::uint64_t{0});
  penalty_.add_to(h);
  return h.value();
}

}  // namespace hindsight::admission

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "vocabulary/amount.hpp"

namespace hindsight::test {

/// What must hold for every text, whether it is a quantity or not; the empty text: it does.
inline std::string exercise_quantity(std::string_view text) {
  const auto cpu = parse_quantity(text, "cpu");
  const auto other = parse_quantity(text, "memory");
  const auto nano = parse_nano(text);
  if (cpu.has_value() != other.has_value() || cpu.has_value() != nano.has_value())
    return "a quantity for one resource and none for another";
  if (!cpu) return cpu.error().message.empty() ? "refused without a message" : std::string();
  const auto clamped = [](Amount a) { return a == unlimited || a == amount_min; };
  // Fractions go away from zero, so whole units follow from thousandths, and both from units of 10^-9.
  const auto units = [](std::int64_t amount, std::int64_t part) {
    const std::int64_t whole = amount / part;
    return amount % part == 0 ? whole : amount > 0 ? whole + 1 : whole - 1;
  };
  if (!clamped(*cpu) && units(*cpu, 1000) != *other) return "thousandths and whole units differ";
  if (!clamped(*nano) && units(*nano, 1'000'000) != *cpu) return "10^-9 and thousandths differ";
  for (const auto& [amount, resource] : {std::pair{*cpu, "cpu"}, std::pair{*other, "memory"}, std::pair{*other, "example.com/gpu"}}) {
    const std::string printed = format_amount(amount, resource);
    const auto again = parse_quantity(printed, resource);
    if (!again) return "printed as \"" + printed + "\", which is no quantity";
    if (*again != amount) return "printed as \"" + printed + "\", which is another amount";
  }
  return {};
}

}  // namespace hindsight::test

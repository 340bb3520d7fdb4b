#include "cli/option_checks.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace hindsight::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const bool bounded = most != static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::string range = bounded ? std::to_string(least) + " to " + std::to_string(most) : std::to_string(least) + " or more";
  return {[least, most, range](std::string& text) {
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stopped, error] = std::from_chars(text.data(), end, value);
            if (!text.empty() && error == std::errc{} && stopped == end && value >= least && value <= most) return std::string();
            return "found \"" + text + "\"; allowed: a whole number, " + range;
          },
          range};
}

void refuse_empty_values(CLI::App& app) {
  if (app.get_option_no_throw("--log") != nullptr) {
    for (auto* option : app.get_options()) {
      const bool takes_value = option->get_expected_min() > 0 && option->get_type_size() > 0;
      if (!takes_value || option->get_positional()) continue;
      option->check(CLI::Validator(
          [name = option->get_name()](std::string& value) {
            return value.empty() ? "found an empty text; allowed: a value, or no " + name : std::string();
          },
          ""));
    }
  }
  for (auto* sub : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*sub);
}

std::string found_beside(const CLI::App& command, std::initializer_list<const char*> options, const std::string& other,
                         const std::string& allowed) {
  for (const char* name : options)
    if (command.get_option("--" + std::string(name))->count() > 0)
      return "--" + std::string(name) + ": found with " + other + "; allowed: " + allowed;
  return {};
}

}  // namespace hindsight::cli

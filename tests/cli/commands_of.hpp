#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace hindsight::test {

/// "log cat" → the command. What has sub-commands is none itself.
inline std::map<std::string, const CLI::App*> commands_of(const CLI::App& app, const std::string& path = "") {
  std::map<std::string, const CLI::App*> out;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = path.empty() ? sub->get_name() : path + " " + sub->get_name();
    auto below = commands_of(*sub, name);
    if (below.empty()) out[name] = sub;
    out.merge(below);
  }
  return out;
}

}  // namespace hindsight::test

// `hindsight help [COMMAND ...]`: the same as `hindsight COMMAND ... --help`, for those who look for it there.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"

namespace hindsight::cli {
namespace {

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

Result<int> show_help(const CLI::App& app, const std::vector<std::string>& words, const Session& session) {
  const CLI::App* at = &app;
  std::string before;
  for (const auto& word : words) {
    const auto below = commands_below(*at);
    const auto found = std::find_if(below.begin(), below.end(), [&](const CLI::App* sub) { return sub->check_name(word); });
    if (found == below.end()) {
      std::vector<std::string> names;
      for (const auto* sub : below) names.push_back(sub->get_name());
      const std::string whole = before + (before.empty() ? "" : " ") + at->get_name();
      if (names.empty()) return fail(ErrorKind::invalid, "found command \"" + word + "\"; '" + whole + "' has no commands of its own");
      return fail(ErrorKind::invalid,
                  "found command \"" + word + "\"" + projections::did_you_mean(word, names) + "; allowed: " + projections::joined(names));
    }
    before += (before.empty() ? "" : " ") + at->get_name();
    at = *found;
  }
  // The program itself knows which command was chosen on the line, `help`, and would tell of that one.
  session.out << (at == &app ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal) : at->help(before));
  return exit_ok;
}

}  // namespace

void add_help(CLI::App& app, Session& session) {
  const auto words = std::make_shared<std::vector<std::string>>();
  auto* c = add_command(app, session, "help", "What a command does, with its options and examples",
                        "  hindsight help\n"
                        "  hindsight help log cat",
                        [words, &app, &session] { return show_help(app, *words, session); });
  c->add_option("command", *words, "The words of a command; without one: what commands there are");
}

}  // namespace hindsight::cli

#include "cli/application.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ostream>
#include <sstream>

#include "cli/candidates.hpp"
#include "cli/commands.hpp"
#include "cli/option_checks.hpp"
#include "cli/remote/pass_through.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "replay/moment.hpp"
#include "runtime/complain.hpp"

namespace hindsight::cli {
namespace {

using runtime::print_error;

/// The name of the command that was meant, as far as it was understood: "hindsight log cat".
std::string full_command(const CLI::App& app) {
  std::string out = app.get_name();
  for (const CLI::App* at = &app;;) {
    const auto chosen = at->get_subcommands();
    if (chosen.empty()) return out;
    at = chosen.front();
    out += " " + at->get_name();
  }
}

/// Standard output is a pipe or a socket whose reader has closed its end, as that of `hindsight log cat | head`.
bool reader_has_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

std::string on_one_line(std::string text) {
  text = without_line_end(std::move(text));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The parser says of a word that is no command only that a command is missing: what was found, what was meant, what is allowed.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (const auto& word : arguments) {
    if (at->get_subcommands([](const CLI::App*) { return true; }).empty() || word.starts_with("-")) return {};
    const auto all = at->get_subcommands([](const CLI::App*) { return true; });
    const auto it = std::find_if(all.begin(), all.end(), [&](const CLI::App* sub) { return sub->get_name() == word; });
    if (it != all.end()) {
      at = *it;
      continue;
    }
    std::vector<std::string> names;
    for (const auto* sub : all) names.push_back(sub->get_name());
    return "found command \"" + word + "\"" + projections::did_you_mean(word, names) + "; allowed: " + projections::joined(names);
  }
  return {};
}

/// "-5m" is a moment and no bundle of short options: none of ours is a digit.
bool is_duration_back(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' && std::isdigit(static_cast<unsigned char>(argument[1])) != 0 &&
         replay::parse_moment(argument);
}

/// A form of it that the parser takes for a value: it is turned back by `restore`.
constexpr const char* back_prefix = "\x01";

void restore(CLI::App& app) {
  for (auto* option : app.get_options()) {
    // transformations run before checks, in the order in which they were added first
    option->transform([](const std::string& value) { return value.starts_with(back_prefix) ? value.substr(1) : value; }, "", "");
  }
  for (auto* sub : app.get_subcommands([](CLI::App*) { return true; })) restore(*sub);
}

/// Examples in the help call the program as its user does.
void name_as(CLI::App& app, const std::string& program) {
  std::string footer = app.get_footer();
  const std::string plain = "hindsight ";
  for (std::size_t at = 0; (at = footer.find(plain, at)) != std::string::npos; at += program.size() + 1)
    footer.replace(at, plain.size(), program + " ");
  app.footer(footer);
  for (auto* sub : app.get_subcommands([](CLI::App*) { return true; })) name_as(*sub, program);
}

}  // namespace

std::string program_of(std::string_view called_as) {
  const auto slash = called_as.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? called_as : called_as.substr(slash + 1);
  return name == "kubectl-hindsight" ? "kubectl hindsight" : name == "kubectl-kueue" ? "kubectl kueue" : "hindsight";
}

std::unique_ptr<CLI::App> make_application(Session& session) {
  auto app = std::make_unique<CLI::App>("Batch admission control for Kubernetes that never forgets", session.program);
  app->require_subcommand(1);
  app->footer(
      "Every command explains itself: hindsight COMMAND --help, or hindsight help COMMAND.\nThe log can also be named by the environment "
      "variable HINDSIGHT_LOG; without either it is hindsight.db in the current folder.");
  app->set_version_flag("--version", version_line(), "The release, as 'hindsight version' tells it");
  app->set_help_all_flag("--help-all", "Help on all commands");
  add_run(*app, session);
  add_simulate(*app, session);
  add_ui(*app, session);
  add_get(*app, session);
  add_describe(*app, session);
  add_history(*app, session);
  add_why(*app, session);
  add_how(*app, session);
  add_top(*app, session);
  add_plan(*app, session);
  add_diff(*app, session);
  add_compare_kueue(*app, session);
  add_verify(*app, session);
  add_audit(*app, session);
  add_what_if(*app, session);
  add_eta(*app, session);
  add_export(*app, session);
  add_evidence(*app, session);
  add_debug(*app, session);
  add_bisect(*app, session);
  add_blame(*app, session);
  add_replay(*app, session);
  add_nodes(*app, session);
  add_log(*app, session);
  add_migrate(*app, session);
  add_list(*app, session);
  add_create(*app, session);
  add_stop_and_resume(*app, session);
  add_pass_through_commands(*app, session);
  add_doctor(*app, session);
  add_version(*app, session);
  add_completion(*app, session);
  add_help(*app, session);
  refuse_empty_values(*app);
  restore(*app);
  if (session.program != "hindsight") name_as(*app, session.program);
  return app;
}

int run_application(Session& session, std::vector<std::string> arguments) {
  if (is_for_cluster(session.program, arguments, std::getenv("HINDSIGHT_LOG") != nullptr)) {
    const auto failed = become_kubectl(kubectl_words(arguments));  // does not come back otherwise
    print_error(session.err, failed.error().message);
    return exit_failure;
  }
  const auto app = make_application(session);
  if (!arguments.empty() && arguments.front() == complete_word)
    return print_candidates(session, *app, {arguments.begin() + 1, arguments.end()});
  for (auto& a : arguments)
    if (is_duration_back(a)) a = back_prefix + a;
  const std::vector<std::string> as_given = arguments;
  std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
  try {
    app->parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app->exit(e, session.out, session.err), exit_ok;
    const std::string command = full_command(*app);
    std::string what = unknown_command(*app, as_given);
    if (what.empty()) what = on_one_line(e.what());
    print_error(session.err, what + " (see '" + command + " --help')");
    return exit_usage;
  }
  if (!session.action) return exit_ok;
  const auto done = session.action();
  session.out.flush();
  if (!done) {
    print_error(session.err, without_line_end(done.error().message));
    return done.error().kind == ErrorKind::invalid ? exit_usage : exit_failure;
  }
  if (!session.out) {
    // A reader that closes its pipe has what it wanted: the status tells scripts that there was more, and no message is needed.
    if (!reader_has_gone()) print_error(session.err, "standard output cannot be written");
    return exit_failure;
  }
  return *done;
}

}  // namespace hindsight::cli

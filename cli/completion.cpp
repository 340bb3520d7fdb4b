#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/kinds.hpp"

namespace hindsight::cli {
namespace {

/// What may follow a command: its sub-commands, else its options; and for `get` and `describe` the kinds.
struct Choices {
  std::string path;  ///< "get", "log cat"; empty: the program itself.
  std::vector<std::string> words;
};

std::vector<std::string> option_words(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) out.push_back("--" + name);
    for (const auto& name : option->get_snames()) out.push_back("-" + name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Choices>& out) {
  Choices here{path, {}};
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    here.words.push_back(sub->get_name());
    collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), out);
  }
  if (path == "get" || path == "describe")
    for (const auto& kind : known_kinds()) here.words.emplace_back(kind.plural);
  if (path == "completion") here.words = {"bash", "zsh"};
  const auto options = option_words(app);
  here.words.insert(here.words.end(), options.begin(), options.end());
  out.push_back(std::move(here));
}

std::string words_of(const Choices& c) {
  std::string out;
  for (const auto& w : c.words) out += (out.empty() ? "" : " ") + w;
  return out;
}

/// Files for --log, else the words of the longest path of commands that the line has.
std::string bash_script(const CLI::App& app) {
  std::vector<Choices> all;
  collect(app, "", all);
  std::string out =
      "# bash completion for hindsight; source <(hindsight completion bash)\n"
      "_hindsight() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" path=\"\" words=\"\" i\n"
      "  if [[ \"$before\" == --log || \"$before\" == --kubeconfig || \"$before\" == --config ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"${path:+$path }${COMP_WORDS[i]}\" in\n";
  for (const auto& c : all)
    if (!c.path.empty()) out += "      \"" + c.path + "\") path=\"" + c.path + "\" ;;\n";
  out +=
      "    esac\n"
      "  done\n"
      "  case \"$path\" in\n";
  for (const auto& c : all) out += "    \"" + c.path + "\") words=\"" + words_of(c) + "\" ;;\n";
  out +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -o default -F _hindsight hindsight\n";
  return out;
}

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  const auto shell = std::make_shared<std::string>();
  auto* c = add_command(app, session, "completion", "Print a script that completes commands and options in a shell",
                        "  source <(hindsight completion bash)\n"
                        "  hindsight completion zsh > ~/.zsh/completions/_hindsight",
                        [shell, &app, &session]() -> Result<int> {
                          if (*shell == "zsh") session.out << "#compdef hindsight\nautoload -U +X bashcompinit && bashcompinit\n";
                          session.out << bash_script(app);
                          return exit_ok;
                        });
  c->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
}

}  // namespace hindsight::cli

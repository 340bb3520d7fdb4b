#include <memory>
#include <ostream>
#include <string>

#include "cli/candidates.hpp"
#include "cli/commands.hpp"

namespace hindsight::cli {
namespace {

// The scripts know nothing themselves: they ask the program for what may follow (candidates.hpp), which knows its commands and options, and
// the names in the log.

constexpr const char* bash_script = R"(# bash completion for hindsight; source <(hindsight completion bash)
_hindsight() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        return
        ;;
      :*) ;;
      */ | *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$line") ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hindsight hindsight
)";

constexpr const char* zsh_script = R"(#compdef hindsight
# zsh completion for hindsight; hindsight completion zsh > a file _hindsight in one of the folders of fpath
_hindsight() {
  local line
  local -a found open
  while IFS= read -r line; do
    case "$line" in
      :files) _files; return ;;
      :*) ;;
      */ | *=) open+=("$line") ;;
      *) found+=("$line") ;;
    esac
  done < <("${(Q)words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  compadd -a found
  compadd -S '' -a open
}
if [ "$funcstack[1]" = "_hindsight" ]; then
  _hindsight "$@"
else
  compdef _hindsight hindsight
fi
)";

constexpr const char* fish_script = R"(# fish completion for hindsight; hindsight completion fish | source
function __hindsight_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l found ($program __complete $words "$last" 2>/dev/null)
    if contains -- :files $found
        __fish_complete_path "$last"
    else
        for line in $found
            string match -q -- ':*' $line; or echo $line
        end
    end
end
complete -c hindsight -f -a '(__hindsight_complete)'
)";

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  const auto shell = std::make_shared<std::string>();
  auto* c = add_command(app, session, "completion", "Print a script that completes commands, options, their values and names in a shell",
                        "  source <(hindsight completion bash)\n"
                        "  hindsight completion zsh > ~/.zsh/completions/_hindsight\n"
                        "  hindsight completion fish > ~/.config/fish/completions/hindsight.fish",
                        [shell, &session]() -> Result<int> {
                          session.out << (*shell == "zsh" ? zsh_script : *shell == "fish" ? fish_script : bash_script);
                          return exit_ok;
                        });
  c->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace hindsight::cli

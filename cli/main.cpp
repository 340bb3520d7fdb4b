#include <algorithm>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "cli/application.hpp"
#include "cli/candidates.hpp"
#include "cli/last_words.hpp"

int main(int argc, char** argv) {
  hindsight::cli::install_last_words();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it
  if (argc > 1 && std::string_view(argv[1]) == hindsight::cli::complete_word) hindsight::cli::end_soon();
  auto session = hindsight::cli::standard_session();
  session.program = hindsight::cli::program_of(argc > 0 ? argv[0] : "");
  return hindsight::cli::run_application(session, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

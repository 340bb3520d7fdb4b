#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "cli/application.hpp"
#include "cli/last_words.hpp"

int main(int argc, char** argv) {
  hindsight::cli::install_last_words();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it
  auto session = hindsight::cli::standard_session();
  session.program = hindsight::cli::program_of(argc > 0 ? argv[0] : "");
  return hindsight::cli::run_application(session, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

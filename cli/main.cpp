#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "cli/application.hpp"
#include "cli/candidates.hpp"
#include "cli/last_words.hpp"

namespace {

/// Whoever started us may have closed standard input, output or errors. The next file or connection would then get that number, and what is
/// told to people would be written into it. A folder stands in: to read from it or to write to it is an error.
void keep_standard_numbers() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF && ::open("/", O_RDONLY | O_DIRECTORY) < 0) ::_exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_numbers();
  hindsight::cli::install_last_words();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it
  if (argc > 1 && std::string_view(argv[1]) == hindsight::cli::complete_word) hindsight::cli::end_soon();
  auto session = hindsight::cli::standard_session();
  session.program = hindsight::cli::program_of(argc > 0 ? argv[0] : "");
  return hindsight::cli::run_application(session, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

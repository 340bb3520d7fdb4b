#include <string>
#include <vector>

#include "cli/application.hpp"

int main(int argc, char** argv) {
  auto session = hindsight::cli::standard_session();
  return hindsight::cli::run_application(session, std::vector<std::string>(argv + 1, argv + argc));
}

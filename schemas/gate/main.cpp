// schema_gate CURRENT.fbs [RELEASED.fbs]: checks the house rules, and that records written under RELEASED stay readable.
// Exit status: 0 good, 1 findings, 2 cannot be read.

#include <iostream>

#include "schemas/gate/schema_gate.hpp"

namespace {

int print(const hindsight::Result<std::vector<std::string>>& findings, const std::string& against) {
  if (!findings) {
    std::cerr << findings.error().message << "\n";
    return 2;
  }
  for (const auto& finding : *findings) std::cerr << against << ": " << finding << "\n";
  return findings->empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: schema_gate CURRENT.fbs [RELEASED.fbs]\n";
    return 2;
  }
  const std::string current = argv[1];
  int status = print(hindsight::schemas::house_rule_breaches(current), current);
  if (argc == 3) {
    const std::string released = argv[2];
    status = std::max(status, print(hindsight::schemas::incompatibilities(released, current), "records of " + released));
  }
  return status;
}

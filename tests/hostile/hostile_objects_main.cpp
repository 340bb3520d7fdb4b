// Prints hostile objects for tests on a real API server: one request a line, as JSON.
//
//   hostile_objects kinds                      the names of all kinds and floods, with the right that each needs
//   hostile_objects make SEED [KIND]...        one of each kind (of all)
//   hostile_objects flood NAME SEED FROM TO    so many of a flood
//
// Victims, one a line as NAMESPACE NAME UID, are read from standard input.

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/hostile/hostile_objects.hpp"

namespace h = hindsight::hostile;

namespace {

const char* name_of(h::Right right) {
  switch (right) {
    case h::Right::jobs:
      return "jobs";
    case h::Right::workloads:
      return "workloads";
    case h::Right::queues:
      return "queues";
    case h::Right::statuses:
      return "statuses";
  }
  return "";
}

void print(const std::string& kind, const h::Write& write) {
  const char* verbs[] = {"create", "patch", "delete"};
  h::Json line{{"hostile", kind},        {"verb", verbs[static_cast<std::size_t>(write.verb)]},
               {"kind", write.kind},     {"name", write.name},
               {"status", write.status}, {"body", write.body}};
  std::cout << line.dump(-1, ' ', true, h::Json::error_handler_t::replace) << "\n";
}

std::vector<h::Victim> read_victims() {
  std::vector<h::Victim> out;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    h::Victim v;
    if (words >> v.namespace_ >> v.name >> v.uid) out.push_back(std::move(v));
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 1 && words[0] == "kinds") {
      for (const auto& kind : h::kinds()) std::cout << "kind " << name_of(kind.right) << " " << kind.name << "\n";
      for (const auto& flood : h::floods()) std::cout << "flood " << name_of(flood.right) << " " << flood.name << "\n";
      return 0;
    }
    if (words.size() >= 2 && words[0] == "make") {
      h::Random random(std::stoull(words[1]));
      std::uint64_t serial = std::stoull(words[1]) * 10'000;
      const auto victims = read_victims();
      const auto make = [&](const h::HostileKind& kind) {
        h::Making m{random, ++serial, victims};
        for (const auto& write : kind.make(m)) print(kind.name, write);
      };
      for (std::size_t i = 2; i < words.size(); ++i) make(h::kind_of(words[i]));
      if (words.size() == 2)
        for (const auto& kind : h::kinds()) make(kind);
      return 0;
    }
    if (words.size() == 5 && words[0] == "flood") {
      for (const auto& flood : h::floods()) {
        if (flood.name != words[1]) continue;
        h::Random random(std::stoull(words[2]));
        h::Making m{random, std::stoull(words[2]), {}};
        for (std::uint64_t n = std::stoull(words[3]); n < std::stoull(words[4]); ++n) print("flood/" + flood.name, flood.make(m, n));
        return 0;
      }
    }
  } catch (const std::exception& e) {
    std::cerr << "hostile_objects: " << e.what() << "\n";
    return 1;
  }
  std::cerr << "usage: hostile_objects kinds | make SEED [KIND]... | flood NAME SEED FROM TO\n";
  return 2;
}

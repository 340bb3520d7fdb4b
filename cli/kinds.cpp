#include "cli/kinds.hpp"

#include <algorithm>
#include <cctype>

namespace hindsight::cli {

const std::vector<KnownKind>& known_kinds() {
  static const std::vector<KnownKind> kinds{
      {"workloads", true, {"workload", "workloads", "wl", "kwl", "kueueworkload", "kueueworkloads"}},
      {"clusterqueues", false, {"clusterqueue", "clusterqueues", "cq"}},
      {"localqueues", true, {"localqueue", "localqueues", "queue", "queues", "lq"}},
      {"cohorts", false, {"cohort", "cohorts", "co"}},
      {"resourceflavors", false, {"resourceflavor", "resourceflavors", "flavor", "flavors", "rf"}},
      {"topologies", false, {"topology", "topologies", "topo"}},
      {"nodes", false, {"node", "nodes", "no"}},
      {"admissionchecks", false, {"admissioncheck", "admissionchecks", "ac"}},
      {"gates", true, {"gate", "gates"}},
      {"quarantined", true, {"quarantined", "quarantine"}},
      {"workloadpriorityclasses", false, {"workloadpriorityclass", "workloadpriorityclasses", "wpc"}},
  };
  return kinds;
}

const KnownKind* find_kind(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& kind : known_kinds())
    if (std::find(kind.names.begin(), kind.names.end(), lower) != kind.names.end()) return &kind;
  return nullptr;
}

CLI::Validator is_kind() {
  return {[](std::string& text) {
            if (find_kind(text) != nullptr) return std::string();
            std::string all;
            for (const auto& kind : known_kinds()) all += (all.empty() ? "" : ", ") + std::string(kind.plural);
            return "found kind \"" + text + "\"; allowed: " + all;
          },
          "KIND"};
}

}  // namespace hindsight::cli

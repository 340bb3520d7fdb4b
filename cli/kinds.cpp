#include "cli/kinds.hpp"

#include <algorithm>

#include "projections/format.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::cli {

const std::vector<KnownKind>& known_kinds() {
  static const std::vector<KnownKind> kinds{
      {"workloads", true, {"workload", "workloads", "wl", "kwl", "kueueworkload", "kueueworkloads"}},
      {"clusterqueues", false, {"clusterqueue", "clusterqueues", "cq"}},
      {"localqueues", true, {"localqueue", "localqueues", "queue", "queues", "lq"}, "kueue.x-k8s.io", true},
      {"cohorts", false, {"cohort", "cohorts", "co"}},
      {"resourceflavors", false, {"resourceflavor", "resourceflavors", "flavor", "flavors", "rf"}},
      {"topologies", false, {"topology", "topologies", "topo"}},
      {"nodes", false, {"node", "nodes", "no"}, "", true},
      {"admissionchecks", false, {"admissioncheck", "admissionchecks", "ac"}},
      {"gates", true, {"gate", "gates"}},
      {"quarantined", true, {"quarantined", "quarantine"}},
      {"workloadpriorityclasses", false, {"workloadpriorityclass", "workloadpriorityclasses", "wpc"}},
      {"events", true, {"event", "events", "ev"}, ""},
  };
  return kinds;
}

const KnownKind* find_kind(std::string_view name) {
  std::string word = lower(name);
  for (const auto& kind : known_kinds()) {
    std::string_view plain = word;
    if (!kind.group.empty() && plain.size() > kind.group.size() + 1 && plain.ends_with(kind.group) &&
        plain[plain.size() - kind.group.size() - 1] == '.')
      plain.remove_suffix(kind.group.size() + 1);
    if (std::find(kind.names.begin(), kind.names.end(), plain) != kind.names.end()) return &kind;
  }
  return nullptr;
}

Error unknown_kind(std::string_view found) {
  constexpr std::size_t enough_to_guess = 6;  // of a short word every other one is a neighbour
  std::vector<std::string> plurals, all;
  for (const auto& kind : known_kinds()) {
    plurals.emplace_back(kind.plural);
    all.insert(all.end(), kind.names.begin(), kind.names.end());
  }
  const std::string meant = found.size() < enough_to_guess ? std::string() : projections::did_you_mean(lower(found), all);
  return {ErrorKind::invalid, "kind: found kind \"" + std::string(found) + "\"" + meant + "; allowed: " + projections::joined(plurals)};
}

std::string resource_of(const KnownKind& kind) {
  return std::string(kind.names.front()) + (kind.group.empty() ? std::string() : "." + std::string(kind.group));
}

}  // namespace hindsight::cli

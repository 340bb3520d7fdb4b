#include "tests/schemas/corpus.hpp"

#include <nlohmann/json.hpp>

#include "events/json.hpp"

namespace hindsight::test {

std::string body_name(const RecordView& record) { return nlohmann::json::parse(events::to_json(record))["kind"]; }

std::string snapshot_json(const events::Snapshot& snapshot) {
  nlohmann::ordered_json out{{"position", snapshot.meta().position},      {"epoch", snapshot.meta().epoch},
                             {"time", snapshot.meta().time.micros},       {"stateHash", snapshot.meta().state_hash},
                             {"release", snapshot.meta().release},        {"stateVersion", snapshot.state_version()},
                             {"domains", nlohmann::ordered_json::array()}};
  for (const auto& domain : snapshot.domains()) {
    out["domains"].push_back({{"domain", domain.domain},
                              {"sequence", domain.sequence},
                              {"epoch", domain.epoch},
                              {"stateHash", domain.state_hash},
                              {"state", std::string(reinterpret_cast<const char*>(domain.state.data()), domain.state.size())}});
  }
  return out.dump();
}

}  // namespace hindsight::test

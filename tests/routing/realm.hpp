#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "routing/dispatcher.hpp"
#include "tests/explorer/api_server.hpp"
#include "tests/explorer/applier.hpp"
#include "tests/explorer/history.hpp"
#include "tests/explorer/invariants.hpp"
#include "tests/explorer/random.hpp"
#include "tests/explorer/users.hpp"

namespace hindsight::routing::testing {

/// One random history of a cluster that is decided in many domains. Users change trees, queues and jobs; a connector routes what it sees
/// and carries out what the domains say, and loses its memory now and then, also while nobody watches; the domains decide when they like,
/// and a decision may wait while its objects move. The constructor's seed determines everything.
class Realm {
 public:
  explicit Realm(std::uint64_t seed);

  /// Empty: every check held. Otherwise what was wrong, and after which record.
  [[nodiscard]] std::string run();

  struct Figures {
    std::uint64_t records = 0, departures = 0, held_departures = 0, restarts = 0, domains = 0, rests = 0;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }
  /// Of all domains in the order in which they were written; for a person.
  [[nodiscard]] const std::vector<explorer::HistoryRecord>& log() const { return log_; }

 private:
  struct Failure {
    std::string what;
  };
  struct DomainRun {
    std::unique_ptr<admission::LoopDriver> driver;
    explorer::Invariants invariants;
    std::optional<admission::Domain::Step> in_flight;  ///< Decided, not in the log yet.
    bool at_rest = false;
    int decisions_in_a_row = 0;
  };
  using Usage = std::map<std::string, Amount>;  ///< queue/flavor/resource

  void one_action();
  void watch();
  void restart();
  void hear(const explorer::OwnedObservation& o);
  DomainRun& domain(Symbol name);
  void send(Symbol name, const Observation& o);
  void append(Symbol name, explorer::HistoryRecord r);
  void tell_intents(Symbol name, DomainRun& d);
  void decide(Symbol name, DomainRun& d);
  void append_decision(Symbol name, DomainRun& d);
  void tick(Symbol name);
  [[nodiscard]] Symbol any_domain();
  bool go_on_without_users();
  void come_to_rest();
  void bring_to_an_end();
  void check_homes();
  void check_rest();
  [[nodiscard]] Usage usage_of_domains();
  [[nodiscard]] Usage usage_of_one_domain() const;
  [[noreturn]] static void fail(const std::string& what) { throw Failure{what}; }

  explorer::Random random_;
  explorer::ApiServer server_;
  explorer::Users users_;
  explorer::Applier applier_;
  std::map<ObjectKey, explorer::OwnedObservation> mirror_;
  std::map<Symbol, DomainRun, ByText> domains_;
  std::unique_ptr<Dispatcher> dispatcher_;
  bool listed_ = false;  ///< Since the connector's last start.
  std::vector<explorer::HistoryRecord> log_;
  Figures figures_;
};

}  // namespace hindsight::routing::testing

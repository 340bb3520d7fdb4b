#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "whatif/changes.hpp"
#include "whatif/player.hpp"
#include "whatif/responses.hpp"
#include "whatif/result_log.hpp"

namespace hindsight::whatif {

/// How ManyPlayer plays; see PlayOptions.
struct ManyOptions {
  Position from = 0, until = 0;
  bool model_all = false;
  Duration beyond;             ///< After the last record of all domains.
  events::Log* out = nullptr;  ///< Gets the records of all domains, in the order of their times.
  std::function<void(const std::string& domain, const admission::LoopDriver&)> on_begin;
  /// `record.envelope.domain` says of which domain.
  std::function<void(const RecordView& record, const admission::LoopDriver&)> on_record;
  std::function<void(Position done, Position total)> progress;
};

/// What was played of one domain.
struct DomainReport {
  std::string domain;
  PlayReport report;
};
/// All of them as one: counts are added up, and lists put together. The state hash is that of a single domain, else 0.
[[nodiscard]] PlayReport together(const std::vector<DomainReport>& reports);

/// Plays domains of a log on as one world, in the order of time: each by its own player, since they share no quota. A change goes to the
/// domain that it concerns (placement.hpp). What moves from one to another while the model answers for it comes as it was where it left.
///
/// Reads the log once for each domain, and holds the states of all.
class ManyPlayer {
 public:
  ManyPlayer(const events::Log& log, std::vector<std::string> domains, const Responses& responses, ManyOptions options);

  /// Errors: those of `placed` and of Player.
  [[nodiscard]] Result<std::vector<DomainReport>> play(const Changes& changes);

 private:
  [[nodiscard]] Result<void> start(const Changes& changes);
  [[nodiscard]] Result<void> play_alone();
  [[nodiscard]] Result<void> play_in_turns();
  [[nodiscard]] PlayOptions options_of(std::size_t index);
  [[nodiscard]] Result<std::optional<Time>> time_of_last() const;

  const events::Log& log_;
  const std::vector<std::string> domains_;
  const Responses& responses_;
  const ManyOptions options_;
  std::vector<std::unique_ptr<Player>> players_;
  std::optional<ResultLog> result_;
};

}  // namespace hindsight::whatif

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/condition.hpp"
#include "cli/past_options.hpp"
#include "cli/session.hpp"
#include "replay/state_behind.hpp"

namespace hindsight::cli {

/// Steps through a log, forth and back, and answers questions about where it stands. One line is one command; what it answers is text for
/// people. The log is only read.
class Debugger {
 public:
  /// It stands where the journey has come to.
  Debugger(const Session& session, Journey journey);
  Debugger(const Debugger&) = delete;  // it looks on as the one that it is
  Debugger& operator=(const Debugger&) = delete;

  /// Carries out one command and prints its answer. False: it was to end. Errors: invalid (no such command, wrong arguments; where it
  /// stands is as before), and those of the log.
  [[nodiscard]] Result<bool> run(std::string_view line);
  /// "log.db 120 2026-01-01T00:00:10Z> "
  [[nodiscard]] std::string prompt() const;
  /// Where it stands, and the record there.
  void print_place() const;

  static constexpr std::size_t breakpoints_max = 100;

 private:
  struct Seen {
    replay::Position position = 0;
    std::string text;
    bool decision = false;
  };
  struct Watched {
    ObjectValue value;
    std::string last;
  };
  enum class Until { any, decision, breakpoint };

  [[nodiscard]] Result<void> forth(std::size_t times, Until until);
  [[nodiscard]] Result<void> back(std::size_t times, Until until);
  [[nodiscard]] Result<void> go_to(replay::Position position);
  [[nodiscard]] Result<replay::Position> end() const;
  void note(replay::Position at, const RecordView& record);
  [[nodiscard]] bool stops(const admission::StateView& state, const RecordView& record, RememberedValues& remembered,
                           std::string& why) const;
  void print_changes();
  void print_state(bool queues, bool workloads) const;
  [[nodiscard]] Result<void> show(const std::string& what);
  [[nodiscard]] Result<void> say_why(const std::string& name) const;
  [[nodiscard]] Result<void> say_who_changed(const std::string& value) const;
  [[nodiscard]] Result<bool> question(const std::string& command, const std::string& rest);

  [[nodiscard]] Result<std::vector<std::pair<replay::Position, std::string>>> last_places(std::size_t times, Until until) const;
  [[nodiscard]] Result<std::vector<std::pair<replay::Position, std::string>>> last_stop() const;
  void look_on();

  const Session& session_;
  Journey journey_;
  replay::StateBehind behind_;  ///< After the journey, whose log it reads.
  replay::Position begin_ = 0;
  std::optional<Seen> here_;  ///< Nothing: before the first record.
  std::vector<std::pair<std::string, Condition>> breakpoints_;
  std::vector<Watched> watched_;
  bool shows_queues_ = false, shows_workloads_ = false;  ///< Beside the record, wherever it comes to stand.
  std::string stopped_by_;
};

}  // namespace hindsight::cli

#include "cli/past_options.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/log_options.hpp"
#include "cli/progress.hpp"
#include "replay/snapshots.hpp"
#include "runtime/log_location.hpp"

namespace hindsight::cli {

using runtime::open_log;

CLI::Validator is_moment() {
  return {[](std::string& text) {
            const auto moment = replay::parse_moment(text);
            return moment ? std::string() : moment.error().message;
          },
          "MOMENT"};
}

namespace {

/// A file of the machine's database that holds a zone; others there are lists of zones. What is none, libc would take for UTC.
bool is_time_zone(const std::string& name) {
  if (name == "UTC") return true;
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) return false;
  const std::string path = "/usr/share/zoneinfo/" + name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == "TZif";
}

}  // namespace

void add_time_zone(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--tz",
          [](const std::string& zone) {
            setenv("TZ", zone.c_str(), 1);
            tzset();
          },
          "Time zone of moments that name none, as Europe/Berlin; without it that of the machine")
      ->check(CLI::Validator(
          [](std::string& zone) {
            if (is_time_zone(zone)) return std::string();
            return "found \"" + zone +
                   "\" for a time zone; allowed: UTC, and the names of the machine's time zone database, as Europe/Berlin";
          },
          "ZONE"));
}

void add_past_options(CLI::App& command, PastOptions& options, bool with_at) {
  add_log_option(command, options.log);
  add_log_config(command, options.log_config);
  command.add_option("--domain", options.domain, "The admission domain; needed if the log has several")->type_name("NAME");
  if (with_at) {
    command.add_option("--at", options.at, "The state after this position, at this time, or this long before the end (-5m)")
        ->check(is_moment())
        ->default_str("latest");
    add_time_zone(command);
  }
}

Result<std::unique_ptr<events::Log>> open_for_reading(const std::string& location, const std::string& log_config) {
  const auto named = named_log(location);
  if (!named) return tl::unexpected(named.error());
  return open_log(*named, {.read_only = true, .kafka_config = log_config});
}

namespace {

Result<void> with_what_is_usable(Result<void> done, const replay::Past& past) {
  if (!done && past.position() > 0)
    done.error().message += " (what is before stays usable, up to position " + std::to_string(past.position()) + ")";
  return done;
}

}  // namespace

Result<void> fold(replay::Past& past, replay::Position to) { return with_what_is_usable(past.go_to(to), past); }

Result<void> fold_on(replay::Past& past, replay::Position to) { return with_what_is_usable(past.fold_to(to), past); }

Result<void> fold_to_beginning(const events::Log& log, replay::Past& past) {
  const auto beginning = log.beginning(past.domain_name());
  if (beginning) return fold(past, *beginning);
  if (beginning.error().kind != ErrorKind::not_found) return tl::unexpected(beginning.error());
  const auto snapshots = replay::snapshots_of(log, past.domain_name());  // the newest first
  if (!snapshots) return tl::unexpected(snapshots.error());
  for (auto it = snapshots->rbegin(); it != snapshots->rend(); ++it)
    if (past.go_to(it->position)) return {};  // one that cannot be read leaves a notice
  return tl::unexpected(beginning.error());
}

Result<void> fold_to_beginning(const Session& session, const events::Log& log, replay::Past& past) {
  if (auto ok = fold_to_beginning(log, past); !ok) return ok;
  if (past.started_from() > 0)
    session.warn("the beginning of log " + std::string(log.name()) + " is not kept any more: what is told begins behind record " +
                 std::to_string(past.started_from()));
  return {};
}

Result<Journey> travel(const Session& session, const PastOptions& options) {
  Journey out;
  auto log = open_for_reading(options);
  if (!log) return tl::unexpected(log.error());
  out.log = std::move(*log);
  const auto domain = replay::choose_domain(*out.log, options.domain);
  if (!domain) return tl::unexpected(domain.error());
  const auto moment = replay::parse_moment(options.at);
  if (!moment) return tl::unexpected(moment.error());
  const auto place = replay::locate(*out.log, *moment);
  if (!place) return tl::unexpected(place.error());
  ProgressBar bar(session, "folding");
  out.past = std::make_unique<replay::Past>(*out.log, *domain, replay::PastOptions{.progress = bar.callback()});
  const auto folded = fold(*out.past, place->position);
  bar.clear();
  out.past->tell_progress({});  // the bar ends here, and the past does not
  if (!folded) return tl::unexpected(folded.error());
  out.past->driver().look_at(place->time);
  tell_notices(session, *out.past);
  return out;
}

void tell_notices(const Session& session, const replay::Past& past) {
  for (const auto& notice : past.notices()) session.warn(notice);
}

std::string moment_text(replay::Position position, Time time) {
  return std::to_string(position) + (time.is_set() && time.micros > 0 ? ", " + format_rfc3339_micro(time) : std::string());
}

}  // namespace hindsight::cli

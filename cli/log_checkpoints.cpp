#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "projections/format.hpp"
#include "runtime/log_location.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct CheckpointsCommand {
  std::string log, log_config, format;
  events::Position drop = 0;  // 0: none
  bool force = false;
};

/// All that a log has: those that can be read, and those that cannot.
struct Checkpoints {
  std::vector<evidence::Checkpoint> readable;
  std::vector<events::UnreadableCheckpoint> unreadable;

  [[nodiscard]] bool readable_at(events::Position position) const {
    return std::ranges::any_of(readable, [&](const auto& c) { return c.position == position; });
  }
  [[nodiscard]] bool unreadable_at(events::Position position) const {
    return std::ranges::any_of(unreadable, [&](const auto& c) { return c.position == position; });
  }
};

/// As long as one of them cannot be read, a log gives none.
Result<Checkpoints> checkpoints_of(const events::Log& log) {
  Checkpoints out;
  if (const auto last = log.last(); !last) return tl::unexpected(last.error());  // of what is no log nothing is told
  auto unreadable = log.unreadable_checkpoints();
  if (!unreadable) return tl::unexpected(unreadable.error());
  out.unreadable = std::move(*unreadable);
  if (!out.unreadable.empty()) return out;
  auto readable = log.checkpoints();
  if (!readable) return tl::unexpected(readable.error());
  out.readable = std::move(*readable);
  return out;
}

Result<int> list(const Session& session, const events::Log& log, const CheckpointsCommand& o) {
  const auto found = checkpoints_of(log);
  if (!found) return tl::unexpected(found.error());
  if (o.format == "text") {
    for (const auto& c : found->unreadable)
      session.out << c.position << ": it cannot be read: " << printable(c.why) << "; 'hindsight log checkpoints --drop " << c.position
                  << "' removes it\n";
    for (const auto& c : found->readable)
      session.out << c.position << ": " << format_rfc3339(c.time) << ", head " << c.head.records << ":" << evidence::hex(c.head.hash)
                  << ", release " << printable(c.release) << ", " << (c.is_signed() ? "signed with key " + printable(c.key) : "not signed")
                  << "\n";
    if (!found->unreadable.empty()) session.out << "The others are not listed until all can be read.\n";
    return found->unreadable.empty() ? exit_ok : exit_failure;
  }
  Json all = Json::array();
  for (const auto& c : found->unreadable) all.push_back({{"position", c.position}, {"readable", false}, {"why", printable(c.why)}});
  for (const auto& c : found->readable)
    all.push_back({{"position", c.position},
                   {"readable", true},
                   {"time", format_rfc3339_micro(c.time)},
                   {"records", c.head.records},
                   {"hash", evidence::hex(c.head.hash)},
                   {"release", printable(c.release)},
                   {"key", printable(c.key)}});
  print_document(session, all, o.format);
  return found->unreadable.empty() ? exit_ok : exit_failure;
}

/// Its position stands for a question: nobody types it by accident.
Result<int> drop(const Session& session, events::Log& log, const CheckpointsCommand& o) {
  const auto before = checkpoints_of(log);
  if (!before) return tl::unexpected(before.error());
  const std::string what = "the checkpoint at position " + std::to_string(o.drop);
  const std::string in = "log " + std::string(log.name()) + ": ";
  if (!before->unreadable_at(o.drop) && !o.force) {
    if (!before->unreadable.empty())
      return fail(ErrorKind::invalid, in + "--drop: found " + std::to_string(o.drop) + ", and the checkpoint that cannot be read is at " +
                                          std::to_string(before->unreadable.front().position) + "; allowed: that one, or with --force");
    if (!before->readable_at(o.drop))
      return fail(ErrorKind::not_found, in + "there is no checkpoint at position " + std::to_string(o.drop));
    return fail(ErrorKind::conflict, in + what + " can be read, and proves the records up to it; allowed: with --force");
  }
  if (auto ok = log.drop_checkpoint(o.drop); !ok) return tl::unexpected(ok.error());
  const auto left = log.unreadable_checkpoints();
  if (!left) return tl::unexpected(left.error());
  if (o.format == "text") {
    session.out << what << " is removed; " << projections::counted(left->size(), "checkpoint") << " that cannot be read "
                << (left->size() == 1 ? "is" : "are") << " left\n";
  } else {
    Json unreadable = Json::array();
    for (const auto& c : *left) unreadable.push_back(c.position);
    print_document(session, Json{{"removed", o.drop}, {"unreadable", unreadable}}, o.format);
  }
  return exit_ok;
}

Result<int> checkpoints(const Session& session, const CheckpointsCommand& o) {
  if (o.force && o.drop == 0) return fail(ErrorKind::invalid, "--force: found without --drop; allowed: with it");
  const auto named = named_log(o.log);
  if (!named) return tl::unexpected(named.error());
  const bool writes = o.drop != 0;
  if (writes && !runtime::is_kafka(*named)) {  // to open it for writing would make it
    if (const auto there = runtime::open_log(*named, {.read_only = true}); !there) return tl::unexpected(there.error());
  }
  const auto log = runtime::open_log(*named, {.read_only = !writes, .kafka_config = o.log_config});
  if (!log) return tl::unexpected(log.error());
  return writes ? drop(session, **log, o) : list(session, **log, o);
}

}  // namespace

void add_log_checkpoints(CLI::App& log, Session& session) {
  const auto o = std::make_shared<CheckpointsCommand>();
  auto* c = add_command(log, session, "checkpoints",
                        "List the checkpoints of the chain, or remove one that cannot be read. Exit code 1 if there is such a one",
                        "  hindsight log checkpoints --log hindsight.db\n"
                        "  hindsight log checkpoints --drop 20000 --log 'kafka:a:9093/team-x?partition=3'",
                        [o, &session] { return checkpoints(session, *o); });
  c->add_option("--drop", o->drop, "Remove the checkpoint at this position. Of a file, nobody may write to it meanwhile")
      ->check(whole_number(1))
      ->type_name("POSITION");
  c->add_flag("--force", o->force, "With --drop: also one that can be read, and is proof");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_option(*c, o->log);
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli

#include "replay/audit.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/audit_document.hpp"
#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "events/chain.hpp"
#include "projections/format.hpp"
#include "runtime/log_location.hpp"
#include "runtime/release.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

/// The newest epochs that are told to people; programs get all.
constexpr std::size_t shown_epochs = 10;

struct AuditCommand {
  PastOptions past;
  std::string to = "latest", format, key;
  std::vector<std::string> public_keys, known;
  bool chain_only = false, checkpoint = false;
};

Result<replay::KnownHead> parse_known(const std::string& text) {
  const auto colon = text.find(':');
  replay::KnownHead out;
  if (colon != std::string::npos) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, out.records);
    const auto hash = evidence::parse_digest(std::string_view(text).substr(colon + 1));
    if (error == std::errc{} && end == text.data() + colon && hash) {
      out.hash = *hash;
      return out;
    }
  }
  return fail(ErrorKind::invalid, "found \"" + text + "\"; allowed: RECORDS:HASH, as an earlier audit printed it");
}

CLI::Validator is_known_head() {
  return {[](std::string& text) {
            const auto head = parse_known(text);
            return head ? std::string() : head.error().message;
          },
          "HEAD"};
}

/// `has_domain`: the one whose decisions are to be made again is in this log, or none was named.
Result<replay::AuditOptions> options_of(const AuditCommand& o, const events::Log& log, bool has_domain) {
  replay::AuditOptions out{.decisions = !o.chain_only && has_domain};
  const auto to = replay::resolve(log, replay::parse_moment(o.to).value());
  if (!to) return tl::unexpected(to.error());
  if (o.to != "latest") out.to = *to;
  for (const auto& file : o.public_keys) {
    auto key = evidence::PublicKey::read(file);
    if (!key) return wrong_input({key.error().kind, "--public-key: " + key.error().message});
    out.keys.push_back(std::move(*key));
  }
  for (const auto& text : o.known) out.known.push_back(parse_known(text).value());
  if (o.past.domain.empty() || !has_domain) return out;
  const auto domain = replay::choose_domain(log, o.past.domain);
  if (!domain) return tl::unexpected(domain.error());
  out.domains.push_back(*domain);
  return out;
}

void print_epochs(std::ostream& out, const replay::AuditReport& r) {
  const std::size_t first = r.epochs.size() - std::min(r.epochs.size(), shown_epochs);
  if (r.epochs_begun > r.epochs.size() - first)
    out << "epochs: the newest " << r.epochs.size() - first << " of " << with_commas(r.epochs_begun) << "\n";
  for (std::size_t i = first; i < r.epochs.size(); ++i) {
    const auto& e = r.epochs[i];
    out << "epoch " << e.epoch << " of domain " << printable(e.domain) << ": ";
    if (e.since.is_set()) out << "from " << format_rfc3339(e.since) << " on, ";
    if (e.begun != 0) out << "record " << e.begun << ", ";
    out << "by " << (e.writer.empty() ? std::string("a writer that was not noted") : "writer " + printable(e.writer));
    if (!e.release.empty()) out << " of release " << printable(e.release);
    out << ", " << projections::counted(e.decisions, "decision");
    if (e.fenced > 0)
      out << "; " << projections::counted(e.fenced, "record") << " of it came too late and " << (e.fenced == 1 ? "has" : "have")
          << " no effect";
    out << "\n";
  }
}

void print_text(const Session& session, const replay::AuditReport& r, const AuditCommand& o,
                const std::optional<evidence::Checkpoint>& added) {
  auto& out = session.out;
  for (const auto& failure : r.failures) out << "wrong, from record " << failure.position << " on: " << printable(failure.what) << "\n";
  if (r.failed > r.failures.size()) out << "... and " << with_commas(r.failed - r.failures.size()) << " more\n";
  for (const auto& what : replay::proved(r)) out << "proved: " << printable(what) << "\n";
  for (const auto& what : replay::not_proved(r, !o.public_keys.empty())) out << "not proved: " << printable(what) << "\n";
  print_epochs(out, r);
  if (added)
    out << "checkpoint stored at record " << added->position << (added->is_signed() ? ", signed with key " + added->key : ", not signed")
        << "\n";
  out << "head " << r.head.records << ":" << evidence::hex(r.head.hash) << "\n";
  out << (r.sound() ? "sound: " : "NOT SOUND: ") << with_commas(r.head.records - std::min(r.head.records, r.start.records))
      << (r.head.records - r.start.records == 1 ? " record" : " records") << " in the chain, "
      << projections::counted(r.checkpoints.compared, "checkpoint") << " compared, " << r.checkpoints.good
      << " of them signed by a named key\n";
}

/// Only a log in which nothing is wrong gets one: else it would look as if all were well.
Result<std::optional<evidence::Checkpoint>> add_checkpoint(events::Log& log, const replay::AuditReport& r, const AuditCommand& o) {
  if (!o.checkpoint || !r.sound() || r.last == 0) return std::optional<evidence::Checkpoint>();
  std::optional<evidence::SigningKey> key;
  if (!o.key.empty()) {
    auto read = evidence::SigningKey::read(o.key);
    if (!read) return wrong_input({read.error().kind, "--key: " + read.error().message});
    key = std::move(*read);
  }
  // The walk of the audit is not at hand any more; from the last checkpoint it is short, and must lead to the same head.
  const auto start = events::chain_before(log, r.last);
  if (!start) return tl::unexpected(start.error());
  events::ChainWalk walk(log, *start);
  if (auto ok = walk.to(r.last); !ok) return tl::unexpected(ok.error());
  if (walk.head() != r.head)
    return fail(ErrorKind::conflict, "log " + std::string(log.name()) + ": it was changed since it was audited; no checkpoint is stored");
  const Time now{std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
  auto stored = events::store_checkpoint(log, walk, now, runtime::release, key ? &*key : nullptr);
  if (!stored) return tl::unexpected(stored.error());
  return std::optional(std::move(*stored));
}

Result<std::unique_ptr<events::Log>> open_for(const AuditCommand& o, const std::string& location) {
  auto log = open_for_reading(location, o.past.log_config);  // also before it is opened for writing, which would make a file
  if (!log || !o.checkpoint) return log;
  return runtime::open_log(location, {.kafka_config = o.past.log_config});
}

/// Of one partition.
struct Audited {
  std::string location;
  replay::AuditReport report;
  std::optional<evidence::Checkpoint> added;
  double seconds = 0;
};

/// As long as a checkpoint cannot be read, nothing is compared with the others: it is said how it goes.
Error with_remedy(Error error, const events::Log& log, const std::string& location) {
  if (error.kind != ErrorKind::corrupt) return error;
  const auto unreadable = log.unreadable_checkpoints();
  if (unreadable && !unreadable->empty())
    error.message += "; keep a copy of the log, then remove it with 'hindsight log checkpoints --drop " +
                     std::to_string(unreadable->front().position) + " --log " + location + "'";
  return error;
}

Result<Audited> audit_one(const Session& session, const AuditCommand& o, const std::string& location, bool has_domain) {
  const auto log = open_for(o, location);
  if (!log) return tl::unexpected(log.error());
  auto options = options_of(o, **log, has_domain);
  if (!options) return tl::unexpected(options.error());
  ProgressBar bar(session, "checking");
  options->progress = [&](const std::string&, std::uint64_t done, std::uint64_t total) { bar.show(done, total); };
  const Stopwatch watch;
  auto report = replay::audit(**log, *options);
  bar.clear();
  if (!report) return tl::unexpected(with_remedy(report.error(), **log, location));
  auto added = add_checkpoint(**log, *report, o);
  if (!added) return tl::unexpected(added.error());
  return Audited{location, std::move(*report), std::move(*added), watch.seconds()};
}

/// What is asked of one partition alone and cannot be meant of several. Empty: nothing is.
std::string of_one_partition(const AuditCommand& o, std::size_t partitions) {
  const auto refused = [&](const std::string& found) {
    return found + " for a log with " + std::to_string(partitions) + " partitions; allowed: --log with ?partition=N";
  };
  if (!o.known.empty()) return refused("--known: found the head of one chain");
  if (replay::parse_moment(o.to).value().kind == replay::Moment::Kind::position) return refused("--to: found position " + o.to);
  return {};
}

/// Which of the partitions has the domain; with none named, all have what is asked. Errors: not_found (none has it).
Result<std::vector<bool>> partitions_with(const AuditCommand& o, const std::vector<std::string>& partitions) {
  std::vector<bool> out(partitions.size(), true);
  if (o.past.domain.empty() || partitions.size() == 1) return out;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const auto log = open_for_reading(partitions[i], o.past.log_config);
    if (!log) return tl::unexpected(log.error());
    const auto domains = (*log)->domains();
    if (!domains) return tl::unexpected(domains.error());
    out[i] = std::ranges::any_of(*domains, [&](const auto& tail) { return tail.domain == o.past.domain; });
  }
  if (std::ranges::find(out, true) == out.end())
    return fail(ErrorKind::not_found,
                "--domain: found \"" + o.past.domain + "\", which is in none of the " + std::to_string(partitions.size()) + " partitions");
  return out;
}

void print(const Session& session, const AuditCommand& o, const std::vector<Audited>& all, std::size_t partitions) {
  const auto document = [&](const Audited& one) { return audit_document(one.report, !o.public_keys.empty(), one.added, one.seconds); };
  if (partitions == 1) {
    if (all.empty()) return;
    if (o.format == "text")
      print_text(session, all.front().report, o, all.front().added);
    else
      print_document(session, document(all.front()), o.format);
    return;
  }
  const auto sound = static_cast<std::size_t>(std::ranges::count_if(all, [](const Audited& one) { return one.report.sound(); }));
  if (o.format == "text") {
    for (const auto& one : all) {
      session.out << "log " << printable(one.location) << "\n";
      print_text(session, one.report, o, one.added);
      session.out << "\n";
    }
    session.out << (sound == partitions ? "sound: " : "NOT SOUND: ") << sound << " of " << partitions << " partitions\n";
    return;
  }
  Json list = Json::array();
  for (const auto& one : all) {
    Json entry{{"log", printable(one.location)}};
    entry.update(document(one));
    list.push_back(std::move(entry));
  }
  print_document(session, Json{{"sound", sound == partitions}, {"partitions", std::move(list)}}, o.format);
}

Result<int> audit(const Session& session, const AuditCommand& o, const CLI::App& command) {
  if (o.checkpoint)
    if (const auto wrong = found_beside(command, {"to", "chain-only", "domain"}, "--checkpoint", "an audit of all that is in the log");
        !wrong.empty())
      return fail(ErrorKind::invalid, wrong);
  if (o.chain_only)
    if (const auto wrong = found_beside(command, {"domain"}, "--chain-only", "it without, where decisions are made again"); !wrong.empty())
      return fail(ErrorKind::invalid, wrong);
  if (!o.checkpoint && !o.key.empty()) return fail(ErrorKind::invalid, "--key: found without --checkpoint; allowed: with it");
  const auto named = named_log(o.past.log);
  if (!named) return tl::unexpected(named.error());
  const auto partitions = runtime::partitions_of(*named, {.read_only = true, .kafka_config = o.past.log_config});
  if (!partitions) return tl::unexpected(partitions.error());
  if (partitions->size() > 1)
    if (const auto wrong = of_one_partition(o, partitions->size()); !wrong.empty()) return fail(ErrorKind::invalid, wrong);
  const auto has_domain = partitions_with(o, *partitions);
  if (!has_domain) return tl::unexpected(has_domain.error());
  // What is wrong with one says nothing of the others: they are audited all the same.
  std::vector<Audited> all;
  std::optional<Error> failed;
  for (std::size_t i = 0; i < partitions->size(); ++i) {
    auto one = audit_one(session, o, (*partitions)[i], (*has_domain)[i]);
    if (one)
      all.push_back(std::move(*one));
    else if (!failed)
      failed = one.error();
    else
      session.warn(one.error().message);
  }
  print(session, o, all, partitions->size());
  if (failed) return tl::unexpected(*failed);
  return std::ranges::all_of(all, [](const Audited& one) { return one.report.sound(); }) ? exit_ok : exit_failure;
}

}  // namespace

void add_audit(CLI::App& app, Session& session) {
  const auto o = std::make_shared<AuditCommand>();
  const auto self = std::make_shared<CLI::App*>(nullptr);
  auto* c =
      add_command(app, session, "audit",
                  "Prove what can be proved of a log: that no record was changed since its checkpoints, who decided when, and that every "
                  "decision follows. Exit code 1 if something is wrong",
                  "  hindsight audit --public-key audit.pub.pem --log hindsight.db\n"
                  "  hindsight audit --checkpoint --key audit.pem --log hindsight.db\n"
                  "  hindsight audit -o json --log kafka:127.0.0.1:9092",
                  [o, self, &session] { return audit(session, *o, **self); });
  *self = c;
  c->add_option("--public-key", o->public_keys, "An Ed25519 public key in PEM whose signatures count; several may be given")
      ->type_name("FILE");
  c->add_option("--known", o->known,
                "A head that an earlier audit printed and that was kept elsewhere, as RECORDS:HASH: the log must still lead to it; several "
                "may be given")
      ->check(is_known_head());
  c->add_option("--to", o->to, "End after this moment")->check(is_moment())->default_str("latest");
  c->add_flag("--chain-only", o->chain_only, "Check chain, checkpoints and epochs, and make no decision again");
  c->add_flag("--checkpoint", o->checkpoint,
              "If nothing is wrong, store a checkpoint of the end of the log; nobody may write to a file meanwhile");
  c->add_option("--key", o->key, "With --checkpoint: sign it with this Ed25519 key in PEM ('hindsight log key' makes one)")
      ->type_name("FILE");
  add_output(*c, o->format, {"text", "json", "yaml"});
  add_log_option(*c, o->past.log, "The log: sqlite:FILE, FILE, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]; without N all partitions");
  add_log_config(*c, o->past.log_config);
  c->add_option("--domain", o->past.domain, "Make the decisions of this domain again; without it those of all")->type_name("NAME");
  add_time_zone(*c);
}

}  // namespace hindsight::cli

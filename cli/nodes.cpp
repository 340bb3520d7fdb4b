// `hindsight nodes`: who decides which domain, as the log says. Nobody is asked: a node that is silent stays the owner until another has
// taken its domain.

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "cli/application.hpp"
#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/output.hpp"
#include "cli/past_options.hpp"
#include "cli/progress.hpp"
#include "projections/table.hpp"
#include "replay/owners.hpp"
#include "runtime/log_location.hpp"

namespace hindsight::cli {
namespace {

using runtime::is_kafka;
using runtime::LogAccess;
using runtime::open_log;
using runtime::partitions_of;

struct NodesOptions {
  std::string log, log_config, domain, format;
};

/// A domain at the end of its partition.
struct DomainFacts {
  std::string name, owner, release;
  std::size_t partition = 0;
  std::uint64_t epoch = 0, sequence = 0, hash = 0;
  std::uint64_t lag = 0;  ///< Records after the one that its newest decision was made on.
  events::Position position = 0;
  Time since;  ///< When the epoch began.
  bool synced = false;
};

Result<void> look_at(const events::Log& log, std::size_t partition, const NodesOptions& o, ProgressBar& bar,
                     std::vector<DomainFacts>& out) {
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  const auto domains = log.domains();
  if (!domains) return tl::unexpected(domains.error());
  const auto owners = replay::find_owners(log, *last, [&](events::Position at) {
    bar.show(at, *last);
    return true;
  });
  if (!owners) return tl::unexpected(owners.error());
  for (const auto& tail : *domains) {
    if (!o.domain.empty() && tail.domain != o.domain) continue;
    DomainFacts facts;
    if (const auto it = owners->find(tail.domain); it != owners->end()) {
      facts.owner = it->second.writer;
      facts.release = it->second.release;
      facts.since = it->second.since;
    }
    facts.name = tail.domain;
    facts.partition = partition;
    facts.position = tail.offset;
    replay::Past past(log, tail.domain, {.progress = bar.callback()});
    if (auto ok = fold(past, *last); !ok) return ok;
    const auto& domain = past.driver().domain();
    facts.epoch = domain.epoch();
    facts.sequence = domain.sequence();
    facts.lag = domain.sequence() - domain.context().decided_base;
    facts.hash = past.driver().state_hash();
    facts.synced = domain.synced();
    out.push_back(std::move(facts));
  }
  return {};
}

Json document(const std::vector<DomainFacts>& all) {
  Json out = Json::array();
  for (const auto& d : all) {
    Json one{{"domain", d.name}, {"partition", d.partition}, {"epoch", d.epoch},   {"position", d.position}, {"sequence", d.sequence},
             {"lag", d.lag},     {"synced", d.synced},       {"hash", hex(d.hash)}};
    if (!d.owner.empty()) {
      one["owner"] = d.owner;
      one["release"] = d.release;
      one["since"] = format_rfc3339_micro(d.since);
    }
    out.push_back(std::move(one));
  }
  return out;
}

projections::Table table(const std::vector<DomainFacts>& all) {
  projections::Table out;
  out.columns = {
      {"DOMAIN"}, {"PARTITION", false, true}, {"OWNER"}, {"EPOCH", false, true}, {"SINCE"}, {"POSITION", false, true}, {"LAG", false, true},
      {"HASH"}};
  for (const auto& d : all)
    out.rows.push_back({d.name, std::to_string(d.partition), d.owner.empty() ? "<none>" : d.owner, std::to_string(d.epoch),
                        d.owner.empty() ? "" : format_rfc3339_micro(d.since), std::to_string(d.position), std::to_string(d.lag),
                        hex(d.hash)});
  return out;
}

Result<int> nodes(const Session& session, const NodesOptions& o) {
  const LogAccess access{.read_only = true, .kafka_config = o.log_config};
  const auto named = named_log(o.log);
  if (!named) return tl::unexpected(named.error());
  const auto partitions = partitions_of(*named, access);
  if (!partitions) return tl::unexpected(partitions.error());
  std::vector<DomainFacts> all;
  ProgressBar bar(session, "folding");
  for (std::size_t i = 0; i < partitions->size(); ++i) {
    const auto log = open_log((*partitions)[i], access);
    if (!log) return tl::unexpected(log.error());
    std::size_t number = i;
    if (partitions->size() == 1 && is_kafka(*named))
      if (const auto location = events::kafka::parse_location((*partitions)[i])) number = static_cast<std::size_t>(location->partition);
    if (auto ok = look_at(**log, number, o, bar, all); !ok) return tl::unexpected(ok.error());
  }
  bar.clear();
  if (!o.domain.empty() && all.empty())
    return fail(ErrorKind::not_found, "--domain: found \"" + o.domain + "\", which " + *named + " does not have");
  if (o.format == "table") {
    session.out << projections::render(table(all));
  } else {
    print_document(session, document(all), o.format);
  }
  return exit_ok;
}

}  // namespace

void add_nodes(CLI::App& app, Session& session) {
  const auto o = std::make_shared<NodesOptions>();
  auto* c =
      add_command(app, session, "nodes",
                  "Who decides which domain, since which epoch, how far the log is ahead of the newest decision, and the hash of the state",
                  "  hindsight nodes --log kafka:broker-1:9092\n"
                  "  hindsight nodes -o json --log hindsight.db",
                  [o, &session] { return nodes(session, *o); });
  add_output(*c, o->format, {"table", "json", "yaml"});
  add_log_option(*c, o->log, "The log: sqlite:FILE, FILE, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]; without N all partitions");
  add_log_config(*c, o->log_config);
  c->add_option("--domain", o->domain, "Only this admission domain")->type_name("NAME");
}

}  // namespace hindsight::cli

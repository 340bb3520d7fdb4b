#include "runtime/many_domains.hpp"

#include <algorithm>

#include "routing/held_objects.hpp"
#include "routing/partition.hpp"

namespace hindsight::runtime {

ManyDomains::ManyDomains(Options options)
    : options_(std::move(options)),
      dispatcher_(
          options_.cluster, [this](Symbol domain, const Observation& o) { send(domain, o); }, options_.departing) {}

ManyDomains::~ManyDomains() { (void)stop(); }

Result<std::unique_ptr<ManyDomains>> ManyDomains::start(Options options) {
  std::unique_ptr<ManyDomains> out(new ManyDomains(std::move(options)));
  if (auto ok = out->open_all(); !ok) return tl::unexpected(ok.error());
  return out;
}

Result<void> ManyDomains::open_all() {
  for (std::int32_t partition = 0; partition < options_.partitions; ++partition) {
    auto log = options_.open(partition);
    if (!log) return tl::unexpected(log.error());
    logs_.push_back(std::move(*log));
    const auto domains = logs_.back()->domains();
    if (!domains) return tl::unexpected(domains.error());
    for (const auto& tail : *domains) {
      if (!dispatcher_.router().owns(tail.domain)) continue;
      const Symbol domain(tail.domain);
      dispatcher_.know(domain);
      if (auto ok = run(domain, partition); !ok) return tl::unexpected(ok.error());
    }
  }
  return {};
}

/// Domains that come into being later need nobody's leave to say what they want.
Result<ManyDomains::Running*> ManyDomains::run(Symbol domain, std::int32_t partition) {
  Running running;
  running.partition = partition;
  events::Log& log = *logs_[static_cast<std::size_t>(partition)];
  actors::NodeOptions o = options_.node;
  o.domain = domain.text();
  o.role = actors::Role::connector;
  o.decide_from_start = listed_;
  o.threads = 1;  // to follow is little work, and there can be many
  o.on_intents = [this, domain](std::vector<admission::Intent> intents) { take_intents(domain, std::move(intents)); };
  running.snapshots = std::make_unique<NodeSnapshots>(log, o.on_notice);
  running.snapshots->attach(o);
  auto node = actors::Node::start(log, std::move(o));
  if (!node) return tl::unexpected(node.error());
  running.node = std::move(*node);
  LiveProjectionsOptions look_on;
  look_on.domain = domain.text();
  if (const auto last = log.last()) look_on.begin = *last;  // takes its time while the brokers are away
  look_on.metrics = options_.metrics;
  look_on.events = options_.events;
  look_on.on_notice = options_.node.on_notice;
  const std::lock_guard lock(mutex_);
  if (stopping_) return fail(ErrorKind::unavailable, "domain " + std::string(domain.text()) + ": this process is stopping");
  running.projections = std::make_unique<LiveProjections>(log, std::move(look_on));
  return &running_.insert_or_assign(domain, std::move(running)).first->second;
}

actors::Node* ManyDomains::find(Symbol domain) const {
  const std::lock_guard lock(mutex_);
  const auto it = running_.find(domain);
  return it == running_.end() ? nullptr : it->second.node.get();
}

void ManyDomains::send(Symbol domain, const Observation& o) {
  actors::Node* node = find(domain);
  if (node == nullptr) {
    const auto started = run(domain, routing::partition_of(domain.text(), options_.partitions));
    if (!started) {
      if (options_.node.on_failure) options_.node.on_failure(started.error());
      return;
    }
    node = (*started)->node.get();
  }
  if (const auto* gone = std::get_if<ObjectDeleted>(&o); gone != nullptr && !gone->departed_to.empty()) options_.on_departed(gone->uid);
  node->observe_and_wait(o);
}

void ManyDomains::take_intents(Symbol domain, std::vector<admission::Intent> intents) {
  auto shared = std::make_shared<std::vector<admission::Intent>>(std::move(intents));
  options_.post([this, domain, shared] {
    std::erase_if(*shared, [&](const auto& intent) { return !dispatcher_.may_want(domain, intent); });
    if (!shared->empty()) options_.on_intents(std::move(*shared));
  });
}

void ManyDomains::synced(const connectors::Mirror& /*the dispatcher remembers all*/, std::function<void()> done) {
  dispatcher_.list();
  listed_ = true;
  const auto domains = dispatcher_.domains();
  to_complete_ = domains.size();
  for (const Symbol& domain : domains) {
    actors::Node* node = find(domain);
    if (node == nullptr) continue;  // it could not be started, and that ends the process
    node->call([this, domain, done](admission::Entities& entities) {
      auto objects = std::make_shared<const std::vector<routing::ObjectKey>>(routing::held_objects(entities));
      options_.post([this, domain, objects, done] { held(domain, *objects, done); });
    });
  }
}

void ManyDomains::held(Symbol domain, const std::vector<routing::ObjectKey>& objects, const std::function<void()>& done) {
  dispatcher_.complete(domain, objects);
  actors::Node* node = find(domain);
  const bool last = --to_complete_ == 0;
  node->call([node, last, done](admission::Entities&) {
    node->allow_decisions();
    if (last) done();
  });
}

std::vector<ClusterDomains::Status> ManyDomains::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<Status> out;
  for (const auto& [name, running] : running_)
    out.push_back({std::string(name.text()), running.partition, running.node->status(), std::nullopt});
  return out;
}

/// They last until `stop_telling`; to hold the table's lock while they are read would hold up the link.
std::vector<const LiveProjections*> ManyDomains::onlookers() const {
  const std::lock_guard lock(mutex_);
  std::vector<const LiveProjections*> out;
  for (const auto& [name, running] : running_) out.push_back(running.projections.get());
  return out;
}

bool ManyDomains::look(const std::function<void(const admission::StateView&)>& reader) const {
  const auto all = onlookers();
  const auto shown = std::ranges::count_if(all, [&](const auto* one) { return one->look(reader); });
  return !all.empty() && static_cast<std::size_t>(shown) == all.size();
}

std::string ManyDomains::metrics_text() const {
  projections::MetricsValues all;
  for (const auto* one : onlookers())
    if (auto values = one->metrics()) all.add(std::move(*values));
  return all.text();
}

void ManyDomains::stop_telling() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;  // the table grows no more
  }
  for (auto& [name, running] : running_) running.projections.reset();
}

Result<void> ManyDomains::stop() {
  stop_telling();
  Result<void> out;
  for (auto& [name, running] : running_)
    if (auto ok = running.node->stop(); !ok && out) out = ok;
  return out;
}

}  // namespace hindsight::runtime

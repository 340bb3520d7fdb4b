#include "cli/live/partition_owner.hpp"

#include <algorithm>

#include "events/settings.hpp"

namespace hindsight::cli {

PartitionOwner::PartitionOwner(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

PartitionOwner::~PartitionOwner() {
  thread_.request_stop();
  thread_.join();
}

void PartitionOwner::own(std::vector<std::int32_t> partitions) {
  const std::lock_guard lock(mutex_);
  wanted_ = std::move(partitions);
  news_ = true;
  changed_.notify_all();
}

void PartitionOwner::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, options_.look, [&] { return news_; });
      if (std::exchange(news_, false))
        for (auto& [number, partition] : partitions_) partition.held_back.clear();
    }
    if (!stop.stop_requested()) look();
  }
  std::map<std::int32_t, Partition> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(partitions_);
  }
}

/// Stops what is not ours any more, then begins what is.
void PartitionOwner::look() {
  std::vector<std::int32_t> wanted;
  std::vector<Partition> ending;
  std::vector<std::int32_t> missing;
  {
    const std::lock_guard lock(mutex_);
    wanted = wanted_;
    for (auto it = partitions_.begin(); it != partitions_.end();) {
      if (std::ranges::binary_search(wanted, it->first)) {
        ++it;
        continue;
      }
      options_.on_notice("partition " + std::to_string(it->first) + " is another node's now");
      ending.push_back(std::move(it->second));
      it = partitions_.erase(it);
    }
    for (const auto number : wanted)
      if (!partitions_.contains(number)) missing.push_back(number);
  }
  ending.clear();
  for (const auto number : missing) {
    auto log = options_.open(number);
    if (!log) {
      options_.on_notice("partition " + std::to_string(number) + ": " + log.error().message);
      continue;
    }
    const std::lock_guard lock(mutex_);
    partitions_[number].log = std::move(*log);
  }
  for (const auto number : wanted) {
    if (const auto it = partitions_.find(number); it != partitions_.end()) look_at(number, it->second);
  }
}

/// New domains get a decider; one that has ended gets a new one as long as the partition is ours.
void PartitionOwner::look_at(std::int32_t number, Partition& partition) {
  const auto named = [number](const std::string& domain) { return "domain " + domain + " of partition " + std::to_string(number); };
  std::vector<Decider> ended;
  for (auto& [domain, decider] : partition.deciders) {
    const std::string error = decider.node->status().error;
    if (error.empty()) continue;
    options_.on_notice(named(domain) + ": " + error);
    partition.held_back[domain] = std::chrono::steady_clock::now() + options_.hold_back;
    const std::lock_guard lock(mutex_);
    ended.push_back(std::move(decider));
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(partition.deciders, [](const auto& entry) { return entry.second.node == nullptr; });
  }
  ended.clear();
  const auto domains = partition.log->domains();
  if (!domains) return options_.on_notice("partition " + std::to_string(number) + ": " + domains.error().message);
  for (const auto& tail : *domains) {
    if (partition.deciders.contains(tail.domain)) continue;
    if (const auto held = partition.held_back.find(tail.domain); held != partition.held_back.end()) {
      if (std::chrono::steady_clock::now() < held->second) continue;
      partition.held_back.erase(held);
    }
    auto started = decider(partition, tail.domain);
    if (!started) {
      options_.on_notice(named(tail.domain) + ": " + started.error().message);
      continue;
    }
    const std::lock_guard lock(mutex_);
    partition.deciders.emplace(tail.domain, std::move(*started));
  }
}

Result<PartitionOwner::Decider> PartitionOwner::decider(Partition& partition, const std::string& domain) {
  Decider out;
  actors::NodeOptions o;
  o.domain = domain;
  o.role = actors::Role::decider;
  o.writer = options_.writer;
  o.release = options_.release;
  o.settings_reader = [](Text json) { return events::read_settings(json); };
  o.on_notice = [notice = options_.on_notice, domain](const std::string& text) { notice("domain " + domain + ": " + text); };
  o.on_lead = [notice = options_.on_notice, domain](std::uint64_t epoch, events::Position position) {
    notice("domain " + domain + " is decided here from epoch " + std::to_string(epoch) + ", position " + std::to_string(position));
  };
  out.snapshots = std::make_unique<NodeSnapshots>(*partition.log, o.on_notice, options_.snapshots);
  out.snapshots->attach(o);
  auto node = actors::Node::start(*partition.log, std::move(o));
  if (!node) return tl::unexpected(node.error());
  out.node = std::move(*node);
  return out;
}

std::vector<PartitionOwner::Domain> PartitionOwner::domains() const {
  const std::lock_guard lock(mutex_);
  std::vector<Domain> out;
  for (const auto& [number, partition] : partitions_)
    for (const auto& [name, decider] : partition.deciders)
      if (decider.node) out.push_back({number, name, decider.node->status()});
  return out;
}

PartitionOwner::Standing PartitionOwner::standing() const {
  const std::lock_guard lock(mutex_);
  Standing out{wanted_, {}};
  for (const auto& [number, partition] : partitions_) out.open.push_back(number);
  return out;
}

}  // namespace hindsight::cli

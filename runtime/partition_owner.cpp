#include "runtime/partition_owner.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "events/settings.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::runtime {
namespace {

/// Another node has replaced it, or it failed.
bool ended(const actors::NodeStatus& status) { return !status.error.empty(); }

/// It ended, or had not begun: then it shall not begin any more and take the domain from whoever has it now.
bool useless(const actors::NodeStatus& status) { return ended(status) || !status.caught_up; }

}  // namespace

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
  name_this_thread("partitions");
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

/// Stops what others have begun with, then begins what is ours, then follows what is not.
void PartitionOwner::look() {
  std::vector<std::int32_t> wanted, followed;
  {
    const std::lock_guard lock(mutex_);
    wanted = wanted_;
    if (!handing_over_) followed = options_.standby;
  }
  { const auto parted = part_with(wanted, followed); }  // ends them
  parted_.notify_all();
  const auto open = [&](std::int32_t number, Stance stance) {
    if (partitions_.contains(number)) return;
    auto log = options_.open(number);
    if (!log) return options_.on_notice("partition " + std::to_string(number) + ": " + log.error().message);
    const std::lock_guard lock(mutex_);
    auto& partition = partitions_[number];
    partition.log = std::move(*log);
    partition.stance = stance;
  };
  for (const auto number : wanted) open(number, Stance::decides);
  for (const auto number : wanted)
    if (const auto it = partitions_.find(number); it != partitions_.end()) {
      take(number, it->second);
      look_at(number, it->second);
    }
  for (const auto number : followed) open(number, Stance::stands_by);
  for (auto& [number, partition] : partitions_)
    if (partition.stance == Stance::stands_by) look_at(number, partition);
}

/// It is ours now, if it was not before.
void PartitionOwner::take(std::int32_t number, Partition& partition) {
  if (partition.stance == Stance::stands_by) {
    options_.on_notice("partition " + std::to_string(number) + ", which was followed, is this node's now");
    for (auto& [domain, decider] : partition.deciders) decider.node->claim();
  }
  if (!partition.chain || partition.stance != Stance::decides) {
    const auto notice = [tell = options_.on_notice, number](const std::string& text) {
      tell("partition " + std::to_string(number) + ": " + text);
    };
    partition.chain =
        std::make_unique<ChainKeeper>(*partition.log, ChainKeeper::Options{.release = options_.release,
                                                                           .key = options_.checkpoint_key,
                                                                           .now = [clock = options_.clock] { return clock->now(); },
                                                                           .on_notice = notice});
  }
  if (options_.keep_history && (!partition.history || partition.stance != Stance::decides)) {
    const auto notice = [tell = options_.on_notice, number](const std::string& text) {
      tell("partition " + std::to_string(number) + ": " + text);
    };
    partition.history =
        std::make_unique<HistoryKeeper>(*partition.log, HistoryKeeper::Options{.keep = *options_.keep_history,
                                                                               .release = options_.release,
                                                                               .on_notice = notice,
                                                                               .now = [clock = options_.clock] { return clock->now(); }});
  }
  const std::lock_guard lock(mutex_);
  partition.stance = Stance::decides;
}

/// Those whose domains are all decided elsewhere, or have been kept for long enough, unless they are to be followed.
std::vector<PartitionOwner::Partition> PartitionOwner::part_with(const std::vector<std::int32_t>& wanted,
                                                                 const std::vector<std::int32_t>& followed) {
  const auto now = std::chrono::steady_clock::now();
  std::vector<Partition> out;
  for (auto it = partitions_.begin(); it != partitions_.end();) {
    auto& [number, partition] = *it++;
    if (std::ranges::binary_search(wanted, number)) continue;
    const bool follow = std::ranges::find(followed, number) != followed.end();
    if (partition.stance == Stance::decides) {
      if (partition.chain) partition.chain->end();
      if (partition.history) partition.history->end();  // a snapshot that it is just storing holds up nobody
      const std::lock_guard lock(mutex_);
      partition.stance = Stance::lingers;
      partition.lingers_until = now + options_.linger;
      options_.on_notice("partition " + std::to_string(number) + " is another node's now: decided here until that one begins");
    }
    if (partition.stance == Stance::lingers) {
      drop(number, partition, useless);
      if (!partition.deciders.empty() && now < partition.lingers_until) continue;
      options_.on_notice("partition " + std::to_string(number) + " is left to others");
    } else if (follow) {
      continue;
    }
    const std::lock_guard lock(mutex_);
    auto& parted = out.emplace_back();
    if (follow) {  // it is followed anew, from what the next owner writes
      parted.deciders = std::exchange(partition.deciders, {});
      partition.held_back.clear();  // who follows takes nothing back
      partition.stance = Stance::stands_by;
    } else {
      parted = std::move(partition);
      partitions_.erase(std::prev(it));
    }
  }
  return out;
}

bool PartitionOwner::hand_over(std::chrono::milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    handing_over_ = true;
  }
  own({});
  std::unique_lock lock(mutex_);
  return parted_.wait_for(lock, timeout, [&] { return partitions_.empty() && !news_; });
}

void PartitionOwner::drop(std::int32_t number, Partition& partition, const std::function<bool(const actors::NodeStatus&)>& which) {
  std::vector<Decider> dropped;
  for (auto& [domain, decider] : partition.deciders) {
    const auto status = decider.node->status();
    if (!which(status)) continue;
    if (ended(status)) options_.on_notice("domain " + domain + " of partition " + std::to_string(number) + ": " + status.error);
    partition.held_back[domain] = std::chrono::steady_clock::now() + options_.hold_back;
    const std::lock_guard lock(mutex_);
    dropped.push_back(std::move(decider));
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(partition.deciders, [](const auto& entry) { return entry.second.node == nullptr; });
}

/// New domains get a decider; one that has ended gets a new one as long as the partition is ours or followed.
void PartitionOwner::look_at(std::int32_t number, Partition& partition) {
  const auto named = [number](const std::string& domain) { return "domain " + domain + " of partition " + std::to_string(number); };
  drop(number, partition, ended);
  const auto domains = partition.log->domains();
  if (!domains) return options_.on_notice("partition " + std::to_string(number) + ": " + domains.error().message);
  for (const auto& tail : *domains) {
    if (partition.deciders.contains(tail.domain)) continue;
    if (const auto held = partition.held_back.find(tail.domain); held != partition.held_back.end()) {
      if (std::chrono::steady_clock::now() < held->second) continue;
      partition.held_back.erase(held);
    }
    auto started = decider(partition, tail.domain, domains->size() == 1);
    if (!started) {
      options_.on_notice(named(tail.domain) + ": " + started.error().message);
      continue;
    }
    const std::lock_guard lock(mutex_);
    partition.deciders.emplace(tail.domain, std::move(*started));
  }
}

Result<PartitionOwner::Decider> PartitionOwner::decider(Partition& partition, const std::string& domain, bool alone) {
  Decider out;
  actors::NodeOptions o;
  o.domain = domain;
  o.role = actors::Role::decider;
  if (!alone) {  // several domains keep the cores busy by themselves: each has one worker, and nothing to hand over
    o.threads = 1;
    o.inline_receivers = std::numeric_limits<std::size_t>::max();
  }
  o.claim_from_start = partition.stance == Stance::decides;
  o.writer = options_.writer;
  o.release = options_.release;
  o.clock = options_.clock;
  o.settings_reader = [](Text json) { return events::read_settings(json); };
  o.quarantine_command = options_.quarantine_command;
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
  for (const auto& [number, partition] : partitions_) {
    if (partition.stance == Stance::stands_by) continue;
    for (const auto& [name, decider] : partition.deciders)
      if (decider.node) out.push_back({number, name, decider.node->status(), decider.snapshots->standing()});
  }
  return out;
}

PartitionOwner::Standby PartitionOwner::standby() const {
  const std::lock_guard lock(mutex_);
  Standby out;
  for (const auto& [number, partition] : partitions_) {
    if (partition.stance != Stance::stands_by) continue;
    for (const auto& [name, decider] : partition.deciders) {
      ++out.domains;
      if (decider.node && decider.node->status().standing_by) ++out.ready;
    }
  }
  return out;
}

PartitionOwner::Standing PartitionOwner::standing() const {
  const std::lock_guard lock(mutex_);
  Standing out{wanted_, {}};
  for (const auto& [number, partition] : partitions_)
    if (partition.stance == Stance::decides) out.open.push_back(number);
  return out;
}

}  // namespace hindsight::runtime

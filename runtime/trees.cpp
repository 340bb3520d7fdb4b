#include "runtime/trees.hpp"

#include "runtime/log_location.hpp"

namespace hindsight::runtime {

Result<std::unique_ptr<ManyDomains>> start_trees(const TreesRunOptions& o, actors::NodeOptions node, ClusterLink& link,
                                                 connectors::EventSender& events) {
  if (o.log.find("partition=") != std::string::npos)
    return fail(ErrorKind::invalid,
                "--domains trees: --log is " + o.log + "; allowed: no partition, the trees are spread over all of the topic");
  const LogAccess access{.kafka_config = o.log_config, .snapshot_folder = o.snapshot_folder};
  const auto partitions = when_reachable([&] { return partitions_of(o.log, access); }, o.stop, o.notice);
  if (!partitions) return tl::unexpected(partitions.error());

  ManyDomains::Options many;
  many.cluster = o.cluster;
  many.partitions = static_cast<std::int32_t>(partitions->size());
  many.open = [partitions = *partitions, access](std::int32_t partition) {
    return open_log(partitions[static_cast<std::size_t>(partition)], access);
  };
  many.node = std::move(node);
  many.post = [&link](std::function<void()> work) { link.post(std::move(work)); };
  many.on_intents = [&link](std::vector<admission::Intent> intents) { link.want_now(std::move(intents)); };
  many.on_departed = [&link](std::string_view uid) { link.forget(uid); };
  many.departing = [&link] { return link.departing(); };
  many.events = &events;
  many.metrics = o.metrics;
  return ManyDomains::start(std::move(many));
}

}  // namespace hindsight::runtime

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connectors/event_recorder/event_sender.hpp"
#include "events/log.hpp"
#include "routing/dispatcher.hpp"
#include "runtime/cluster_domains.hpp"
#include "runtime/live_projections.hpp"
#include "runtime/node_snapshots.hpp"

namespace hindsight::runtime {

/// A cluster that is decided in one domain for each tree (routing/), all in one log with one or many partitions. This process follows all
/// of them and decides nothing: other nodes do.
class ManyDomains final : public ClusterDomains {
 public:
  struct Options {
    std::string cluster;  ///< First part of the names of its domains.
    std::int32_t partitions = 1;
    std::function<Result<std::unique_ptr<events::Log>>(std::int32_t)> open;
    actors::NodeOptions node;  ///< Of each; domain, role and on_intents are set here.
    Post post;
    /// On the thread of `post`: intents of objects that belong to the domain that has them.
    std::function<void(std::vector<admission::Intent>)> on_intents;
    /// On the thread of `post`: what was wanted of this object so far is wanted no more.
    std::function<void(std::string_view uid)> on_departed;
    /// On the thread of `post`: of something that departed a write is under way; `departed` is called when none is any more.
    std::function<bool()> departing;
    connectors::EventSender* events = nullptr;  ///< Gets the Kubernetes Events of all domains.
    projections::MetricsOptions metrics;        ///< Of each.
  };
  /// Opens all partitions, and goes on with the domains of the cluster that are in them. Errors: those of opening a log and of Node::start.
  [[nodiscard]] static Result<std::unique_ptr<ManyDomains>> start(Options options);
  ~ManyDomains() override;

  void observe(const Observation& o) override { dispatcher_.observe(o); }
  void departed() override { dispatcher_.settled(); }
  void synced(const connectors::Mirror& mirror, std::function<void()> done) override;
  [[nodiscard]] std::vector<Status> status() const override;
  bool look(const std::function<void(const admission::StateView&)>& reader) const override;
  [[nodiscard]] std::string metrics_text() const override;
  void stop_telling() override;
  Result<void> stop() override;

 private:
  struct Running {
    std::int32_t partition = 0;
    std::unique_ptr<NodeSnapshots> snapshots;
    std::unique_ptr<actors::Node> node;
    std::unique_ptr<LiveProjections> projections;
  };

  explicit ManyDomains(Options options);
  [[nodiscard]] Result<void> open_all();
  [[nodiscard]] Result<Running*> run(Symbol domain, std::int32_t partition);
  [[nodiscard]] actors::Node* find(Symbol domain) const;
  [[nodiscard]] std::vector<const LiveProjections*> onlookers() const;
  void send(Symbol domain, const Observation& o);
  void take_intents(Symbol domain, std::vector<admission::Intent> intents);
  void held(Symbol domain, const std::vector<routing::ObjectKey>& objects, const std::function<void()>& done);

  Options options_;
  std::vector<std::unique_ptr<events::Log>> logs_;  ///< By partition.
  routing::Dispatcher dispatcher_;                  ///< Only on the thread of `post`.
  bool listed_ = false;                             ///< As the dispatcher.
  std::size_t to_complete_ = 0;                     ///< As the dispatcher: domains that have not said yet what they hold.
  mutable std::mutex mutex_;                        ///< Of the two below; what the table holds is thread-safe.
  bool stopping_ = false;
  std::map<Symbol, Running, ByText> running_;  ///< None ever leaves, so that what was counted is never less.
};

}  // namespace hindsight::runtime

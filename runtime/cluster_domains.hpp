#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/node.hpp"
#include "admission/domain/state_view.hpp"
#include "connectors/bridge/bridge.hpp"
#include "runtime/node_snapshots.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// The domain, or the domains, in which a cluster is decided: who takes what is seen of it.
class ClusterDomains {
 public:
  ClusterDomains() = default;
  ClusterDomains(const ClusterDomains&) = delete;
  ClusterDomains& operator=(const ClusterDomains&) = delete;
  virtual ~ClusterDomains() = default;

  /// Runs work on the thread of the link, on which `observe` and `synced` are called. From any thread; never waits.
  using Post = std::function<void(std::function<void()>)>;

  /// Waits while too much is under way. Nothing happens when the domain has stopped: the next process sees the object again.
  virtual void observe(const Observation& o) = 0;
  /// All lists are complete. What the log knows and `mirror` has no more was deleted while nobody watched; when that is told, decisions may
  /// be made and intents are told, and `done` is called on any thread. The mirror must last until `stop`.
  virtual void synced(const connectors::Mirror& mirror, std::function<void()> done) = 0;

  /// Writes of objects that went from one domain to another have all been answered; called on the link's thread.
  virtual void departed() {}

  struct Status {
    std::string domain;
    std::int32_t partition = 0;
    actors::NodeStatus node;
    std::optional<NodeSnapshots::Standing> snapshots;  ///< Nothing: it writes none.
  };
  [[nodiscard]] virtual std::vector<Status> status() const = 0;
  /// Calls back with the state of each domain, one after another; that one stands still meanwhile. False: not of all of them, because the
  /// log has not been folded so far, or there is none yet.
  virtual bool look(const std::function<void(const admission::StateView&)>& reader) const = 0;
  /// Of all domains as one, in the Prometheus text format; empty while no log has been folded.
  [[nodiscard]] virtual std::string metrics_text() const = 0;
  /// The cluster is about to stop: nobody is told Events any more, and no domain is made. Nobody may call the two functions above any more.
  virtual void stop_telling() = 0;
  /// Finishes what is under way. Error: something did not end in time, or had stopped by itself before.
  virtual Result<void> stop() = 0;
};

}  // namespace hindsight::runtime

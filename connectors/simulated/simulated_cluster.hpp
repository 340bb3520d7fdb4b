#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/simulated/object_store.hpp"
#include "connectors/simulated/reply.hpp"
#include "connectors/simulated/rules/template_update.hpp"
#include "connectors/webhooks/surroundings.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::simulated {

/// Virtual time starts here: a Thursday, so that everybody's times look alike.
inline constexpr Time virtual_start = Time::from_seconds(1'767'225'600);  // 2026-01-01T00:00:00Z

/// The account of all controllers of jobs; whoever writes without a name is a user.
inline constexpr std::string_view simulated_controller = "system:serviceaccount:kube-system:job-controller";

/// The part of the mutating webhook that keeps jobs from starting before they are admitted: a job of any kind that is known here and that
/// is managed comes suspended, with what else it is given (BA-169). Nothing is refused, and other kinds stay as they were written.
struct JobDefaults {
  bool on = false;
  bool without_queue_name = false;  ///< manageJobsWithoutQueueName.
  /// managedJobsNamespaceSelector, asked with the name and the labels of a namespace; empty: all namespaces are managed.
  std::function<bool(std::string_view name, const Json& labels)> manages_namespace;
};

struct ClusterOptions {
  Time start = virtual_start;
  std::uint64_t seed = 1;                                      ///< Of the uids.
  bool webhooks = false;                                       ///< The control plane's admission webhooks default and judge too.
  webhooks::GateValues gates;                                  ///< Of the webhooks, where they are not as by default.
  std::size_t max_options = webhooks::max_options_by_default;  ///< Of the webhooks.
  JobDefaults job_defaults;                                    ///< What becomes of jobs that come, where `webhooks` is off.
  JobRules jobs;                                               ///< Of which release the API server is, as far as Jobs go.
  bool collect_garbage = true;                                 ///< What all owners of an object are gone for goes too.
};

/// Which part of an object a write is about.
enum class Part : std::uint8_t { main, status };

enum class Propagation : std::uint8_t { unset, background, orphan };

struct DeleteOptions {
  Propagation propagation = Propagation::unset;
  std::string uid;               ///< Precondition; empty: none.
  std::string resource_version;  ///< Precondition; empty: none.
};

/// One change of one object, for who needs no text.
struct ObjectChange {
  WatchEvent::Type type = WatchEvent::Type::added;
  StoredPointer object;  ///< As it is now, which may be later than the change.
};

/// An API server in memory and virtual time: the kinds of manifests::kinds(), with uids, resource versions, generations, defaults,
/// validation, finalizers, garbage collection and watches as the real one has them. It answers inside submit(). Watch events come in
/// the order of the changes; what a sink does to the cluster gives events that come after the one it is handling. Not thread-safe.
class SimulatedCluster final : public Cluster {
 public:
  explicit SimulatedCluster(const ClusterOptions& options = {});

  // ---- time ---------------------------------------------------------------------------------------------------------------

  [[nodiscard]] Time now() const { return now_; }
  /// Time does not run back.
  void set_time(Time now);

  // ---- requests -----------------------------------------------------------------------------------------------------------

  /// As over HTTP. Of apply patches it knows nothing: 415.
  void submit(Write write, std::function<void(WriteAnswer)> done) override;

  /// The same without text. The kind must be known; objects carry apiVersion, kind and metadata.
  Reply create(Json object, std::string_view user = {});
  Reply merge_patch(std::string_view kind, std::string_view namespace_, std::string_view name, Part part, const Json& patch);
  Reply remove(std::string_view kind, std::string_view namespace_, std::string_view name, const DeleteOptions& options = {});

  // ---- what there is ------------------------------------------------------------------------------------------------------

  [[nodiscard]] StoredPointer find(std::string_view kind, std::string_view namespace_, std::string_view name) const;
  [[nodiscard]] const ObjectStore& store() const { return store_; }
  [[nodiscard]] std::uint64_t resource_version() const { return version_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }  ///< Requests that changed something.

  // ---- watches ------------------------------------------------------------------------------------------------------------

  using WatchSink = std::function<void(const WatchEvent&)>;
  using ChangeSink = std::function<void(const ObjectChange&)>;

  /// From now on `sink` gets every change; first what there is, and then `synced` for each of `types`.
  void watch(const std::vector<const ResourceType*>& types, WatchSink sink);
  void observe(ChangeSink sink) { observers_.push_back(std::move(sink)); }

 private:
  struct Watcher {
    std::vector<const ResourceType*> types;
    WatchSink sink;
  };
  struct Pending {
    WatchEvent::Type type;
    StoredPointer object;
    SharedText text;
  };

  Reply accept(const StoredPointer& object) const;
  Reply patch_main(const StoredPointer& stored, const Json& patch);
  Reply patch_status(const StoredPointer& stored, const Json& patch);
  void check_main(const Kind& kind, const Json& object, const Json& old_object, std::vector<Problem>& problems) const;
  void commit(const StoredPointer& stored, Json object, bool bump_generation);
  void mark_deleting(const StoredPointer& stored);
  void erase(const StoredPointer& stored);
  void collect_dependents(const StoredObject& owner);
  void drop_owner(const StoredPointer& dependent, const std::string& uid);
  void remove_contents(const std::string& namespace_);
  void finish_namespace(const std::string& namespace_);
  void changed(WatchEvent::Type type, const StoredPointer& object);
  void deliver();
  std::string next_uid();
  std::string fresh_name(std::string_view prefix);

  ClusterOptions options_;
  Time now_;
  ObjectStore store_;
  std::uint64_t version_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t uid_state_;
  std::deque<Pending> pending_;
  bool delivering_ = false;
  std::vector<Watcher> watchers_;
  std::vector<ChangeSink> observers_;
};

}  // namespace hindsight::connectors::simulated

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/kubernetes/auth/connection.hpp"
#include "connectors/kubernetes/backoff.hpp"
#include "connectors/kubernetes/http/http_client.hpp"
#include "connectors/kubernetes/lease/leader_elector.hpp"
#include "connectors/kubernetes/mirror/mirror_store.hpp"
#include "connectors/kubernetes/mirror/reflector.hpp"
#include "connectors/kubernetes/notice.hpp"
#include "connectors/kubernetes/object_writer.hpp"

namespace hindsight::connectors::kubernetes {

struct KubernetesClusterOptions {
  std::size_t max_in_flight = 64;  ///< --max-in-flight: writes and lists at the same time.
  Backoff backoff;
  std::size_t best_effort_waiting_max = 1000;  ///< Best-effort writes beyond this are dropped.
  OnNotice on_notice;                          ///< Called on the client's thread. Empty: nobody listens.
  Random random;                               ///< Empty: system_random().
  HttpClient::Options http;                    ///< `max_in_flight` above goes before the one in here. `on_date` is the server's clock.
};

struct KubernetesClusterStatistics {
  struct Kind {
    const ResourceType* type = nullptr;
    bool synced = false;
    bool failing = false;  ///< The last list or watch failed.
    std::size_t objects = 0;
    ReflectorStatistics reflector;
  };
  bool reachable = true;  ///< The last request got an answer.
  HttpStatistics http;
  WriterStatistics writer;
  std::uint64_t best_effort_dropped = 0;
  std::uint64_t best_effort_failed = 0;
  std::vector<Kind> kinds;
};

/// A Kubernetes API server: watch events in, writes out, and the mirror of what was seen. One thread of its own; functions may
/// be called from any thread, callbacks come from that thread and must not block it.
class KubernetesCluster final : public Cluster {
 public:
  /// Reads the credentials, which may run a command. Does not contact the server: an unreachable one is told by a notice.
  [[nodiscard]] static Result<std::unique_ptr<KubernetesCluster>> connect(const Connection& connection,
                                                                          KubernetesClusterOptions options = {});
  ~KubernetesCluster() override;

  /// See ObjectWriter for what is retried. Who takes part in an election writes only while it leads: http_status 0 comes when it does not,
  /// or not any more, and when this is stopped. Nothing is sent after the moment in which the lease is lost.
  void submit(Write write, std::function<void(WriteAnswer)> done) override;
  /// Twice what is given to the server: the next ones are there when it answers. What the server is slow about, and what waits for another
  /// try, takes nobody's place.
  [[nodiscard]] std::size_t writes_at_once() const override {
    return 2 * http_->writes_at_once() + http_->slow_writes() + writer_->backing_off();
  }
  [[nodiscard]] std::uint32_t write_limit() const override { return static_cast<std::uint32_t>(http_->writes_found()); }
  /// A write that gives way to all others, is not retried and may be dropped (Kubernetes events); for leaders only, as above. `done` may be
  /// empty; http_status 0: dropped, or not answered.
  void submit_best_effort(Write write, std::function<void(WriteAnswer)> done = {});
  /// One try at a write that copies make which stand by as well (certificates), whoever has the lease. http_status 0: not answered.
  void write_once(Write write, std::function<void(WriteAnswer)> done);
  /// One try to read an object: `status`, JSON text. Not answered once this is stopped.
  void get(const ResourceType& type, const std::string& namespace_, const std::string& name, std::function<void(HttpAnswer)> done);
  /// The same of what is no object: "/version".
  void get_path(std::string path, std::function<void(HttpAnswer)> done);

  /// One try to post a JSON text to a path of the server, for what is answered and not kept (reviews). Not answered once this is stopped.
  void post_path(std::string path, std::string body, std::chrono::milliseconds time_limit, std::function<void(HttpAnswer)> done);

  /// Starts to mirror a kind. `type` must outlive this. The sink gets `synced` when the first list is complete.
  void watch(const ResourceType& type, WatchSink sink, ReflectorOptions options = {});
  /// Goes on with all kinds whose sink said pause.
  void resume();
  [[nodiscard]] MirrorStore& mirror() { return mirror_; }
  [[nodiscard]] const MirrorStore& mirror() const { return mirror_; }

  /// Takes part in an election; `on_change` says whether we lead. Ends with `resign` or `stop`, which release the lease.
  void elect(LeaseSettings settings, std::function<void(bool)> on_change);
  /// Releases the lease, if we hold it, and waits for that for a moment. Not from a callback.
  void resign();

  /// Ends watches, answers writes with http_status 0, releases the lease. No callback comes after it. Not from a callback.
  void stop();

  [[nodiscard]] KubernetesClusterStatistics statistics();
  [[nodiscard]] const Connection& connection() const { return http_->connection(); }
  [[nodiscard]] Loop& loop() { return loop_; }
  /// For what is not wrapped here. Use it on the loop's thread.
  [[nodiscard]] HttpClient& http() { return *http_; }

 private:
  explicit KubernetesCluster(KubernetesClusterOptions options);
  void send_once(Write write, HttpRequest::Lane lane, bool only_as_leader, std::function<void(WriteAnswer)> done);

  KubernetesClusterOptions options_;
  Loop loop_;
  MirrorStore mirror_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<ObjectWriter> writer_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  std::unique_ptr<LeaderElector> elector_;
  bool stopped_ = false;
  std::size_t best_effort_waiting_ = 0;
  std::uint64_t best_effort_dropped_ = 0;
  std::uint64_t best_effort_failed_ = 0;
};

}  // namespace hindsight::connectors::kubernetes

#include "connectors/kubernetes/kubernetes_cluster.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// How long `resign` waits for the release of the lease; if it does not get through, the others wait for its end.
constexpr auto release_wait_max = std::chrono::seconds(3);

}  // namespace

Result<std::unique_ptr<KubernetesCluster>> KubernetesCluster::connect(const Connection& connection, KubernetesClusterOptions options) {
  if (!options.on_notice) options.on_notice = [](const Notice&) {};
  if (!options.random) options.random = system_random();
  options.http.max_in_flight = options.max_in_flight;
  std::unique_ptr<KubernetesCluster> cluster(new KubernetesCluster(std::move(options)));
  auto http = HttpClient::create(cluster->loop_, connection, cluster->options_.http, cluster->options_.on_notice);
  if (!http) return tl::unexpected(http.error());
  cluster->http_ = *std::move(http);
  cluster->writer_ = std::make_unique<ObjectWriter>(*cluster->http_, cluster->options_.backoff, cluster->options_.random);
  return cluster;
}

KubernetesCluster::KubernetesCluster(KubernetesClusterOptions options) : options_(std::move(options)) {}

KubernetesCluster::~KubernetesCluster() {
  if (http_) stop();
}

void KubernetesCluster::submit(Write write, std::function<void(WriteAnswer)> done) {
  if (loop_.on_thread()) {
    writer_->submit(std::move(write), std::move(done));
    return;
  }
  Loop::Task task = [this, write = std::move(write), done = std::move(done)]() mutable {
    writer_->submit(std::move(write), std::move(done));
  };
  // After the end the writer answers at once that it has stopped.
  if (!loop_.try_post(task)) task();
}

void KubernetesCluster::submit_best_effort(Write write, std::function<void(WriteAnswer)> done) {
  Loop::Task task = [this, write = std::move(write), done = std::move(done)]() mutable {
    if (stopped_ || best_effort_waiting_ >= options_.best_effort_waiting_max) {
      ++best_effort_dropped_;
      if (done) done({});
      return;
    }
    ++best_effort_waiting_;
    send_once(std::move(write), HttpRequest::Lane::background, true, [this, done = std::move(done)](WriteAnswer answer) {
      --best_effort_waiting_;
      if (answer.http_status < 200 || answer.http_status >= 300) ++best_effort_failed_;
      if (done) done(std::move(answer));
    });
  };
  if (!loop_.try_post(task)) task();
}

void KubernetesCluster::write_once(Write write, std::function<void(WriteAnswer)> done) {
  Loop::Task task = [this, write = std::move(write), done = std::move(done)]() mutable {
    if (stopped_) {
      done({});
    } else {
      send_once(std::move(write), HttpRequest::Lane::normal, false, std::move(done));
    }
  };
  if (!loop_.try_post(task)) task();
}

void KubernetesCluster::send_once(Write write, HttpRequest::Lane lane, bool only_as_leader, std::function<void(WriteAnswer)> done) {
  HttpRequest request = request_for(write);
  if (!request.body) request.body = std::make_shared<const std::string>(std::move(write.body));
  request.lane = lane;
  request.only_as_leader = only_as_leader;
  http_->send(std::move(request), [done = std::move(done)](HttpAnswer answer) {
    done({answer.status, std::move(answer.body), answer.retry_after_seconds});
  });
}

void KubernetesCluster::get(const ResourceType& type, const std::string& namespace_, const std::string& name,
                            std::function<void(HttpAnswer)> done) {
  get_path(object_path(type, namespace_, name), std::move(done));
}

void KubernetesCluster::get_path(std::string path, std::function<void(HttpAnswer)> done) {
  loop_.post([this, path = std::move(path), done = std::move(done)]() mutable {
    HttpRequest request;
    request.path = std::move(path);
    http_->send(std::move(request), std::move(done));
  });
}

void KubernetesCluster::post_path(std::string path, std::string body, std::chrono::milliseconds time_limit,
                                  std::function<void(HttpAnswer)> done) {
  loop_.post([this, path = std::move(path), body = std::move(body), time_limit, done = std::move(done)]() mutable {
    HttpRequest request;
    request.method = HttpRequest::Method::post;
    request.content = HttpRequest::Content::json;
    request.path = std::move(path);
    request.body = std::make_shared<const std::string>(std::move(body));
    request.time_limit = time_limit;
    http_->send(std::move(request), std::move(done));
  });
}

void KubernetesCluster::watch(const ResourceType& type, WatchSink sink, ReflectorOptions options) {
  loop_.post([this, &type, sink = std::move(sink), options = std::move(options)]() mutable {
    if (stopped_) return;
    reflectors_.push_back(
        std::make_unique<Reflector>(*http_, mirror_, type, std::move(options), std::move(sink), options_.on_notice, options_.random));
    reflectors_.back()->start();
  });
}

void KubernetesCluster::resume() {
  loop_.post([this] {
    for (const auto& reflector : reflectors_) reflector->resume();
  });
}

void KubernetesCluster::elect(LeaseSettings settings, std::function<void(bool)> on_change) {
  loop_.post([this, settings = std::move(settings), on_change = std::move(on_change)]() mutable {
    if (stopped_) return;
    const auto change = [this, on_change = std::move(on_change)](bool leads) {
      if (!leads) {
        writer_->give_up();
        http_->give_up_as_leader();
      }
      on_change(leads);
    };
    elector_ = std::make_unique<LeaderElector>(*http_, std::move(settings), change, options_.on_notice);
    http_->set_fence([this] { return elector_ && elector_->may_act(); });
    elector_->start();
  });
}

void KubernetesCluster::resign() {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  const auto waiting = std::make_shared<Waiting>();
  loop_.post([this, waiting] {
    const auto done = [waiting] {
      const std::lock_guard lock(waiting->mutex);
      waiting->done = true;
      waiting->changed.notify_one();
    };
    if (elector_ && !stopped_) {
      elector_->resign(done);
    } else {
      done();
    }
  });
  std::unique_lock lock(waiting->mutex);
  waiting->changed.wait_for(lock, release_wait_max, [&] { return waiting->done; });
}

void KubernetesCluster::stop() {
  bool was_stopped = false;
  loop_.run([&] { was_stopped = stopped_; });
  if (!was_stopped) resign();
  loop_.run([this] {
    if (std::exchange(stopped_, true)) return;
    elector_.reset();
    for (const auto& reflector : reflectors_) reflector->stop();
    writer_->stop();
  });
  http_->stop();
  loop_.stop();
}

KubernetesClusterStatistics KubernetesCluster::statistics() {
  KubernetesClusterStatistics out;
  loop_.run([&] {
    out.reachable = http_->is_reachable();
    out.http = http_->statistics();
    out.writer = writer_->statistics();
    out.best_effort_dropped = best_effort_dropped_;
    out.best_effort_failed = best_effort_failed_;
    for (const auto& reflector : reflectors_) {
      out.kinds.push_back(
          {&reflector->type(), reflector->is_synced(), reflector->is_failing(), mirror_.count(reflector->type()), reflector->statistics()});
    }
  });
  return out;
}

}  // namespace hindsight::connectors::kubernetes

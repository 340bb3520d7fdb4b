#include "tests/cli/played_cluster.hpp"

#include <ctime>

namespace hindsight::test {
namespace {

const std::string group = "/apis/kueue.x-k8s.io/v1beta2";

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

Json kueue_object(const std::string& kind, const std::string& name, const char* spec) {
  Json out{{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (spec != nullptr) out["spec"] = Json::parse(spec);
  return out;
}

/// Is the object at `path` one of the collection that a list of `collection` asks for, of all namespaces or of one?
bool belongs(const std::string& path, const std::string& collection) {
  const auto end = path.rfind('/');
  const std::string own = path.substr(0, end);
  if (own == collection) return true;
  const auto namespaces = own.find("/namespaces/");
  if (namespaces == std::string::npos || own.ends_with("/namespaces")) return false;
  const auto behind = own.find('/', namespaces + 12);
  return behind != std::string::npos && own.substr(0, namespaces) + own.substr(behind) == collection;
}

}  // namespace

PlayedCluster::PlayedCluster(int cpu) : server_([this](Exchange& e) { serve(e); }) {
  const std::lock_guard lock(mutex_);
  for (const char* name : {"default", "kube-system"})
    put(std::string("/api/v1/namespaces/") + name, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  put(group + "/resourceflavors/default", kueue_object("ResourceFlavor", "default", "{}"));
  Json queue = kueue_object(
      "ClusterQueue", "cq",
      R"({"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default","resources":[{"name":"cpu"}]}]}]})");
  queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = std::to_string(cpu);
  put(group + "/clusterqueues/cq", queue);
  Json local = kueue_object("LocalQueue", "lq", R"({"clusterQueue":"cq"})");
  local["metadata"]["namespace"] = "default";
  put(group + "/namespaces/default/localqueues/lq", local);
}

PlayedCluster::~PlayedCluster() {
  closing_ = true;
  changed_.notify_all();
  server_.close();
}

std::string PlayedCluster::kubeconfig(const std::string& user) const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + server_.url() +
         "\"}}]\nusers: [{name: u, user: " + user + "}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
}

/// With the lock held: a new object, or a change of one.
void PlayedCluster::put(const std::string& path, Json object) {
  const bool fresh = !objects_.contains(path);
  Json& meta = object["metadata"];
  meta["resourceVersion"] = std::to_string(++version_);
  if (fresh) {
    meta["uid"] = "uid-" + std::to_string(version_);
    meta["generation"] = 1;
    meta["creationTimestamp"] = utc("%Y-%m-%dT%H:%M:%SZ");
  }
  objects_[path] = object;
  changes_.push_back({version_, path, fresh ? "ADDED" : "MODIFIED", std::move(object)});
  changed_.notify_all();
}

void PlayedCluster::add_job(const std::string& name, int cpu) {
  Json job = Json::parse(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"default","labels":{"kueue.x-k8s.io/queue-name":"lq"}},
          "spec":{"suspend":true,"parallelism":1,"completions":1,"template":{"spec":{"restartPolicy":"Never",
          "containers":[{"name":"c","image":"i","resources":{"requests":{}}}]}}},"status":{}})");
  job["metadata"]["name"] = name;
  job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = std::to_string(cpu);
  const std::lock_guard lock(mutex_);
  put("/apis/batch/v1/namespaces/default/jobs/" + name, std::move(job));
}

void PlayedCluster::add_workload(const std::string& name, std::size_t bytes, int cpu) {
  Json w = kueue_object(
      "Workload", name,
      R"({"queueName":"lq","active":true,"priority":0,"podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
          "nodeSelector":{},"containers":[{"name":"c","image":"i","resources":{"requests":{}}}]}}}]})");
  w["metadata"]["namespace"] = "default";
  Json& pod = w["spec"]["podSets"][0]["template"]["spec"];
  pod["containers"][0]["resources"]["requests"]["cpu"] = std::to_string(cpu);
  for (std::size_t i = 0; i * 60 < bytes; ++i) pod["nodeSelector"]["example.com/padding-" + std::to_string(i)] = std::string(40, 'x');
  const std::lock_guard lock(mutex_);
  put(group + "/namespaces/default/workloads/" + name, std::move(w));
}

// ---- what a test asks -------------------------------------------------------------------------------------------------------------------

std::size_t PlayedCluster::starts() const {
  const std::lock_guard lock(mutex_);
  return starts_;
}

bool PlayedCluster::wait_for_starts(std::size_t n, std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return starts_ >= n; });
}

bool PlayedCluster::wait_for_admission(const std::string& workload, std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  const std::string path = group + "/namespaces/default/workloads/" + workload;
  return changed_.wait_for(lock, limit, [&] {
    const auto found = objects_.find(path);
    return found != objects_.end() && found->second.contains("status") && found->second["status"].contains("admission");
  });
}

bool PlayedCluster::has_admission(const std::string& workload) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(group + "/namespaces/default/workloads/" + workload);
  return found != objects_.end() && found->second.contains("status") && found->second["status"].contains("admission");
}

std::vector<Json> PlayedCluster::workloads() const {
  const std::lock_guard lock(mutex_);
  std::vector<Json> out;
  for (const auto& [path, object] : objects_)
    if (path.find("/workloads/") != std::string::npos) out.push_back(object);
  return out;
}

// ---- the server -------------------------------------------------------------------------------------------------------------------------

void PlayedCluster::answer(Exchange& e, int status, const Json& body) const {
  std::vector<std::string> headers;
  if (dates_) headers.push_back("Date: " + utc("%a, %d %b %Y %H:%M:%S GMT"));
  e.answer(status, body.dump(), headers);
}

/// With the lock held. Pods come when it is not suspended, and are never ready.
void PlayedCluster::control_job(Json& job) {
  const bool suspended = job["spec"].value("suspend", false);
  const bool ran = job["status"].contains("startTime");
  if (!suspended && !ran) {
    ++starts_;
    job["status"] = {{"startTime", utc("%Y-%m-%dT%H:%M:%SZ")}, {"active", 1}, {"ready", 0}};
  } else if (suspended && ran) {
    job["status"] = Json::object();
  }
}

void PlayedCluster::watch(Exchange& e) {
  int from = e.query.contains("resourceVersion") ? std::stoi("0" + e.query["resourceVersion"]) : 0;
  e.begin_stream();
  while (!closing_ && e.is_open()) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return closing_ || version_ > from; });
      for (const Change& change : changes_)
        if (change.version > from && belongs(change.path, e.path))
          text += Json{{"type", change.type}, {"object", change.object}}.dump() + "\n";
      from = version_;
    }
    if (!e.send(text)) return;
  }
  if (e.is_open()) e.cut();
}

void PlayedCluster::serve(Exchange& e) {
  if (e.method == "GET" && e.query.contains("watch")) return watch(e);
  const std::lock_guard lock(mutex_);
  if (e.method == "POST") {
    Json body = Json::parse(e.body, nullptr, false);
    if (!body.is_object()) return answer(e, 400, Json::object());
    const std::string path = e.path + "/" + body["metadata"].value("name", "generated-" + std::to_string(version_));
    if (e.path.ends_with("/events")) return answer(e, 201, body);
    if (objects_.contains(path)) return answer(e, 409, {{"kind", "Status"}, {"reason", "AlreadyExists"}, {"code", 409}});
    put(path, std::move(body));
    return answer(e, 201, objects_[path]);
  }
  const std::string path = e.path.ends_with("/status") ? e.path.substr(0, e.path.size() - 7) : e.path;
  const auto known = objects_.find(path);
  if (e.method == "PATCH") {
    if (known == objects_.end()) return answer(e, 404, {{"kind", "Status"}, {"reason", "NotFound"}, {"code", 404}});
    Json patch = Json::parse(e.body, nullptr, false);
    const Json& meta = patch["metadata"];
    if (meta.is_object() && meta.contains("resourceVersion") && meta["resourceVersion"] != known->second["metadata"]["resourceVersion"])
      return answer(e, 409, {{"kind", "Status"}, {"reason", "Conflict"}, {"code", 409}});
    Json next = known->second;
    next.merge_patch(patch);
    if (path.find("/jobs/") != std::string::npos) control_job(next);
    put(path, std::move(next));
    return answer(e, 200, objects_[path]);
  }
  if (known != objects_.end()) return answer(e, 200, known->second);
  if (e.path.find("/leases/") != std::string::npos) return answer(e, 404, {{"kind", "Status"}, {"reason", "NotFound"}, {"code", 404}});
  Json items = Json::array();
  for (const auto& [where, object] : objects_)
    if (belongs(where, e.path)) items.push_back(object);
  answer(e, 200, {{"kind", "List"}, {"apiVersion", "v1"}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}});
}

}  // namespace hindsight::test

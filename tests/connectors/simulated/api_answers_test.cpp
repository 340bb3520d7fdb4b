#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/simulated/simulated_cluster.hpp"

namespace hindsight::connectors::simulated {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Runs the requests of one case and writes down the answers as record_api_answers.py does for a real API server.
class CaseRun {
 public:
  CaseRun() { cluster_.create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}}); }

  Json run(const Json& request) {
    const auto& [verb, what] = *request.get_ref<const Json::object_t&>().begin();
    Reply reply;
    Target target;
    if (verb == "create") {
      target = target_of(what["kind"], what.value("metadata", Json::object()));
      Json object = what;
      if (manifests::kind_of(target.kind).type->namespaced) object["metadata"]["namespace"] = target.namespace_;
      reply = cluster_.create(std::move(object));
    } else {
      target = target_of(what["kind"], what);
    }
    if (verb == "patch") {
      const Part part = what.value("status", false) ? Part::status : Part::main;
      reply = cluster_.merge_patch(target.kind, target.namespace_, target.name, part, known(what["merge"], target));
    }
    if (verb == "delete") {
      const Json options = known(what.value("options", Json::object()), target);
      DeleteOptions out;
      out.uid = text(member(options, "preconditions"), "uid");
      out.resource_version = text(member(options, "preconditions"), "resourceVersion");
      if (text(options, "propagationPolicy") == "Background") out.propagation = Propagation::background;
      reply = cluster_.remove(target.kind, target.namespace_, target.name, out);
    }
    last_body_ = reply.body();
    Json answer = state(target);
    answer["status"] = reply.http_status;
    return answer;
  }

  [[nodiscard]] const std::string& last_body() const { return last_body_; }

 private:
  struct Target {
    std::string kind, namespace_, name;
    friend auto operator<=>(const Target&, const Target&) = default;
  };

  static Target target_of(const std::string& kind, const Json& names) {
    return {kind, names.value("namespace", "default"), names.value("name", "")};
  }

  /// VERSION and UID in a body stand for those of the target.
  Json known(const Json& body, const Target& target) {
    const auto object = cluster_.find(target.kind, target.namespace_, target.name);
    std::string out = body.dump();
    replace(out, "VERSION", object ? std::string(text(object->metadata(), "resourceVersion")) : "");
    replace(out, "UID", object ? object->uid : "");
    return Json::parse(out);
  }

  static void replace(std::string& in, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = in.find(what, at)) != std::string::npos; at += by.size()) in.replace(at, what.size(), by);
  }

  Json state(const Target& target) {
    const auto object = target.name.empty() ? nullptr : cluster_.find(target.kind, target.namespace_, target.name);
    if (!object) return {{"object", nullptr}, {"changed", versions_.erase(target) > 0}};
    Json copy = object->object;
    Json& metadata = copy["metadata"];
    const std::string version = metadata["resourceVersion"];
    metadata.erase("resourceVersion");
    const bool changed = !versions_.contains(target) || versions_[target] != version;
    versions_[target] = version;
    uids_.try_emplace(metadata["uid"], "uid-" + std::to_string(uids_.size() + 1));
    for (const char* name : {"creationTimestamp", "deletionTimestamp"})
      if (metadata.contains(name)) metadata[name] = "T";
    std::string out = copy.dump();
    for (const auto& [uid, name] : uids_) replace(out, uid, name);
    return {{"object", Json::parse(out)}, {"changed", changed}};
  }

  SimulatedCluster cluster_;
  std::map<std::string, std::string> uids_;
  std::map<Target, std::string> versions_;
  std::string last_body_;
};

// BA-3, BA-12, BA-15, BA-19, BA-20: answers recorded from kube-apiserver 1.36.3 with Kueue's definitions.
TEST(SimulatedApi, answers_as_the_real_api_server_did) {
  const auto documents = manifests::read_yaml(contents("tests/connectors/simulated/api_requests.yaml"));
  ASSERT_TRUE(documents) << documents.error().message;
  const Json& cases = documents->at(0).value["cases"];
  const Json recorded = Json::parse(contents("tests/connectors/simulated/api_answers.json"));
  ASSERT_EQ(cases.size(), recorded.size());
  std::size_t requests = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(cases[i]["case"], recorded[i]["case"]);
    CaseRun run;
    for (std::size_t j = 0; j < cases[i]["requests"].size(); ++j, ++requests) {
      const Json answer = run.run(cases[i]["requests"][j]);
      EXPECT_EQ(answer, recorded[i]["answers"][j]) << cases[i]["case"] << ", request " << j << "\n"
                                                   << cases[i]["requests"][j].dump() << "\n"
                                                   << run.last_body() << "\n"
                                                   << Json::diff(recorded[i]["answers"][j], answer).dump();
    }
  }
  EXPECT_GT(requests, 300U);
}

}  // namespace
}  // namespace hindsight::connectors::simulated

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "doctor/cluster_reader.hpp"
#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor::test {

/// A cluster of answers: by path without its query. What is not there is not found.
class FakeCluster final : public ClusterReader {
 public:
  std::map<std::string, Json> objects;
  std::set<std::string> denied;                        ///< Paths.
  std::function<bool(const Json& attributes)> allows;  ///< Of reviews of rights; empty: everything.
  std::string user = "admin";
  std::optional<ClockSample> sample;
  std::optional<Json> everything;  ///< The answer to whatever is asked.
  std::vector<std::string> asked, reviewed;

  void put(const std::string& path, Json object) { objects[path] = std::move(object); }
  void put_list(const std::string& path, std::vector<Json> items) { objects[path] = {{"items", std::move(items)}}; }

  void set_deadline(Clock::time_point) override {}
  [[nodiscard]] std::string server() const override { return "https://fake"; }
  [[nodiscard]] std::optional<ClockSample> clock() const override { return sample; }
  [[nodiscard]] Result<Json> get(const std::string& path) override {
    asked.push_back(path);
    if (everything) return *everything;
    const std::string plain = path.substr(0, path.find('?'));
    if (denied.contains(plain)) return fail(ErrorKind::denied, "the API server says Forbidden: " + plain);
    const auto it = objects.find(plain);
    if (it == objects.end()) return fail(ErrorKind::not_found, "the API server says NotFound: " + plain);
    return it->second;
  }
  [[nodiscard]] std::vector<Result<Json>> review(const std::string& path, const std::vector<Json>& reviews) override {
    std::vector<Result<Json>> out;
    for (const auto& one : reviews) {
      reviewed.push_back(path);
      if (everything) {
        out.emplace_back(*everything);
      } else if (denied.contains(path)) {
        out.emplace_back(fail(ErrorKind::denied, "the API server says Forbidden: " + path));
      } else if (path.ends_with("selfsubjectreviews")) {
        out.emplace_back(Json{{"status", {{"userInfo", {{"username", user}, {"groups", Json::array({"system:authenticated"})}}}}}});
      } else {
        out.emplace_back(Json{{"status", {{"allowed", !allows || allows(one["spec"]["resourceAttributes"])}}}});
      }
    }
    return out;
  }
};

inline std::string text_of(const Outcome& outcome) {
  std::string out = "summary: " + outcome.summary + "\n";
  for (const auto& one : outcome.findings)
    out += std::to_string(static_cast<int>(one.severity)) + " " + one.object + " | " + one.found + " | " + one.allowed + " | " +
           one.advice + " | " + one.command + "\n";
  return out;
}

/// The only finding of this severity whose object or text has this part; it says all that a finding has to say.
inline Finding finding_with(const Outcome& outcome, Severity severity, const std::string& part) {
  Finding found;
  std::size_t hits = 0;
  for (const auto& one : outcome.findings) {
    EXPECT_FALSE(one.object.empty() || one.found.empty() || one.allowed.empty() || one.advice.empty() || one.command.empty())
        << text_of(outcome);
    if (one.severity != severity || (one.object + " " + one.found).find(part) == std::string::npos) continue;
    found = one;
    ++hits;
  }
  EXPECT_EQ(hits, 1U) << part << "\n" << text_of(outcome);
  return found;
}

inline std::size_t count_of(const Outcome& outcome, Severity severity) {
  std::size_t out = 0;
  for (const auto& one : outcome.findings) out += one.severity == severity ? 1U : 0U;
  return out;
}

inline void expect_well(const Outcome& outcome) {
  EXPECT_EQ(outcome.standing, Standing::looked) << text_of(outcome);
  EXPECT_TRUE(outcome.findings.empty()) << text_of(outcome);
  EXPECT_FALSE(outcome.summary.empty());
}

inline Context context_of(FakeCluster& cluster) {
  Context out;
  out.cluster = &cluster;
  return out;
}

/// A Deployment as deploy/ has it, with these arguments more.
inline Json deployment_with(const std::vector<std::string>& more, const std::string& namespace_ = "hindsight-system") {
  std::vector<std::string> arguments{"run", "--config=/etc/hindsight/config.yaml", "--log=sqlite:/var/lib/hindsight/log.db"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return {{"metadata", {{"name", "hindsight"}, {"namespace", namespace_}, {"labels", {{"app.kubernetes.io/name", "hindsight"}}}}},
          {"spec",
           {{"replicas", 1},
            {"selector", {{"matchLabels", {{"app.kubernetes.io/name", "hindsight"}}}}},
            {"template",
             {{"spec",
               {{"serviceAccountName", "hindsight"},
                {"containers", Json::array({{{"name", "hindsight"},
                                             {"args", arguments},
                                             {"resources", {{"limits", {{"memory", "2Gi"}}}}},
                                             {"volumeMounts", Json::array({{{"name", "config"}, {"mountPath", "/etc/hindsight"}}})}}})},
                {"volumes", Json::array({{{"name", "config"}, {"configMap", {{"name", "hindsight-config"}}}},
                                         {{"name", "log"}, {"persistentVolumeClaim", {{"claimName", "hindsight-log"}}}}})}}}}}}}};
}

}  // namespace hindsight::doctor::test

// Equal templates have equal hashes whatever the server added; changed ones differ, in the hashes that the change concerns.

#include "connectors/json/template_hash.hpp"

#include <gtest/gtest.h>

#include <string>

#include "connectors/json/document.hpp"

namespace hindsight::connectors {
namespace {

TemplateHashes hashes(std::string_view json) {
  const auto document = Document::parse(json);
  EXPECT_TRUE(document) << json;
  return document ? hash_template(document->root()) : TemplateHashes{};
}

constexpr std::string_view plain = R"({
  "metadata":{"labels":{"app":"a"},"annotations":{"note":"n"}},
  "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"example.com/i:1","args":["10s"],
    "resources":{"requests":{"cpu":"1","memory":"1Gi"}},"ports":[{"containerPort":80}],
    "env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
    "livenessProbe":{"httpGet":{"port":80}}}],
  "volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"m"}}],
  "nodeSelector":{"zone":"z"},"tolerations":[{"key":"k","operator":"Exists"}]}})";

TEST(TemplateHash, ForgetsWhatTheServerAddsByDefault) {
  constexpr std::string_view defaulted = R"({
    "spec":{"tolerations":[{"operator":"Exists","key":"k"}],"terminationGracePeriodSeconds":30,"schedulerName":"default-scheduler",
      "dnsPolicy":"ClusterFirst","securityContext":{},"serviceAccount":"","nodeSelector":{"zone":"z"},
      "volumes":[{"emptyDir":{},"name":"v"},{"name":"w","configMap":{"name":"m","defaultMode":420}}],
      "containers":[{"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",
        "ports":[{"protocol":"TCP","containerPort":80}],"image":"example.com/i:1","args":["10s"],"name":"c",
        "env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],
        "resources":{"limits":{},"requests":{"memory":"1024Mi","cpu":"1000m"}},
        "livenessProbe":{"failureThreshold":3,"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1,
          "httpGet":{"path":"/","scheme":"HTTP","port":80}}}],
      "initContainers":[],"restartPolicy":"Never"},
    "metadata":{"creationTimestamp":null,"annotations":{"note":"n"},
      "labels":{"app":"a","controller-uid":"u","job-name":"j","batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j"}}})";
  const auto a = hashes(plain);
  const auto b = hashes(defaulted);
  EXPECT_EQ(a.whole, b.whole);
  EXPECT_EQ(a.core, b.core);
  EXPECT_EQ(a.shape, b.shape);
}

// BA-56: with what the entities add to it (requeue_rules_test)
TEST(TemplateHash, ChangesExactlyWhereAFieldBelongs) {
  struct Case {
    std::string_view what, from, to;
    bool whole, core, shape;
  };
  const Case cases[] = {
      {"image", "example.com/i:1", "example.com/i:2", true, true, false},
      {"request", R"("cpu":"1")", R"("cpu":"2")", true, true, true},
      {"port", R"("containerPort":80)", R"("containerPort":81)", true, true, true},
      {"argument", R"("10s")", R"("11s")", true, true, false},
      {"environment", R"("value":"1")", R"("value":"2")", true, true, false},
      {"container name", R"("name":"c","image")", R"("name":"d","image")", true, true, false},
      {"label", R"("app":"a")", R"("app":"b")", true, false, false},
      {"label of its own", R"("app":"a")", R"("app":"a","x":"")", true, false, false},
      {"annotation", R"("note":"n")", R"("note":"m")", true, false, false},
      {"node selector", R"("zone":"z")", R"("zone":"y")", true, false, true},
      {"toleration", R"("key":"k")", R"("key":"l")", true, false, true},
      {"scheduling gate", R"("nodeSelector")", R"("schedulingGates":[{"name":"g"}],"nodeSelector")", true, false, false},
      {"affinity", R"("nodeSelector")", R"("affinity":{"nodeAffinity":{"x":[1]}},"nodeSelector")", true, true, true},
      {"priority class", R"("nodeSelector")", R"("priorityClassName":"p","nodeSelector")", true, true, false},
      {"runtime class", R"("nodeSelector")", R"("runtimeClassName":"p","nodeSelector")", true, true, true},
      {"priority", R"("nodeSelector")", R"("priority":5,"nodeSelector")", true, true, true},
      {"spread constraints", R"("nodeSelector")", R"("topologySpreadConstraints":[{"maxSkew":1}],"nodeSelector")", true, true, true},
      {"resource claims", R"("nodeSelector")", R"("resourceClaims":[{"name":"r"}],"nodeSelector")", true, true, true},
      {"overhead", R"("nodeSelector")", R"("overhead":{"cpu":"1"},"nodeSelector")", true, true, true},
      {"pod-level resources", R"("nodeSelector")", R"("resources":{"requests":{"cpu":"1"}},"nodeSelector")", true, true, true},
      {"restart policy", R"("restartPolicy":"Never")", R"("restartPolicy":"OnFailure")", true, true, false},
      {"volume", R"("name":"m")", R"("name":"o")", true, true, false},
      {"probe", R"("port":80}}})", R"("port":80},"periodSeconds":5}})", true, true, false},
      {"limit", R"("requests":{"cpu":"1")", R"("limits":{"gpu":"1"},"requests":{"cpu":"1")", true, true, false},
      {"explicit pull policy", R"("args")", R"("imagePullPolicy":"Always","args")", true, true, false},
  };
  const auto before = hashes(plain);
  for (const auto& c : cases) {
    std::string text(plain);
    const auto at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.what;
    text.replace(at, c.from.size(), c.to);
    const auto after = hashes(text);
    EXPECT_EQ(after.whole != before.whole, c.whole) << c.what;
    EXPECT_EQ(after.core != before.core, c.core) << c.what;
    EXPECT_EQ(after.shape != before.shape, c.shape) << c.what;
  }
}

// BA-56: requests and ports of init containers are part of the shape as those of containers are, and so is that there are some
TEST(TemplateHash, CountsInitContainersAsContainers) {
  const auto with = [](std::string_view init) {
    return hashes(R"({"spec":{"containers":[{"name":"c","image":"i:1"}])" + std::string(init) + "}}");
  };
  constexpr std::string_view one = R"(,"initContainers":[{"name":"a","image":"i:1","resources":{"requests":{"cpu":"1"}}}])";
  struct Case {
    std::string_view what, init;
    bool shape;
  };
  const Case cases[] = {
      {"none", "", true},
      {"request", R"(,"initContainers":[{"name":"a","image":"i:1","resources":{"requests":{"cpu":"2"}}}])", true},
      {"resource", R"(,"initContainers":[{"name":"a","image":"i:1","resources":{"requests":{"memory":"1"}}}])", true},
      {"port", R"(,"initContainers":[{"name":"a","image":"i:1","ports":[{"containerPort":1}],"resources":{"requests":{"cpu":"1"}}}])",
       true},
      {"another one", R"(,"initContainers":[{"name":"a","image":"i:1","resources":{"requests":{"cpu":"1"}}},{"name":"b","image":"i:1"}])",
       true},
      {"image", R"(,"initContainers":[{"name":"a","image":"i:2","resources":{"requests":{"cpu":"1"}}}])", false},
  };
  for (const auto& c : cases) {
    EXPECT_NE(with(c.init).whole, with(one).whole) << c.what;
    EXPECT_NE(with(c.init).core, with(one).core) << c.what;
    EXPECT_EQ(with(c.init).shape != with(one).shape, c.shape) << c.what;
  }
  EXPECT_NE(hashes(R"({"spec":{"initContainers":[{"resources":{"requests":{"cpu":"1"}}}]}})").shape,
            hashes(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})").shape)
      << "one is not the other";
}

TEST(TemplateHash, KnowsTheDefaultPullPolicyOfAnImage) {
  const auto with = [](std::string_view image, std::string_view policy) {
    return hashes(R"({"spec":{"containers":[{"image":")" + std::string(image) + R"(")" +
                  (policy.empty() ? "" : R"(,"imagePullPolicy":")" + std::string(policy) + "\"") + "}]}}")
        .whole;
  };
  for (const auto* image : {"busybox", "busybox:latest", "host:5000/busybox"}) {
    EXPECT_EQ(with(image, ""), with(image, "Always")) << image;
    EXPECT_NE(with(image, ""), with(image, "IfNotPresent")) << image;
  }
  for (const auto* image : {"busybox:1", "host:5000/busybox:1", "busybox@sha256:00"}) {
    EXPECT_EQ(with(image, ""), with(image, "IfNotPresent")) << image;
    EXPECT_NE(with(image, ""), with(image, "Always")) << image;
  }
}

TEST(TemplateHash, CountsOnlyTheLastOfVariablesWithOneName) {
  const auto with = [](std::string_view env) { return hashes(R"({"spec":{"containers":[{"env":[)" + std::string(env) + "]}]}}").whole; };
  EXPECT_EQ(with(R"({"name":"A","value":"2"},{"name":"B","value":"3"})"),
            with(R"({"name":"A","value":"1"},{"name":"B","value":"3"},{"name":"A","value":"2"})"));
  EXPECT_NE(with(R"({"name":"A","value":"2"},{"name":"B","value":"3"})"), with(R"({"name":"B","value":"3"},{"name":"A","value":"2"})"));
  // Beyond the length up to which variables are searched one by one.
  std::string many;
  std::string doubled;
  for (int i = 0; i < 40; ++i) {
    const auto name = R"({"name":"V)" + std::to_string(i) + R"(","value":)";
    many += (i == 0 ? "" : ",") + name + R"("new"})";
    doubled += (i == 0 ? "" : ",") + name + R"("old"})";
  }
  for (int i = 0; i < 40; ++i) doubled += R"(,{"name":"V)" + std::to_string(i) + R"(","value":"new"})";
  EXPECT_EQ(with(many), with(doubled));
  EXPECT_NE(with(many), with(many + R"(,{"name":"V40","value":"new"})"));
}

TEST(TemplateHash, KeepsTheOrderOfLists) {
  EXPECT_NE(hashes(R"({"spec":{"containers":[{"args":["a","b"]}]}})").whole,
            hashes(R"({"spec":{"containers":[{"args":["b","a"]}]}})").whole);
  EXPECT_NE(hashes(R"({"spec":{"containers":[{"args":["","b"]}]}})").whole, hashes(R"({"spec":{"containers":[{"args":["b"]}]}})").whole);
}

TEST(TemplateHash, TellsASidecarFromAnInitStep) {
  EXPECT_NE(hashes(R"({"spec":{"initContainers":[{"name":"i","restartPolicy":"Always"}]}})").whole,
            hashes(R"({"spec":{"initContainers":[{"name":"i"}]}})").whole);
  EXPECT_EQ(hashes(R"({"spec":{"restartPolicy":"Always"}})").whole, hashes(R"({"spec":{}})").whole);
}

TEST(TemplateHash, IsTheSameInEveryRelease) {
  // The log holds these values: a change of the function makes old jobs look changed once.
  const auto h = hashes(plain);
  EXPECT_EQ(h.whole, 3266324031322909412ULL);
  EXPECT_EQ(h.core, 16298707357915701734ULL);
  EXPECT_EQ(h.shape, 3588394222676708119ULL);
}

}  // namespace
}  // namespace hindsight::connectors

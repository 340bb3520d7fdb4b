#include "tests/runtime/exercise_webhooks.hpp"

#include <memory>
#include <stdexcept>

#include "operations/logging.hpp"
#include "runtime/webhook_service.hpp"
#include "tests/connectors/webhooks/asking.hpp"
#include "tests/connectors/webhooks/random_objects.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::test {
namespace {

namespace w = connectors::webhooks;
using connectors::manifests::Json;

struct Served {
  w::test::Around around;
  std::vector<std::string> paths;
  std::unique_ptr<operations::HttpServer> server;
};

Served& served() {
  static Served instance = [] {
    Served out;
    operations::set_up_logging({.level = operations::LogLevel::off});
    return out;
  }();
  if (instance.server) return instance;
  for (const auto& kind : w::reviewed_kinds()) {
    instance.paths.push_back(kind.mutating_path);
    if (!kind.validating_path.empty()) instance.paths.push_back(kind.validating_path);
  }
  instance.paths.emplace_back(w::conversion_path);
  auto started = operations::HttpServer::start(runtime::webhook_server_options({}, nullptr), runtime::webhook_routes(instance.around));
  if (!started) throw std::logic_error(started.error().message);
  instance.server = std::move(*started);
  return instance;
}

/// Texts at and beyond what anything takes, and such that are cut in the middle of a character by whoever counts bytes.
std::string long_text(std::size_t n) {
  static const std::string han = "\xe4\xb8\xad";
  switch (n % 6) {
    case 0:
      return std::string(64, 'a');
    case 1:
      return std::string(254, 'b');
    case 2:
      return std::string(1, 'c') + [] {
        std::string out;
        for (int i = 0; i < 11'000; ++i) out += han;
        return out;
      }();
    case 3:
      return std::string(32'769, 'd');
    case 4:
      return std::string(300'000, 'e');
    default:
      return std::string("\x01\x1b[31m\x7f\"\\\n", 9) + han;
  }
}

/// Some text or number of it becomes another one.
void stretch(Json& value, w::test::RandomObjects& random, int depth) {
  if (value.is_structured() && !value.empty() && depth < 12) {
    auto it = value.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(random.below(value.size())));
    return stretch(*it, random, depth + 1);
  }
  switch (random.below(6)) {
    case 0:
      value = std::numeric_limits<std::int64_t>::min();
      break;
    case 1:
      value = std::numeric_limits<std::uint64_t>::max();
      break;
    case 2:
      value = Json::array({value, Json::object(), nullptr});
      break;
    default:
      value = long_text(random.below(60));
  }
}

}  // namespace

void exercise_webhooks(std::string_view bytes) {
  if (bytes.empty()) return;
  const Served& webhooks = served();
  const std::string& path = webhooks.paths[static_cast<unsigned char>(bytes.front()) % webhooks.paths.size()];
  const auto answer = operations::request(webhooks.server->address().port, "POST", path, bytes.substr(1));
  if (bytes.size() > 1 && answer.status != 200 && answer.status != 400 && answer.status != 413)
    throw std::logic_error(path + ": status " + std::to_string(answer.status) + ": " + answer.body.substr(0, 300));
  if (answer.status == 200 && !Json::parse(answer.body).contains("response"))
    throw std::logic_error(path + ": found no verdict: " + answer.body.substr(0, 300));
}

std::vector<std::string> review_corpus() {
  std::vector<std::string> out;
  const Served& webhooks = served();
  const auto add = [&](const std::string& path, const Json& review) {
    for (std::size_t i = 0; i < webhooks.paths.size(); ++i)
      if (webhooks.paths[i] == path) out.push_back(static_cast<char>(i) + review.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  w::test::RandomObjects random(14);
  for (int round = 0; round < 12; ++round)
    for (const auto& kind : w::reviewed_kinds()) {
      Json object = random.object_of(*kind.kind), before = random.object_of(*kind.kind);
      for (int i = 0; i < round; ++i) stretch(random.below(2) == 0 ? object : before, random, 0);
      if (!object.is_object() || !before.is_object()) continue;
      object["apiVersion"] = kind.kind->api_version();
      object["kind"] = kind.kind->type->kind;
      const bool update = random.below(2) == 0;
      const Json review = w::test::review(update ? "UPDATE" : "CREATE", object, update ? before : Json());
      add(kind.mutating_path, review);
      if (!kind.validating_path.empty()) add(kind.validating_path, review);
      const Json request = {{"uid", "u"},
                            {"desiredAPIVersion", random.below(2) == 0 ? "kueue.x-k8s.io/v1beta1" : "kueue.x-k8s.io/v1beta2"},
                            {"objects", Json::array({object, before})}};
      add(std::string(w::conversion_path), {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "ConversionReview"}, {"request", request}});
    }
  return out;
}

}  // namespace hindsight::test

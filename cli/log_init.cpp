#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/log_options.hpp"
#include "cli/output.hpp"
#include "events/kafka/topics.hpp"
#include "runtime/log_location.hpp"

namespace hindsight::cli {
namespace {

using runtime::is_kafka;
using runtime::kafka_settings;

struct InitOptions {
  std::string log, log_config, format;
};

Result<int> init(const Session& session, const InitOptions& o) {
  if (!is_kafka(o.log)) return fail(ErrorKind::invalid, "--log: found " + o.log + "; allowed: a log on Kafka; a file needs no preparation");
  const auto location = events::kafka::parse_location(o.log);
  if (!location) return fail(location.error().kind, "--log: " + location.error().message);
  const auto settings = kafka_settings({.kafka_config = o.log_config});
  if (!settings) return tl::unexpected(settings.error());
  const auto topics = events::kafka::make_topics({*location, *settings});
  if (!topics) return tl::unexpected(topics.error());
  if (o.format == "text") {
    for (const auto& topic : *topics) {
      session.out << "topic " << topic.facts.name << ": " << (topic.made ? "made" : "is there and fits") << ", " << topic.facts.partitions
                  << (topic.facts.partitions == 1 ? " partition, " : " partitions, ") << topic.facts.replicas
                  << (topic.facts.replicas == 1 ? " replica\n" : " replicas\n");
    }
    return exit_ok;
  }
  Json list = Json::array();
  for (const auto& topic : *topics) {
    list.push_back(
        {{"topic", topic.facts.name}, {"made", topic.made}, {"partitions", topic.facts.partitions}, {"replicas", topic.facts.replicas}});
  }
  print_document(session, Json{{"log", location->text()}, {"topics", std::move(list)}}, o.format);
  return exit_ok;
}

}  // namespace

void add_log_init(CLI::App& log, Session& session) {
  const auto o = std::make_shared<InitOptions>();
  auto* c = add_command(log, session, "init", "Make the topics of a log on Kafka, or check those that are there",
                        "  hindsight log init --log kafka:127.0.0.1:9092\n"
                        "  hindsight log init --log kafka:a:9093,b:9093/team-x --log-config kafka.properties",
                        [o, &session] { return init(session, *o); });
  add_output(*c, o->format, {"text", "json", "yaml"});
  c->add_option("--log", o->log, log_help)->required()->envname("HINDSIGHT_LOG")->type_name("LOG");
  add_log_config(*c, o->log_config);
}

}  // namespace hindsight::cli

#include "page/server/openapi.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace hindsight::page {
namespace {

/// What several routes say of a parameter in the same words; others are explained where the shapes are (docs/api.md).
std::string meaning_of(const std::string& name) {
  if (name == "at") return "Position: the state after this record, or \"latest\"";
  if (name == "domain") return "Admission domain; needed if the log has several";
  if (name == "branch") return "Look at this branch instead of what was";
  if (name == "limit") return "How many at most";
  if (name == "offset") return "How many of the first to leave out";
  if (name == "tz") return "UTC, or how far the zone is ahead of it, as +02:00";
  return {};
}

Json error_response(const char* what) {
  return {{"description", what}, {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
}

Json parameter(const std::string& name, const char* in) {
  Json out{{"name", name}, {"in", in}, {"required", std::string_view(in) == "path"}, {"schema", {{"type", "string"}}}};
  if (const auto meaning = meaning_of(name); !meaning.empty()) out["description"] = meaning;
  return out;
}

std::string operation_id(const ApiEntry& entry) {
  std::string out;
  for (const char c : entry.method) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const auto& segment : entry.segments) {
    out += '_';
    for (const char c : segment)
      if (c != '{' && c != '}') out += c;
  }
  return out;
}

Json operation(const ApiEntry& entry) {
  Json parameters = Json::array();
  for (const auto& segment : entry.segments)
    if (segment.front() == '{') parameters.push_back(parameter(segment.substr(1, segment.size() - 2), "path"));
  for (const auto& name : entry.parameters) parameters.push_back(parameter(name, "query"));
  if (entry.method != "GET")
    parameters.push_back({{"name", "X-Hindsight-Page"}, {"in", "header"}, {"required", true}, {"schema", {{"const", "1"}}}});
  Json out{{"operationId", operation_id(entry)}, {"summary", entry.summary}, {"parameters", std::move(parameters)}};
  if (entry.method == "POST")
    out["requestBody"] = {{"required", true}, {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}};
  Json responses{{"200", {{"description", "The answer"}, {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}}}};
  responses["400"] = error_response("A parameter is not what is allowed");
  responses["401"] = error_response("Nobody known asks");
  if (entry.only_for_all) responses["403"] = error_response("Only for who may get Workloads in all namespaces");
  responses["404"] = error_response("There is no such object at this moment, or no such moment");
  responses["503"] = error_response("Not now; Retry-After says when");
  out["responses"] = std::move(responses);
  return out;
}

Json live_operation() {
  return {{"operationId", "get_live"},
          {"summary", "Server-sent events: latest (the end of the log), index (how far the timeline is read), branch, trouble"},
          {"responses", {{"200", {{"description", "A stream that does not end"}, {"content", {{"text/event-stream", Json::object()}}}}}}}};
}

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

}  // namespace

Json openapi(const ApiTable& table, const std::string& release) {
  Json paths = Json::object();
  for (const auto& entry : table.entries()) {
    std::string method = entry.method;
    std::transform(method.begin(), method.end(), method.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    paths["/" + entry.path][method] = operation(entry);
  }
  paths["/live"]["get"] = live_operation();
  const Json error{
      {"type", "object"},
      {"properties",
       {{"error",
         {{"type", "object"},
          {"properties", {{"status", {{"type", "integer"}}}, {"message", {{"type", "string"}}}, {"remedy", {{"type", "string"}}}}}}}}}};
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "Hindsight"},
            {"version", release},
            {"description", "What the page shows, as JSON. The shapes of the answers are in docs/api.md."}}},
          {"servers", Json::array({{{"url", "/api/v1"}}})},
          {"paths", std::move(paths)},
          {"components", {{"schemas", {{"Error", error}}}, {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

std::string api_reference(const ApiTable& table) {
  std::string out = "| request | what | query |\n|---|---|---|\n";
  for (const auto& entry : table.entries()) {
    std::string query;
    for (const auto& name : entry.parameters) query += (query.empty() ? "`" : ", `") + name + "`";
    out += "| `" + entry.method + " " + in_cell(entry.path) + "` | " + in_cell(entry.summary) +
           (entry.only_for_all ? "; only for who sees all" : "") + " | " + query + " |\n";
  }
  return out;
}

}  // namespace hindsight::page

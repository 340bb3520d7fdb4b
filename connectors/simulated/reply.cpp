#include "connectors/simulated/reply.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::connectors::simulated {
namespace {

std::string plural_of(const Kind& kind) {
  std::string text(kind.type->plural);
  if (!kind.type->group.empty()) text.append(".").append(kind.type->group);
  return text;
}

Reply about(const Kind& kind, std::string_view name, int http_status, std::string reason, std::string message) {
  Reply reply = refusal(http_status, std::move(reason), std::move(message));
  reply.kind = kind.type->plural;
  reply.group = kind.type->group;
  reply.name = name;
  return reply;
}

const char* reason_of(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::unknown_field:
    case ProblemKind::invalid:
      return "FieldValueInvalid";
    case ProblemKind::type:
      return "FieldValueTypeInvalid";
    case ProblemKind::required:
      return "FieldValueRequired";
    case ProblemKind::not_supported:
      return "FieldValueNotSupported";
    case ProblemKind::too_long:
      return "FieldValueTooLong";
    case ProblemKind::too_many:
      return "FieldValueTooMany";
    case ProblemKind::duplicate:
      return "FieldValueDuplicate";
    case ProblemKind::forbidden:
      return "FieldValueForbidden";
    case ProblemKind::not_found:
      return "FieldValueNotFound";
  }
  return "FieldValueInvalid";
}

}  // namespace

std::string Reply::body() const {
  if (accepted() && object) return *object;
  Json status = {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"code", http_status}};
  status["status"] = accepted() ? "Success" : "Failure";
  if (!message.empty()) status["message"] = message;
  if (!reason.empty()) status["reason"] = reason;
  if (!name.empty() || !kind.empty()) {
    Json details = {{"name", name}, {"kind", kind}};
    if (!group.empty()) details["group"] = group;
    for (const auto& cause : causes) {
      std::string text = describe(cause);
      if (const auto prefix = cause.field + ": "; text.starts_with(prefix)) text.erase(0, prefix.size());
      details["causes"].push_back({{"reason", reason_of(cause.kind)}, {"message", std::move(text)}, {"field", cause.field}});
    }
    status["details"] = std::move(details);
  }
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reply refusal(int http_status, std::string reason, std::string message) {
  Reply reply;
  reply.http_status = http_status;
  reply.reason = std::move(reason);
  reply.message = std::move(message);
  return reply;
}

Reply bad_request(const Kind& kind, std::string_view name, std::string message) {
  return about(kind, name, 400, "BadRequest", std::move(message));
}

Reply not_found(const Kind& kind, std::string_view name) {
  return about(kind, name, 404, "NotFound", plural_of(kind) + " \"" + std::string(name) + "\" not found");
}

Reply already_exists(const Kind& kind, std::string_view name) {
  return about(kind, name, 409, "AlreadyExists", plural_of(kind) + " \"" + std::string(name) + "\" already exists");
}

Reply conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 409, "Conflict",
               "Operation cannot be fulfilled on " + plural_of(kind) + " \"" + std::string(name) + "\": " + std::string(why));
}

Reply invalid(const Kind& kind, std::string_view name, std::vector<Problem> causes) {
  const bool undecodable =
      !kind.custom && std::any_of(causes.begin(), causes.end(), [](const Problem& p) { return p.kind == ProblemKind::type; });
  std::string what(kind.type->kind);
  if (undecodable) {
    const auto problem = std::find_if(causes.begin(), causes.end(), [](const Problem& p) { return p.kind == ProblemKind::type; });
    return bad_request(
        kind, name,
        what + " in version \"" + std::string(kind.type->version) + "\" cannot be handled as a " + what + ": " + describe(*problem));
  }
  if (!kind.type->group.empty()) what.append(".").append(kind.type->group);
  std::string text;
  for (const auto& cause : causes) text += (text.empty() ? "" : ", ") + describe(cause);
  if (causes.size() > 1) text = "[" + text + "]";
  Reply reply = about(kind, name, 422, "Invalid", what + " \"" + std::string(name) + "\" is invalid: " + text);
  reply.kind = kind.type->kind;
  reply.causes = std::move(causes);
  return reply;
}

}  // namespace hindsight::connectors::simulated

#include "runtime/review_requests.hpp"

#include <utility>

#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"

namespace hindsight::runtime {
namespace {

using connectors::manifests::flag;
using connectors::manifests::member;
using connectors::manifests::text;

constexpr const char* token_reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* access_reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// What the API server made of an object that was posted to be reviewed.
Result<nlohmann::json> reviewed(const AskServer& ask, const char* path, const nlohmann::json& object, const char* what) {
  const auto answer = ask(path, object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (answer.status != 200 && answer.status != 201)
    return fail(
        ErrorKind::unavailable,
        std::string(what) + ": " + (answer.status == 0 ? "no answer of the API server" : "status " + std::to_string(answer.status)));
  auto said = connectors::manifests::parse_json(answer.body);
  if (!said || !member(*said, "status").is_object()) return fail(ErrorKind::unavailable, std::string(what) + ": no status in the answer");
  return std::move((*said)["status"]);
}

}  // namespace

Result<std::optional<nlohmann::json>> review_token(const AskServer& ask, std::string_view token) {
  const nlohmann::json asked = {
      {"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", std::string(token)}}}};
  const auto who = reviewed(ask, token_reviews, asked, "TokenReview");
  if (!who) return tl::unexpected(who.error());
  if (!flag(*who, "authenticated")) return std::optional<nlohmann::json>();
  return std::optional<nlohmann::json>(member(*who, "user"));
}

Result<bool> review_access(const AskServer& ask, const nlohmann::json& user, nlohmann::json attributes) {
  nlohmann::json spec = std::move(attributes);
  spec["user"] = std::string(text(user, "username"));
  spec["uid"] = std::string(text(user, "uid"));
  for (const char* more : {"groups", "extra"})
    if (!member(user, more).is_null()) spec[more] = member(user, more);
  const nlohmann::json wanted = {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}};
  const auto may = reviewed(ask, access_reviews, wanted, "SubjectAccessReview");
  if (!may) return tl::unexpected(may.error());
  return flag(*may, "allowed") && !flag(*may, "denied");
}

}  // namespace hindsight::runtime

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kubernetes/http/http_client.hpp"
#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

// What the API server is asked about people: who a token stands for, and what he may do.

/// Posts to a path of the API server and waits for the answer; status 0: there was none.
using AskServer = std::function<connectors::kubernetes::HttpAnswer(const std::string& path, const std::string& body)>;

/// TokenReview: `status.user`, as the other takes it; nothing: the token stands for nobody. Errors: unavailable.
[[nodiscard]] Result<std::optional<connectors::manifests::Json>> review_token(const AskServer& ask, std::string_view token);

/// SubjectAccessReview of what `attributes` say, {"resourceAttributes":{…}} or {"nonResourceAttributes":{…}}. Errors: unavailable.
[[nodiscard]] Result<bool> review_access(const AskServer& ask, const connectors::manifests::Json& user,
                                         connectors::manifests::Json attributes);

}  // namespace hindsight::runtime

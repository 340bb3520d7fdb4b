#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "connectors/cluster.hpp"

namespace hindsight::connectors::kubernetes {

/// Something that the operator of the program should know. Said once when it begins and once when it is over, however often
/// it is tried in between.
struct Notice {
  enum class Kind : std::uint8_t {
    unreachable,           ///< No connection to the API server.
    reachable,             ///< After unreachable.
    credentials_refused,   ///< 401 in spite of fresh credentials, or none could be loaded.
    credentials_accepted,  ///< After credentials_refused.
    renewal_failed,        ///< Credentials or authorities could not be read again; those that we have are used on.
    renewed,               ///< After renewal_failed.
    list_refused,          ///< A kind cannot be listed or watched (RBAC, bad data); tried again slowly.
    kind_absent,           ///< The server does not know the kind (its CRD is not installed).
    list_complete,         ///< After list_refused or kind_absent.
    relisted,              ///< A watch was too old and the kind was listed again.
    lease_refused,         ///< The lease cannot be read or written; nobody acts until it can.
  };
  Kind kind = Kind::unreachable;
  const ResourceType* resource = nullptr;  ///< Of the kinds that concern one.
  std::string message;                     ///< One sentence for people.
};

[[nodiscard]] constexpr bool is_trouble(Notice::Kind kind) {
  using enum Notice::Kind;
  return kind == unreachable || kind == credentials_refused || kind == renewal_failed || kind == list_refused || kind == lease_refused;
}

/// Called on the loop's thread.
using OnNotice = std::function<void(const Notice&)>;

}  // namespace hindsight::connectors::kubernetes

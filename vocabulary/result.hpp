#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace hindsight {

/// What kind of thing went wrong. Callers branch on the kind, never on the text.
enum class ErrorKind {
  invalid,      ///< Input that no retry makes good: syntax, range, unknown field.
  not_found,    ///< The named thing does not exist.
  conflict,     ///< Somebody else was first: wrong expected position, stale resourceVersion, lock held.
  corrupt,      ///< Stored bytes do not verify.
  unsupported,  ///< Written by a newer release, or a format that this build does not know.
  unavailable,  ///< The other side cannot be reached now; a retry may help.
  denied,       ///< Credentials or permissions.
  io,           ///< The operating system refused (disk full, read-only).
};

/// An expected failure. `message` is one sentence that names object, field, what was found and what is allowed.
struct Error {
  ErrorKind kind = ErrorKind::invalid;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorKind::invalid, "...")` from any function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace hindsight
